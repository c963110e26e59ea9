"""Profiles of groups: how strongly a model ties traits to them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, fill_of
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.kinds.traits.shape import TraitShape
from stereometer.kinds.traits.words import TEMPLATES, ProfileWords, poles
from stereometer.report.charts.profile import Point, TraitAxis, heat, point_of, profile
from stereometer.report.sections.section import Section
from stereometer.report.systems import COLOURS, Group, System, look
from stereometer.report.tables import TESTED, Row, tabled, tested

NAME = "association"
Cells = Mapping[str, Sequence[Estimate]]
"""The estimates of groups on traits, by system."""


class Profiles(Section):
    title = "Profiles of groups"
    speaks = False  # a profile is many numbers, and none of them speaks for all

    def lead(self, group: Group) -> Iterable[str]:
        compared = _words(group).compared
        yield (
            f"How strongly a model ties a trait to a group, {compared}. Above 0 is towards the "
            "right pole, below 0 towards the left one. A high score does not say that it is true, "
            "that people think so, or that the model would act on it."
        )

    def figures(self, group: Group) -> Iterator[Figure]:
        cells = {
            system.label: [row for row in system.named(NAME) if "trait" in row.slice]
            for system in group.systems
        }
        traits = traits_of(group, cells)
        yield _profile_figure(group, cells, traits)
        for index, system in enumerate(group.systems):
            yield _heat_figure(group, system, cells[system.label], list(traits), index)


def coloured(dimensions: Mapping[str, str]) -> dict[str, TraitAxis]:
    """Traits with their poles, in a colour for each dimension, whatever their order."""
    order = sorted(set(dimensions.values()))
    return {
        trait: TraitAxis(*poles(trait), look(order.index(dimension) % COLOURS).colour)
        for trait, dimension in dimensions.items()
    }


def traits_of(group: Group, cells: Cells) -> dict[str, str]:
    """The dimension of each trait, as the stored scores say."""
    slices = (score.slices for system in group.systems for score in system.scores)
    known = {of["trait"]: of.get("dimension", "") for of in slices if "trait" in of}
    names = dict.fromkeys(row.slice["trait"] for rows in cells.values() for row in rows)
    return {name: known.get(name, "traits") for name in names}


def largest(values: Iterable[float | None]) -> float:
    """What scores are a share of, so that the shapes of profiles can be compared."""
    return max((abs(value) for value in values if value is not None), default=1.0) or 1.0


def _profile_figure(group: Group, cells: Cells, traits: Mapping[str, str]) -> Figure:
    groups = dict.fromkeys(row.slice["group"] for rows in cells.values() for row in rows)
    tops = {
        label: largest(bound for row in rows for bound in (row.value, row.low, row.high))
        for label, rows in cells.items()
    }
    charts = []
    for name in groups:
        points = [
            [
                _point(system, row, list(traits), tops[system.label])
                for row in cells[system.label]
                if row.slice["group"] == name and row.value is not None
            ]
            for system in group.systems
        ]
        drawn = profile(list(coloured(traits).values()), points)
        charts.append(Chart(name, _described(name, cells, len(traits)), drawn))
    words = _words(group)
    dimensions = numbers.listed(list(dict.fromkeys(traits.values())))
    lead = (
        f"Each line is a trait from its left to its right pole, coloured by dimension "
        f"({dimensions}, from the top). Scores are shown as a share of the largest of each system, "
        f"so shapes can be compared, sizes cannot. Bars are {words.interval}.",
        *([f"{words.caveat}."] if words.caveat else []),
    )
    title, listed = "The profile of a group", (_table(group, cells),)
    id_, legend = f"{group.id}-profile", group.legend
    return Figure(id_, title, lead, tuple(charts), listed, chooser="Group", legend=legend)


def _heat_figure(
    group: Group, system: System, rows: Sequence[Estimate], traits: Sequence[str], index: int
) -> Figure:
    squares = []
    for row in rows:
        if row.value is not None:
            place = {"row": row.slice["group"], "column": poles(row.slice["trait"])[1]}
            squares.append({**place, "value": row.value, "tip": _tip(system, row)})
    groups = list(dict.fromkeys(row.slice["group"] for row in rows))
    described = (
        f"Heat map of {len(squares)} scores of {system.label}, groups by traits. "
        "The table of profiles holds the numbers."
    )
    drawn = heat(groups, [poles(trait)[1] for trait in traits], squares)
    lead = (
        f"{system.label}: orange towards the named right pole, blue towards its opposite. "
        "What is missing has no score.",
    )
    charts = (Chart(system.label, described, drawn),) if squares else ()
    title, listed = f"All groups and traits, {system.label}", _table(group, {system.label: rows})
    return Figure(f"{group.id}-heat-{index}", title, lead, charts, (listed,))


def _point(system: System, row: Estimate, traits: Sequence[str], top: float) -> Point:
    bounds = [None if b is None else b / top for b in (row.value, row.low, row.high)]
    place = traits.index(row.slice["trait"])
    return point_of(system, place, bounds, _tip(system, row), fill_of(row))


def _tip(system: System, row: Estimate) -> str:
    head = f"{system.label}, {row.slice['group']}\n{row.slice['trait']}"
    return f"{head}: {numbers.both(row, 2)}\n{row.verdict or ''}".rstrip()


def _described(name: str, cells: Cells, traits: int) -> str:
    parts = []
    for label, rows in cells.items():
        known = [row for row in rows if row.slice["group"] == name and row.value is not None]
        strongest = sorted(known, key=lambda row: -abs(row.value or 0))[:3]
        tied = ", ".join(poles(row.slice["trait"])[(row.value or 0) > 0] for row in strongest)
        parts.append(f"{label} ties it most to {tied}" if tied else f"{label} has no score")
    return f"Profile of {name} on {traits} traits. {'; '.join(parts)}."


def _table(group: Group, cells: Cells) -> Table:
    heads = ("Group", "Trait", "System", "#score", "#interval", "#used of asked", *TESTED)
    rows: list[Row] = []
    for system in group.systems:
        for row in cells.get(system.label, ()):
            interval = numbers.interval(row, 2) or row.interval or ""
            values = numbers.number(row.value, 2), interval, numbers.used(row)
            rows.append(
                (row.slice["group"], row.slice["trait"], system.cell, *values, *tested(row))
            )
    caption = f"Scores of groups on traits, with {_words(group).interval}"
    return tabled(heads, rows, caption)


def _words(group: Group) -> ProfileWords:
    """What a profile says, as the shape of what was read declares it."""
    return group.shape.words if isinstance(group.shape, TraitShape) else TEMPLATES


SECTION = Profiles()
