"""Stored runs into the tables of a board: what is ranked, with what, and how surely."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from stereometer.core.compare import Compared
from stereometer.core.runs.store import check_whole, folder_name
from stereometer.core.runs.stored import Run, shareable
from stereometer.core.shapes.differences import Difference
from stereometer.core.show import numbers
from stereometer.core.show.figure import Figure
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.types import Estimate, Result, Slice
from stereometer.core.types.document import Document
from stereometer.core.types.groups import lists_by_key
from stereometer.report.figures.differences import pairs_of
from stereometer.report.load import grouped
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System

REPORTED, REPRODUCED, HIDDEN = "reported", "reproduced", "hidden"
TIERS = {
    REPORTED: "The numbers follow from the scores, and the scores are of these items. Nobody but "
    "the submitter has seen the model answer.",
    REPRODUCED: "The host ran the named weights on items drawn after the submission, and got the "
    "submitted scores.",
    HIDDEN: "The host ran the model itself, on items that nobody has seen.",
}
"""What a host vouches for, the least first."""
MOST_TESTED = 100
"""Systems of a table that are tested with each other: 4,950 pairs."""
Tiers = Mapping[Path, str]
"""By a run's folder; a run that is not named is `reported`."""


@dataclass(frozen=True)
class RankedValue(Document):
    """One overall value of a system, and the ranks it may have."""

    estimate: Estimate
    best_rank: int | None
    worst_rank: int | None

    @property
    def words(self) -> str:
        if self.best_rank is None or self.worst_rank is None:
            return ""
        to = f" to {self.worst_rank}" if self.best_rank < self.worst_rank else ""
        return f"rank {self.best_rank}{to}"


@dataclass(frozen=True)
class BoardRow(Document):
    """A system in a table."""

    system: str
    model: str
    model_digest: str
    scoring: str
    tier: str
    page_file: str
    ranked: tuple[RankedValue, ...]


@dataclass(frozen=True)
class TestedPair(Document):
    """Two systems on the items that both answered, in one metric."""

    first: str
    second: str
    tested: Difference


@dataclass(frozen=True)
class BoardTable(Document):
    """Systems that were measured alike; no other number stands beside theirs."""

    id: str
    title: str
    benchmark: str
    data_digest: str
    items: int
    measure: str
    variant: str
    asked_as: str
    """`conversation` or `raw text`; empty where nothing was asked in words."""
    hidden: bool
    ordered_by: str
    """The metric whose rank ranges order the rows."""
    entries: tuple[BoardRow, ...]
    pairs: tuple[TestedPair, ...]


@dataclass(frozen=True)
class ShownTable:
    """A table with what its pages are drawn from, as the templates take it."""

    table: BoardTable
    section: Section
    group: Group

    @cached_property
    def columns(self) -> list[tuple[str, str, str]]:
        """Name, label and ideal of each metric."""
        shape = self.group.shape
        rows = [ranked.estimate for row in self.table.entries for ranked in row.ranked]
        ideals = {estimate.name: numbers.ideal(estimate) for estimate in rows}
        return [
            (name, shape.metric(name).label, ideals[name])
            for name in self.group.headline
            if name in ideals
        ]

    @cached_property
    def slices(self) -> list[Slice]:
        """The headline slices of all systems: gathered once, for every system has a page."""
        group, names = self.group, (name for name, _, _ in self.columns)
        slices = {tuple(row.items()): row for name in names for row in group.slices(name)}
        return list(slices.values())

    @cached_property
    def systems(self) -> dict[str, System]:
        return {system.label: system for system in self.group.systems}

    def cell(self, row: BoardRow, name: str) -> Cell:
        """A value with its interval, rank range, verdict and how many items it rests on."""
        ranked = next((each for each in row.ranked if each.estimate.name == name), None)
        if ranked is None:
            return number("not measured")
        estimate, digits = ranked.estimate, self.group.digits(name)
        used = f"{numbers.used(estimate)} items"
        if estimate.value is None:
            return number("no score", estimate.why or "", used)
        lines = (ranked.words, numbers.short(estimate), used)
        return number(numbers.both(estimate, digits), *filter(None, lines))

    @property
    def figures(self) -> list[Figure]:
        figures = self.section.at_a_glance(self.group.shown)
        return [replace(figure, tables=()) for figure in figures if figure.charts]

    @property
    def pairs(self) -> Table | None:
        """Every paired test behind the rank ranges."""
        if not self.table.pairs:
            return None
        columns = (text("Systems"), text("Metric"), number("difference"), number("p"), text(""))
        rows = tuple(
            (
                text(f"{pair.first} → {pair.second}"),
                text(self.group.shape.metric(row.name).label),
                number(numbers.signed_interval(row.difference, row.low, row.high)),
                number(numbers.p_value(row.p_adjusted)),
                text(_closer(pair.first, pair.second, row.closer)),
            )
            for pair in self.table.pairs
            for row in [pair.tested]
        )
        foot = (
            "Second minus first on the items that both answered. p is adjusted by Holm over all "
            "pairs of this table, for each metric."
        )
        return Table(columns, rows, "The paired tests behind the ranks", foot)


def _closer(first: str, second: str, closer: str) -> str:
    names = {"first": first, "second": second}
    return f"{names[closer]} is nearer to the ideal" if closer in names else "not beyond noise"


def kept_apart(result: Result) -> tuple[object, ...]:
    """What two results must share to stand in one table."""
    data = result.data["digest"], result.data.get("items")
    asked = result.measure, result.variant, result.asked_as
    return (result.kind, result.benchmark, *data, *asked)


def tables_of(runs: Sequence[Run], tiers: Tiers) -> list[ShownTable]:
    """The tables of runs, in the order given."""
    check_whole([run.result for run in runs])
    together = lists_by_key((kept_apart(run.result), shareable(run)) for run in runs)
    groups = [group for alike in together.values() for group in grouped(alike, {})]
    return [
        shown_table(section, replace(group, id=f"t{number}"), tiers)
        for number, (section, group) in enumerate(groups, 1)
    ]


def shown_table(section: Section, group: Group, tiers: Tiers, hidden: bool = False) -> ShownTable:
    first = group.first
    pairs = tested(group)
    ordered_by = group.shape.summary_metric or group.main
    ranges = {name: rank_ranges(pairs, name) for name in group.headline}
    order = ranges.get(ordered_by, {})
    systems = sorted(group.systems, key=lambda system: _place(system, order))
    table = BoardTable(
        id=group.id,
        title=group.title,
        benchmark=first.benchmark,
        data_digest=str(first.data["digest"]),
        items=int(first.data.get("items") or 0),
        measure=first.measure,
        variant=first.variant,
        asked_as=first.asked_as,
        hidden=hidden,
        ordered_by=ordered_by,
        entries=tuple(_row(system, group, ranges, tiers) for system in systems),
        pairs=tuple(
            TestedPair(pair.first, pair.second, row)
            for pair in pairs
            for row in pair.differences
            if not row.slice
        ),
    )
    return ShownTable(table, section, group)


def tested(group: Group) -> Sequence[Compared]:
    """All systems with each other, p adjusted over all; none where that cannot be or takes long."""
    return pairs_of(group, True, overall=True) if len(group.systems) <= MOST_TESTED else ()


@dataclass(frozen=True)
class RankRange:
    best: int
    worst: int


def rank_ranges(pairs: Iterable[Compared], metric: str) -> dict[str, RankRange]:
    """By system; one that was not compared in this metric has no range."""
    nearer: Counter[str] = Counter()
    farther: Counter[str] = Counter()
    systems: dict[str, None] = {}
    for pair in pairs:
        for row in pair.differences:
            if row.slice or row.name != metric or row.ideal is None:
                continue
            systems |= dict.fromkeys((pair.first, pair.second))
            if row.closer != "neither":
                first = row.closer == "first"
                farther[pair.first if first else pair.second] += 1
                nearer[pair.second if first else pair.first] += 1
    return {label: RankRange(1 + nearer[label], len(systems) - farther[label]) for label in systems}


def _place(system: System, order: Mapping[str, RankRange]) -> tuple[float, float, str]:
    """Within a range no order means anything: names decide."""
    known = order.get(system.label)
    return (known.best, known.worst, system.label) if known else (1e9, 1e9, system.label)


def _row(
    system: System, group: Group, ranges: Mapping[str, Mapping[str, RankRange]], tiers: Tiers
) -> BoardRow:
    result = system.result
    values = []
    for name in group.headline:
        if estimate := system.find(name, {}):
            known = None if estimate.value is None else ranges[name].get(system.label)
            best, worst = (known.best, known.worst) if known else (None, None)
            values.append(RankedValue(estimate, best, worst))
    return BoardRow(
        system=system.label,
        model=result.model,
        model_digest=str(result.model_card["digest"]),
        scoring=result.scoring,
        tier=tiers.get(system.run.folder, REPORTED),
        page_file=page_of(result),
        ranked=tuple(values),
    )


def page_of(result: Result) -> str:
    """One page a model: its name and the digest of its weights."""
    name = folder_name(result.model)[-60:].strip("._-") or "model"
    digest = folder_name(str(result.model_card["digest"]))[:12]
    return f"models/{name}-{digest}.html"
