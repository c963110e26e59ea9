"""The verb `intersect`: groups where they meet (Cao et al. 2022, section 5.2), as a Result."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Unpack

from stereometer.core import catalog
from stereometer.core.files import read_text
from stereometer.core.options import (
    Coverage,
    Groups,
    Loading,
    OneModel,
    Out,
    Resamples,
    Seed,
    Templates,
    Traits,
    VariantName,
    check_known,
    listed,
    verb,
)
from stereometer.core.runs.engines import Engines
from stereometer.core.runs.execute import execute, execute_all
from stereometer.core.runs.job import versions
from stereometer.core.runs.measure import jobs_for
from stereometer.core.runs.models import opened
from stereometer.core.runs.open import check_model
from stereometer.core.runs.progress import Watch
from stereometer.core.runs.store import place_of
from stereometer.core.runs.stored import Run
from stereometer.core.stats.intervals import generator
from stereometer.core.types import Estimate, Job, Result, Score, Settings
from stereometer.kinds.traits.abc.items import Choice, crossed, grid
from stereometer.kinds.traits.intersect import questions
from stereometer.kinds.traits.intersect.crossing import (
    DIRECTIONS,
    Crossing,
    Emergent,
    crossing,
    emergent,
)

PAIR_TEMPLATES = ("singular", "plural")
"""Kinds of template that pairs of groups are measured with."""


@dataclass(frozen=True, repr=False)
class Intersected(Run):
    """Pairs of groups measured, and the three questions asked of them."""

    asked: Run
    """The run they were asked of."""

    @property
    def remarks(self) -> list[str]:
        return [f"Stored in {self.asked.folder} (scores) and {self.folder}"]


@verb
def intersect(
    model: OneModel,
    *,
    groups: Groups = (),
    traits: Traits = None,
    templates: Templates = PAIR_TEMPLATES,
    measure: Annotated[str | None, "A measure of abc; by default SeT."] = None,
    rules: Annotated[
        str | Path | None,
        "A table `one, other` of groups or domains that do not combine, besides those excluded "
        "by default.",
    ] = None,
    expected: Annotated[
        str | Path | None,
        "A table `group, adjective`, or `group, dimension, side`, of what is expected to emerge.",
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 2_000,
    variant: VariantName = "sound",
    coverage: Coverage = 0.90,
    out: Out = None,
    progress: Watch | bool = True,
    **options: Unpack[Loading],
) -> Intersected:
    """Measure all pairs of groups that make sense: which part dominates, and which traits
    emerge."""
    check_known(options, intersect)
    settings = Settings(variant, seed, resamples, coverage=coverage)
    named, forms, own_rules = listed(groups), listed(templates), Path(rules) if rules else None
    choice = Choice(named, Path(traits) if traits else None, forms, pairs=True, rules=own_rules)
    # A mistake in a table shows before a model is loaded.
    cells, wanted, text = grid(choice), None, None
    pairs = crossed(cells, own_rules)
    if expected:
        names, text = [pair.name for pair in pairs], read_text(Path(expected))
        wanted = questions.read_expected(Path(expected), names, cells.traits)
    measures = [measure] if measure else []
    for each in measures:
        catalog.find("method", each)
    if isinstance(model, str | Path):
        check_model(str(model))
    with Engines() as engines:
        asked = opened(model, seed, options, engines)
        jobs = jobs_for(["abc"], asked, measures, settings, choice=choice)
        (run,) = execute_all(jobs, out, watch=progress)
    table = crossing(run.read(), cells.groups, pairs, cells.traits)
    job = _job(run.result, _plan(run.result, table, text, settings), table, wanted, settings)
    found = execute(job, place_of(job, out))
    return Intersected(found.result, found.folder, run)


def _plan(
    result: Result, table: Crossing, expected: str | None, settings: Settings
) -> dict[str, Any]:
    return {
        "benchmark": result.benchmark,
        "data": result.data["digest"],
        "measure": str(result.measured_by.plus("intersection@1")),
        "variant": result.variant,
        "model": result.model,
        "digest": result.model_card["digest"],
        "expected": expected,
        "seed": settings.seed,
        "resamples": settings.resamples,
        "level": settings.level,
        "scores": table.digest,
    }


def _job(
    result: Result,
    plan: Mapping[str, Any],
    table: Crossing,
    expected: questions.ExpectedTraits | None,
    settings: Settings,
) -> Job:
    """The three questions, from the table of pairs."""
    lists = {
        direction: emergent(table, direction, settings, generator(settings.seed, {}, direction))
        for direction in DIRECTIONS
    }

    def summarize(scores: Iterable[Score]) -> list[Estimate]:
        """From the whole table of pairs, once the stream of listed traits is stored."""
        deque(scores, maxlen=0)
        return [
            *questions.order(table, settings),
            *questions.dominance(table, settings),
            *questions.emergence(table, lists),
            *(questions.agreement(expected, lists["above"], table, settings) if expected else ()),
        ]

    def describe(estimates: Sequence[Estimate]) -> Result:
        more = {name: plan[name] for name in ("seed", "resamples", "level")}
        return replace(
            result,
            measure=plan["measure"],
            settings={**result.settings, **more},
            versions=versions(),
            estimates=tuple(estimates),
            kind="intersection",
        )

    return Job(plan, "intersection", lambda: _listed(table, lists), summarize, describe)


def _listed(table: Crossing, lists: Mapping[str, Sequence[Emergent]]) -> Iterator[Score]:
    """The listed traits with the scores behind them, as the table of emergent traits shows."""
    for direction in lists.values():
        for cell in direction[: questions.LISTED]:
            places, known = questions.place(table, cell), asdict(cell)
            derived = {name: known[name] for name in ("increase", "part", "p", "q")}
            slices = places | table.traits[cell.trait].slices
            yield Score(
                "/".join(places.values()), slices, {"effect": cell.centred}, derived=derived
            )
