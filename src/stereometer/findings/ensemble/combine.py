"""Stored runs combined into one more run: what `stereometer ensemble` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from stereometer.api import SUMMARIES, Finished, settings_for
from stereometer.errors import UsageError
from stereometer.findings.ensemble import rules as ensemble
from stereometer.findings.ensemble.rules import (
    PAIRS,
    Combine,
    Combined,
    Fitted,
    Weights,
    weights_for,
)
from stereometer.measures import forced_choice
from stereometer.runs import store as runs
from stereometer.runs.runner import Tally, stored, versions
from stereometer.types import Estimate, ModelCard, Result, Score, Settings, digest_of

FOLDS = 5
PAPER_MEASURES = ("cat-likelihood", "cat-replay")
"""What the authors' rule was made for."""
CHOICES = (forced_choice.CAT.name, forced_choice.PAIR.name)
"""Measures whose numbers are counts of answers."""
CANDIDATES = ({"stereotype", "anti-stereotype"}, {"sent_more", "sent_less"})
"""What a CAT and a pair have scores of."""


@dataclass(frozen=True)
class Members:
    """Runs measured alike, with their scores."""

    results: Sequence[Result]
    names: Sequence[str]
    scores: Sequence[Mapping[str, Score]]

    @property
    def first(self) -> Result:
        return self.results[0]

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(ensemble.task_of(score) for score in self.scores[0].values()))


def load_members(paths: Sequence[Path]) -> Members:
    if len(paths) < 2:
        raise UsageError(
            "An ensemble needs at least two runs. It combines their stored scores. Name their folders."
        )
    results = runs.load_alike(paths)
    _refuse_choices(results[0])
    scores = [{score.item: score for score in runs.load_scores(path)} for path in paths]
    names = runs.labels(results)
    for name, found in zip(names, scores, strict=True):
        if found.keys() != scores[0].keys():
            raise UsageError(
                f"{names[0]} and {name} were not scored on the same items. One of the runs is damaged. Run it again."
            )
        if any(one.skipped is None and not _scores_candidates(one) for one in found.values()):
            raise UsageError(
                f"{name} was measured with {results[0].measure}, which scores neither CATs nor pairs. An ensemble weighs scores of candidates. Name runs on CATs or pairs."
            )
        lacking = [
            one
            for one in found.values()
            if one.skipped is None and "task" in one.slices and "unrelated" not in one.values
        ]
        if lacking:
            raise UsageError(
                f"{name} has no scores of unrelated candidates. An ensemble weighs what tells sense from nonsense. Leave it out."
            )
    return Members(results, names, scores)


def _refuse_choices(result: Result) -> None:
    if result.measure.split("@")[0] in CHOICES:
        raise UsageError(
            f"{result.model} was measured with {result.measure}. It counts answers, and an ensemble adds up scores. Name runs of a likelihood measure."
        )


def _scores_candidates(score: Score) -> bool:
    return any(wanted <= score.values.keys() for wanted in CANDIDATES)


def combine(
    *paths: str | Path,
    variant: str | None = None,
    name: str = "ensemble",
    weights: Sequence[str] = (),
    folds: int = FOLDS,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
) -> Finished:
    """An ensemble of stored runs, as a run of its own."""
    members = load_members(runs.folders_of(paths))
    settings = settings_for(_variant(members, variant), seed, resamples, coverage)
    if folds < 2:
        raise UsageError(
            f"{folds} fold is too few. A term must be scored with weights fitted on others. Choose 2 or more."
        )
    given = parse_weights(weights, members) if weights else None
    rule = (
        _paper(members, given)
        if settings.variant == "paper"
        else _linear(members, given, folds, seed)
    )
    card = _card(members, name, settings, folds, given)
    rows = ensemble.aligned(members.scores)
    if all(ensemble.missing(row, members.names) for row in rows):
        raise UsageError(
            "No item was answered by all members. There is nothing to combine. See why in their results."
        )
    made = ensemble.combined(rows, members.names, rule)
    summarize = SUMMARIES["cat" if PAIRS not in members.tasks else "pair"]
    result, folder = stored(
        _plan(members.first, card, settings),
        made.scores,
        lambda found: summarize(found, settings),
        lambda estimates: _result(members, card, settings, made, estimates),
        Path(out) if out is not None else None,
        Tally(items=len(made.scores)),
    )
    return Finished(result, folder)


def ensemble_of(*paths: str | Path, **options: Any) -> Result:
    """The result of `combine`."""
    return combine(*paths, **options).result


def _variant(members: Members, asked: str | None) -> str:
    ours = members.first.variant
    if asked not in (None, ours):
        settings_for(asked or ours)
        raise UsageError(
            f"The runs were measured under `{ours}`, the ensemble is asked for under `{asked}`. Their scores are on that variant's scale. Measure the members with --variant {asked}."
        )
    return ours


def _linear(members: Members, given: Weights | None, folds: int, seed: int) -> Combine:
    terms = {ensemble.term_of(score) for score in members.scores[0].values()}
    if given is None and PAIRS not in members.tasks and len(terms) < 2:
        raise UsageError(
            "The items are about a single target term. Weights are fitted on other terms than those scored. Name the weights with --weights."
        )
    return lambda rows: ensemble.linear(rows, folds, seed, given)


def _paper(members: Members, given: Weights | None) -> Combine:
    measure = members.first.measure.split("@")[0]
    if measure not in PAPER_MEASURES:
        raise UsageError(
            f"The authors' rule adds up probabilities, {measure} gives none. It is for {' and '.join(PAPER_MEASURES)}. Use runs of the variant sound."
        )
    weights = given if given is not None else _released(members)
    return lambda rows: ensemble.winners(rows, weights)


def _released(members: Members) -> Weights:
    found = []
    for result in members.results:
        known = weights_for(result.model, str(result.model_card.get("family", "")))
        if known is None:
            raise UsageError(
                f"The authors gave no weight for {result.model}. They combined BERT and GPT-2 models. Name the weights, such as --weights intrasentence=1,10000."
            )
        found.append(known)
    return {task: [one[task] for one in found] for task in members.tasks}


def parse_weights(texts: Sequence[str], members: Members) -> Weights:
    """`intrasentence=1,10000,10000` for each task, the numbers in the order of the runs."""
    found: dict[str, list[float]] = {}
    for text in texts:
        task, _, numbers = text.partition("=")
        values = [_number(one, text) for one in numbers.split(",")]
        if task not in members.tasks:
            raise UsageError(
                f"--weights '{text}' is for no task of these runs. Their tasks are {', '.join(members.tasks)}. Name one of them."
            )
        if len(values) != len(members.names) or not sum(values):
            raise UsageError(
                f"--weights '{text}' has {len(values)} numbers for {len(members.names)} runs, or all are 0. Every run has one, in their order. At least one is above 0."
            )
        if task in found:
            raise UsageError(
                f"--weights names {task} twice. It is not clear which numbers are meant. Give --weights once for each task."
            )
        found[task] = values
    absent = [task for task in members.tasks if task not in found]
    if absent:
        raise UsageError(
            f"--weights leaves out {', '.join(absent)}. Every task of the runs needs weights. Give --weights once for each."
        )
    return found


def _number(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise UsageError(
            f"--weights '{whole}' is not understood. It is a task, = and numbers from 0 up. For instance intrasentence=1,2."
        )
    return value


# ---------------------------------------------------------------------------------------- the result


def _card(
    members: Members, name: str, settings: Settings, folds: int, given: Weights | None
) -> ModelCard:
    """What decides the scores: the members' scores, the rule and its settings."""
    inputs = [
        sorted((item, dict(score.values)) for item, score in found.items())
        for found in members.scores
    ]
    paper = settings.variant == "paper"
    fitting = {} if paper or given is not None else {"folds": folds, "seed": settings.seed}
    rule = (
        "pairwise winners"
        if paper
        else "linear, weights given"
        if given is not None
        else "linear, cross-fitted by target term"
    )
    chosen = {"rule": rule, "members": list(members.names), **fitting}
    if given is not None:
        chosen["given"] = {task: list(numbers) for task, numbers in given.items()}
    return ModelCard(
        name,
        "ensemble",
        "ensemble@1",
        digest_of(inputs),
        settings=chosen,
        notes=(_note(members, chosen["rule"]),),
    )


def _note(members: Members, rule: object) -> str:
    equal = (
        " Pairs have no unrelated candidate to fit weights on: all members weigh the same."
        if PAIRS in members.tasks
        else ""
    )
    equal = "" if rule == "linear, weights given" else equal
    return f"Ensemble of {', '.join(members.names)}: {rule}.{equal}"


def _plan(first: Result, card: ModelCard, settings: Settings) -> dict[str, Any]:
    return {
        "benchmark": first.benchmark,
        "data": first.data["digest"],
        "measure": first.measure,
        "model": card.name,
        "identity": card.identity,
        "scoring": "combined",
        "limit": first.settings["limit"],
        **asdict(settings),
    }


def _result(
    members: Members,
    card: ModelCard,
    settings: Settings,
    made: Combined,
    estimates: Sequence[Estimate],
) -> Result:
    """As the members' results, with what was combined and how in the card."""
    first = members.first
    shared = [note for note in first.notes if all(note in other.notes for other in members.results)]
    told = asdict(card) | {"notes": list(card.notes)}
    told["settings"] = told["settings"] | {
        "weights": [_shown(one, members.names) for one in made.fitted]
    }
    return replace(
        first,
        model=card.name,
        scoring="combined",
        model_card=told,
        settings={key: value for key, value in asdict(settings).items() if key != "variant"}
        | {"limit": first.settings["limit"]},
        versions=versions(),
        notes=(*card.notes, *shared),
        estimates=tuple(estimates),
    )


def _shown(one: Fitted, names: Sequence[str]) -> dict[str, Any]:
    return {
        "task": one.task,
        "weights": dict(zip(names, one.weights, strict=True)),
        "terms": list(one.terms),
    }


def mean_weights(result: Result) -> dict[str, dict[str, float]]:
    """By task, each member's weight, averaged over the parts it was fitted for."""
    found: dict[str, list[Mapping[str, float]]] = {}
    for one in result.model_card["settings"]["weights"]:
        found.setdefault(one["task"], []).append(one["weights"])
    return {
        task: {name: sum(one[name] for one in many) / len(many) for name in many[0]}
        for task, many in found.items()
    }
