"""A stored run, and what loads the runs that a path or the value of a verb stands for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.runs import store
from stereometer.core.shapes.shape import Shape
from stereometer.core.types import Estimate, Result, Score, Settings
from stereometer.core.types.results import STORED, Outcomes
from stereometer.core.types.shown import Shown


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """A result, the folder that keeps it, and the scores that it was counted from."""

    result: Result
    folder: Path
    gate: Outcomes | None = field(default=None, kw_only=True)
    """How it stands to the bars that were asked for."""

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """Read once, and kept as long as the run is; raises where they are not those counted."""
        return tuple(self.read())

    def read(self) -> Iterator[Score]:
        """The scores one by one, none of them kept: many runs may be gone through like that."""
        return store.read_scores(self.folder, self.result)

    @property
    def has_scores(self) -> bool:
        """False where only the result.json is there."""
        return (self.folder / store.SCORES).exists()

    @property
    def shape(self) -> Shape:
        return catalog.shape(self.result.kind)

    @property
    def ties(self) -> float:
        """The share of them that leaves a score open."""
        return settings_of(self.result).ties

    def settings(self, settings: Settings) -> Settings:
        """Under the run's own variant and coverage floor."""
        coverage = float(self.result.settings["coverage"])
        return replace(settings, variant=self.result.variant, coverage=coverage)

    def check(self) -> None:
        """Raises where bars are missed or undecided."""
        if self.gate is not None:
            self.gate.check(STORED)

    @property
    def remarks(self) -> list[str]:
        return [f"Stored in {self.folder}"]

    def view(self, slices: bool = False) -> Any:
        return self.result.view(slices)

    def as_json(self) -> dict[str, Any]:
        return self.result.as_json()


@dataclass(frozen=True)
class Side:
    """A run under the name that it is shown by, on all or some of its items."""

    label: str
    run: Run
    items: Collection[str] | None = None
    """Those of its items that count; None for all."""

    @property
    def result(self) -> Result:
        return self.run.result

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        every = self.run.scores
        if self.items is None:
            return every
        return tuple(score for score in every if score.item in self.items)

    def on(self, items: Collection[str]) -> Side:
        """The run on some of its items."""
        return replace(self, items={each.item for each in self.scores} & set(items))


Stored: TypeAlias = str | Path | Result | Run | list[Result]
"""A run as a caller of the Python verbs names it: by its folder, or as what a verb returned."""


def run_of(stored: Stored) -> Run:
    """The one run that is meant; its scores are held against its result when they are read."""
    (path,) = folders_of([stored])
    folder = store.run_folder(path)
    return Run(store.load_result(folder), folder)


def runs_of(stored: Sequence[Stored]) -> list[Run]:
    """Runs, or those in folders of them, each once; scores that are there are those counted."""
    folders = (each.resolve() for path in folders_of(stored) for each in store.runs_in(path))
    runs = [Run(store.load_result(folder), folder) for folder in dict.fromkeys(folders)]
    check_counted(runs)
    return runs


def check_counted(runs: Sequence[Run]) -> None:
    """Raises where scores that are there are not those that a result was counted from."""
    for run in runs:
        if run.has_scores:
            store.check_scores(run.folder, run.result)


def folders_of(stored: Sequence[Stored]) -> list[Path]:
    """Where runs are stored."""
    folders = []
    for run in chain.from_iterable(each if isinstance(each, list) else [each] for each in stored):
        folder = run if isinstance(run, str | Path) else getattr(run, "folder", None)
        if folder is None:
            kind = "This Result" if isinstance(run, Result) else repr(run)[:40]
            raise UsageError(
                f"{kind} is not a stored run. Items' scores are read from its folder. Pass what "
                "`run` or `load` returned, or the folder of a run."
            )
        folders.append(Path(folder))
    return folders


def runs_alike(stored: Sequence[Stored]) -> list[Run]:
    """Single runs that may stand in one column; raises where they were not measured alike."""
    runs = [run_of(folder) for folder in folders_of(stored)]
    store.check_alike([run.result for run in runs])
    return runs


def alike_in(stored: Sequence[Stored]) -> tuple[Sequence[Sequence[Stored]], list[str]]:
    """Runs in groups that may be compared, and what is left out and why. Runs that are named one
    by one are one group: where they were not measured alike, that is an error."""
    folders = [folder for path in folders_of(stored) for folder in store.runs_in(path)]
    if len(stored) > 1 and len(folders) == len(stored):
        return [folders], []
    groups: dict[str, list[Result]] = {}
    for result in map(store.load_result, folders):
        groups.setdefault(str(store.conditions(result)), []).append(result)
    reasons = {key: store.why_alone(group) for key, group in groups.items()}
    left_out = [
        f"{result.model} on {result.benchmark} by {result.measure} is left out: {reasons[key]}."
        for key, group in groups.items()
        if reasons[key]
        for result in group
    ]
    return [group for key, group in groups.items() if not reasons[key]], left_out


WITHHELD = "Items are hidden, so rows of single terms are left out."


def shareable(run: Run) -> Run:
    """As it may be shown to others: the terms of hidden items name what is asked."""
    result = run.result
    if not result.data["hidden"]:
        return run
    told = (*result.notes, WITHHELD)
    return replace(run, result=replace(result, estimates=tuple(shown(result)), notes=told))


def shown(result: Result) -> Iterator[Estimate]:
    """The estimates of the first tables: not those of every single term."""
    shape = catalog.shape(result.kind)
    return (row for row in result.estimates if shape.headline_slice(row.slice))


def settings_of(result: Result) -> Settings:
    """What a result was counted with."""
    names = {field.name for field in fields(Settings)}
    stored = {name: value for name, value in result.settings.items() if name in names}
    return Settings(**{"variant": result.variant, **stored})
