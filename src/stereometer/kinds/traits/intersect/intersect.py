"""The verb `intersect`: groups where they meet (Cao et al. 2022, section 5.2), as a Result."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Unpack

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
from stereometer.core.runs.execute import execute, execute_all
from stereometer.core.runs.job import versions
from stereometer.core.runs.measure import jobs_for
from stereometer.core.runs.models import opened
from stereometer.core.runs.open import check_names
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


@dataclass(frozen=True)
class CrossingSettings:
    """What is crossed, and what it is compared with."""

    choice: Choice
    settings: Settings
    expected: Path | None = None


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
    named, forms = listed(groups), listed(templates)
    choice = Choice(named, _path(traits), forms, pairs=True, rules=_path(rules))
    wanted = CrossingSettings(choice, settings, _path(expected))
    check_tables(wanted)  # a mistake in a table shows before a model is loaded
    measures = [measure] if measure else []
    check_names((), measures)
    with opened(model, seed, options) as asked:
        jobs = jobs_for(["abc"], asked, measures, settings, choice=choice)
        (run,) = execute_all(jobs, out, watch=progress)
    found = intersect_run(run, wanted, _path(out))
    return Intersected(found.result, found.folder, run)


def _path(path: str | Path | None) -> Path | None:
    return Path(path) if path else None


def check_tables(wanted: CrossingSettings) -> None:
    """Raises for a mistake in any table."""
    cells = grid(wanted.choice)
    names = [pair.name for pair in crossed(cells, wanted.choice.rules)]
    if wanted.expected:
        questions.read_expected(wanted.expected, names, cells.traits)


def intersect_run(run: Run, wanted: CrossingSettings, out: Path | None = None) -> Run:
    """The three questions, from a run's stored scores."""
    result, cells, settings = run.result, grid(wanted.choice), wanted.settings
    pairs = crossed(cells, wanted.choice.rules)
    names = [pair.name for pair in pairs]
    expected = (
        questions.read_expected(wanted.expected, names, cells.traits) if wanted.expected else None
    )
    table = crossing(run.read(), cells.groups, pairs, cells.traits)
    plan = _plan(result, wanted) | {"scores": table.digest}
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

    job = Job(
        plan=plan,
        kind="intersection",
        source=lambda: _listed(table, lists),
        summarize=summarize,
        describe=lambda estimates: _result(result, plan, estimates),
    )
    return execute(job, place_of(job, out))


def _listed(table: Crossing, lists: Mapping[str, Sequence[Emergent]]) -> Iterator[Score]:
    """The listed traits with the scores behind them, as the table of emergent traits shows."""
    for direction in lists.values():
        for cell in direction[: questions.LISTED]:
            trait, slices = table.traits[cell.trait], questions.place(table, cell)
            yield Score(
                f"{slices['group']}/{slices['adjective']}/{cell.direction}",
                slices | {"trait": trait.name, "dimension": trait.dimension},
                {"effect": cell.centred},
                derived={"increase": cell.increase, "part": cell.part, "p": cell.p, "q": cell.q},
            )


def _plan(result: Result, wanted: CrossingSettings) -> dict[str, Any]:
    return {
        "benchmark": result.benchmark,
        "data": result.data["digest"],
        "measure": str(result.measured_by.plus("intersection@1")),
        "variant": result.variant,
        "model": result.model,
        "digest": result.model_card["digest"],
        "expected": read_text(wanted.expected) if wanted.expected else None,
        "seed": wanted.settings.seed,
        "resamples": wanted.settings.resamples,
        "level": wanted.settings.level,
    }


def _result(result: Result, plan: dict[str, Any], estimates: Sequence[Estimate]) -> Result:
    return replace(
        result,
        measure=plan["measure"],
        settings=dict(result.settings)
        | {name: plan[name] for name in ("seed", "resamples", "level")},
        versions=versions(),
        estimates=tuple(estimates),
        kind="intersection",
    )
