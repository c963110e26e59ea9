"""Stored runs combined into one more run: what `stereometer ensemble` does."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from stereometer.core.errors import UsageError
from stereometer.core.gate.early_stop import holding
from stereometer.core.options import Coverage, Out, Require, Resamples, Seed, verb
from stereometer.core.results_view import results
from stereometer.core.runs import store
from stereometer.core.runs.execute import execute
from stereometer.core.runs.job import versions
from stereometer.core.runs.stored import Run, Stored, folders_of, runs_alike
from stereometer.core.shapes.shape import Contrast
from stereometer.core.show.view import View, line
from stereometer.core.types import Estimate, Job, ModelCard, Result, Score, Settings, digest_of
from stereometer.wings.relations.ensemble import rules
from stereometer.wings.relations.ensemble.rules import Combination, Combine, Weights, weights_for

PAPER_MEASURES = ("cat-likelihood", "cat-replay")
"""What the authors' rule was made for."""


@dataclass(frozen=True)
class Members:
    """Runs measured alike, with their scores."""

    results: Sequence[Result]
    names: Sequence[str]
    scores: Sequence[Mapping[str, Score]]
    shape: Contrast

    @property
    def first(self) -> Result:
        return self.results[0]

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(map(self.shape.task, self.scores[0].values())))


def load_members(stored: Sequence[Stored]) -> Members:
    if len(folders_of(stored)) < 2:
        raise UsageError(
            "An ensemble needs at least two runs. It combines their scores. Name their folders."
        )
    runs = runs_alike(stored)
    every = [run.result for run in runs]
    first, shape = every[0], runs[0].shape
    if not isinstance(shape, Contrast):
        raise UsageError(
            f"{first.model} was measured with {first.measure}, which scores neither CATs "
            "nor pairs. An ensemble weighs scores of candidates. Name runs on CATs or pairs."
        )
    scores = [{score.item: score for score in run.read()} for run in runs]
    names = store.labels(every)
    for name, member in zip(names, scores, strict=True):
        if member.keys() != scores[0].keys():
            raise UsageError(
                f"{names[0]} and {name} were not scored on the same items. "
                "One of the runs is damaged. Run it again."
            )
        _check_scores(name, first.measure, shape.candidates, list(member.values()))
    return Members(every, names, scores, shape)


def _check_scores(
    name: str, measure: str, candidates: Sequence[str], scores: Sequence[Score]
) -> None:
    """Raises for scores that cannot be added up: counts of answers, or candidates without any."""
    if any(score.answers for score in scores):
        raise UsageError(
            f"{name} was measured with {measure}. It counts answers, and an ensemble adds up "
            "scores. Name runs of a likelihood measure."
        )
    if any(not set(candidates) <= score.values.keys() for score in scores if not score.skipped):
        raise UsageError(
            f"{name} has no scores of unrelated candidates. Weights depend on how well a model "
            "tells sense from nonsense. Leave it out."
        )


@dataclass(frozen=True, repr=False)
class Ensemble(Run):
    def view(self, slices: bool = False) -> View:
        """The result, and the weights of its members."""
        weights = (
            line(f"weights, {task}: {', '.join(f'{name} {of:.4g}' for name, of in each.items())}")
            for task, each in mean_weights(self.result).items()
        )
        return View(parts=(results([self.result], slices), *weights))


@verb
def ensemble(
    *runs: Annotated[Stored, "Folders of runs on the same items, measured alike."],
    name: Annotated[str, "Name of the ensemble."] = "ensemble",
    weights: Annotated[
        Sequence[str],
        "Weights of a task in the order of the runs, such as 'intrasentence=1,2'; repeat for "
        "each task. By default fitted.",
    ] = (),
    folds: Annotated[
        int, "Parts of the target terms, each scored with weights fitted on the others."
    ] = 5,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    coverage: Coverage = 0.90,
    out: Out = None,
    require: Require = (),
) -> Ensemble:
    """Combine stored runs into a new one: linearly under `sound`, by the authors' pairwise winners
    where the runs are under `paper`."""
    bound = holding(require)
    members = load_members(runs)
    settings = Settings(members.first.variant, seed, resamples, coverage=coverage)
    if folds < 2:
        raise UsageError(
            f"--folds is {folds}. A term is scored with weights fitted on others. Choose 2 or more."
        )
    fixed = parse_weights(weights, members) if weights else None
    is_paper = settings.variant == "paper"
    rule = _paper(members, fixed) if is_paper else _linear(members, fixed, folds, seed)
    card = _card(members, name, settings, folds, fixed)
    rows = [tuple(member[item] for member in members.scores) for item in members.scores[0]]
    if all(rules.missing(row, members.names) for row in rows):
        raise UsageError(
            "No item was answered by all members. Nothing can be combined. See their results."
        )
    combined, shape, first = rules.combined(rows, members.names, rule), members.shape, members.first
    job = Job(
        plan={
            "benchmark": first.benchmark,
            "data": first.data["digest"],
            "measure": first.measure,
            "model": card.name,
            "identity": card.identity,
            "scoring": "combined",
            "limit": first.settings["limit"],
            **asdict(settings),
        },
        kind=shape.name,
        source=lambda: combined.scores,
        summarize=lambda scores: shape.summarize(scores, settings),
        describe=lambda estimates: _result(members, card, settings, combined, estimates),
        items=len(combined.scores),
    )
    done = execute(job, store.place_of(job, out))
    return Ensemble(done.result, done.folder, gate=bound.gate([done.result]))


def _linear(members: Members, fixed: Weights | None, folds: int, seed: int) -> Combine:
    shape = members.shape
    terms = set(map(shape.term, members.scores[0].values()))
    if fixed is None and shape.unrelated and len(terms) < 2:
        raise UsageError(
            "The items are about a single target term. Weights are fitted on other terms than "
            "those scored. Name the weights with --weights."
        )
    return lambda rows: rules.linear(shape, rows, folds, seed, fixed)


def _paper(members: Members, fixed: Weights | None) -> Combine:
    measure = members.first.measured_by.name
    if measure not in PAPER_MEASURES:
        raise UsageError(
            f"The authors' rule adds up probabilities, and {measure} gives none. It is for "
            f"{' and '.join(PAPER_MEASURES)}. Use runs of the variant sound."
        )
    weights = fixed if fixed is not None else _authors_weights(members)
    return lambda rows: rules.winners(members.shape, rows, weights)


def _authors_weights(members: Members) -> Weights:
    tables = []
    for result in members.results:
        known = weights_for(result.model, str(result.model_card.get("family", "")))
        if known is None:
            raise UsageError(
                f"The authors gave no weight for {result.model}. They combined BERT and GPT-2 "
                "models. Name the weights, such as --weights intrasentence=1,10000."
            )
        tables.append(known)
    return {task: [table[task] for table in tables] for task in members.tasks}


def parse_weights(texts: Sequence[str], members: Members) -> Weights:
    """`intrasentence=1,10000,10000` for each task, the numbers in the order of the runs."""
    pairs = [text.partition("=")[::2] for text in texts]
    try:
        weights = {task: [float(number) for number in words.split(",")] for task, words in pairs}
    except ValueError:
        weights = {}
    fitting = all(
        len(values) == len(members.names) and sum(values) and 0 <= min(values) <= max(values) < 1e12
        for values in weights.values()
    )
    if not fitting or sorted(task for task, _ in pairs) != sorted(members.tasks) or not weights:
        example = ",".join("1" for _ in members.names)
        raise UsageError(
            f"--weights {' '.join(texts)} does not fit these runs. Each of their tasks takes "
            f"{len(members.names)} numbers from 0 up, one above 0, in the order of the runs. Write "
            f"{' '.join(f'--weights {task}={example}' for task in members.tasks)}."
        )
    return weights


# --------------------------------------------------------------------------------------- the result


def _card(
    members: Members, name: str, settings: Settings, folds: int, fixed: Weights | None
) -> ModelCard:
    """What decides the scores: the members' scores, the rule and its settings."""
    inputs = [
        sorted((item, dict(score.values)) for item, score in scores.items())
        for scores in members.scores
    ]
    chosen: dict[str, Any] = {"members": list(members.names)}
    if settings.variant == "paper":
        rule = "pairwise winners"
    elif fixed is not None:
        rule = "linear, weights given"
    else:
        rule = "linear, cross-fitted by target term"
        chosen |= {"folds": folds, "seed": settings.seed}
    if fixed is not None:
        chosen["given"] = {task: list(numbers) for task, numbers in fixed.items()}
    note = f"Ensemble of {', '.join(members.names)}: {rule}."
    if members.shape.unrelated is None and (fixed is None or settings.variant == "paper"):
        note += " Pairs have no unrelated candidate to fit weights on: all members weigh the same."
    chosen = {"rule": rule, **chosen}
    about = (name, "ensemble", "ensemble@1", digest_of(inputs))
    return ModelCard(*about, settings=chosen, notes=(note,))


def _result(
    members: Members,
    card: ModelCard,
    settings: Settings,
    combined: Combination,
    estimates: Sequence[Estimate],
) -> Result:
    """As the members' results, with what was combined and how in the card."""
    first = members.first
    shared = [note for note in first.notes if all(note in other.notes for other in members.results)]
    weights = []
    for fitted in combined.fitted:
        by_name = dict(zip(members.names, fitted.weights, strict=True))
        weights.append({"task": fitted.task, "weights": by_name, "terms": list(fitted.terms)})
    shown = asdict(card)
    shown |= {"notes": list(card.notes), "settings": shown["settings"] | {"weights": weights}}
    kept = asdict(settings) | {"limit": first.settings["limit"]}
    del kept["variant"]
    return replace(
        first,
        model=card.name,
        scoring="combined",
        model_card=shown,
        settings=kept,
        versions=versions(),
        notes=(*card.notes, *shared),
        estimates=tuple(estimates),
    )


def mean_weights(result: Result) -> dict[str, dict[str, float]]:
    """By task, each member's weight, averaged over the parts it was fitted for."""
    parts: dict[str, list[Mapping[str, float]]] = {}
    for fitted in result.model_card["settings"]["weights"]:
        parts.setdefault(fitted["task"], []).append(fitted["weights"])
    return {
        task: {name: sum(part[name] for part in many) / len(many) for name in many[0]}
        for task, many in parts.items()
    }
