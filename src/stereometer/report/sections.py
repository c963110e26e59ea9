"""Runs as the report shows them: systems, gathered into sections whose numbers may stand in one column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from stereometer.errors import DataError
from stereometer.findings.relate import Facts
from stereometer.findings.shift import Audited, load_audit
from stereometer.report.looks import Look, look
from stereometer.runs.store import RESULT, SCORES, folders_of, load_result, load_scores, runs_in
from stereometer.types import Estimate, Result, Score, Slice, Variant

MAIN = {"ss": "cat", "pair_preference": "pair"}
"""The preference metric of each shape of item, both with the ideal 50."""


@dataclass(frozen=True)
class Run:
    """A stored run."""

    folder: Path
    result: Result
    scores: tuple[Score, ...] | None
    """None where only the result.json is there."""
    audit: Audited | None = None
    """What an audit of the items says of the run, where one was made."""

    @property
    def belongs(self) -> tuple[object, ...]:
        """Runs that agree in this may share a column: the same benchmark, measure, variant and items."""
        one = self.result
        return (
            one.benchmark,
            one.measure,
            one.variant,
            one.data.get("digest"),
            one.data.get("items"),
        )


@dataclass(frozen=True)
class System:
    """One run under the name and the mark it has all over the report."""

    label: str
    look: Look
    run: Run

    @property
    def result(self) -> Result:
        return self.run.result

    @cached_property
    def _placed(self) -> dict[tuple[str, frozenset[tuple[str, str]]], Estimate]:
        return {(one.name, frozenset(one.slice.items())): one for one in self.result.estimates}

    def find(self, name: str, slice_: Slice) -> Estimate | None:
        return self._placed.get((name, frozenset(slice_.items())))

    def named(self, name: str) -> list[Estimate]:
        return [one for one in self.result.estimates if one.name == name]


@dataclass(frozen=True)
class Section:
    """Systems measured in the same way on the same items."""

    number: int
    systems: tuple[System, ...]
    facts: Mapping[str, Facts] = field(default_factory=dict)
    """Sizes of systems whose cards do not say."""

    @property
    def id(self) -> str:
        return f"s{self.number}"

    @property
    def first(self) -> Result:
        return self.systems[0].result

    @property
    def main(self) -> str:
        """The name of the preference metric."""
        return next(one.name for one in self.first.estimates if one.name in MAIN)

    @property
    def shape(self) -> str:
        return MAIN[self.main]

    @property
    def variant(self) -> Variant:
        return self.first.variant

    @property
    def items(self) -> int:
        return int(self.first.data.get("items") or 0)

    @property
    def title(self) -> str:
        return str(self.first.data.get("title") or self.first.benchmark)

    def slices(self, name: str) -> list[Slice]:
        """The slices any system has an estimate of this name for, in the order of the results."""
        found = {
            tuple(one.slice.items()): one.slice
            for system in self.systems
            for one in system.named(name)
        }
        return list(found.values())


def sections(
    paths: Sequence[str | Path], facts: Mapping[str, Facts] | None = None
) -> list[Section]:
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in _runs(paths):
        groups.setdefault(run.belongs, []).append(run)
    labelled = [list(label_runs(group)) for group in groups.values()]
    order = list(dict.fromkeys(label for group in labelled for label, _ in group))
    return [
        Section(
            number,
            tuple(System(label, look(order.index(label)), run) for label, run in group),
            facts or {},
        )
        for number, group in enumerate(labelled, 1)
    ]


def _runs(paths: Sequence[str | Path]) -> Iterator[Run]:
    places = [
        found.parent if found.name == RESULT else found
        for path in folders_of(paths)
        for found in runs_in(path)
    ]
    for place in dict.fromkeys(place.resolve() for place in places):
        result = load_result(place)
        if not any(one.name in MAIN for one in result.estimates):
            raise DataError(
                f"{place} holds no {' and no '.join(MAIN)}. The report knows these two preferences. Leave {result.measure} out of it."
            )
        folder = place if place.is_dir() else place.parent
        yield Run(
            folder,
            result,
            tuple(load_scores(folder)) if (folder / SCORES).exists() else None,
            load_audit(folder, result),
        )


def label_runs(runs: Sequence[Run]) -> Iterator[tuple[str, Run]]:
    """The model's name; with the run's folder, and then a number, where that is not enough to tell two apart."""
    models = Counter(run.result.model for run in runs)
    seen: Counter[str] = Counter()
    for run in runs:
        name = run.result.model
        label = name if models[name] == 1 else f"{name} ({run.folder.name})"
        seen[label] += 1
        yield (label if seen[label] == 1 else f"{label} {seen[label]}"), run
