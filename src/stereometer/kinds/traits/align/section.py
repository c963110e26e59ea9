"""Agreement with people: a model's scores of groups beside their ratings."""

from collections.abc import Iterable, Iterator, Sequence

from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, fill_of, sure
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate, Score
from stereometer.kinds.traits.section import coloured, largest
from stereometer.report.charts.profile import PEOPLE, Point, point_of, profile, taus
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System
from stereometer.report.tables import TESTED, Row, printed_in, published, tabled, tested

ENDS = tuple(f"precision_at_3{part}" for part in ("", "_top", "_bottom", "_decided"))
BEST, HALVES = "best_possible_tau", "human_split_half_tau"
BY_GROUP = {
    "tau": "#tau",
    "precision_at_3_top": "#precision at 3, top",
    "precision_at_3_bottom": "#precision at 3, bottom",
    BEST: "#best possible tau",
}
"""As in the paper's Tables A11 to A13, and what people allow."""


class Agreement(Section):
    title = "Agreement with people"
    speaks = False  # a number in large print would read as a merit

    def lead(self, group: Group) -> Iterable[str]:
        yield (
            "A model's scores beside what people say that others think of these groups. tau is 1 "
            "where both put everything in the same order, 0 where they have nothing to do with "
            "each other. High agreement says that the model repeats stereotypes that people know: "
            "it is no merit."
        )

    def figures(self, group: Group) -> Iterator[Figure]:
        yield _tau_figure(group)
        if all(system.scores for system in group.systems):
            yield _side_by_side(group)


def _by_group(system: System) -> list[Estimate]:
    return [row for row in system.named("tau") if set(row.slice) == {"group"}]


def _tau_figure(group: Group) -> Figure:
    first = group.systems[0]
    ranked = sorted(_by_group(first), key=lambda row: 1.0 if row.value is None else -row.value)
    order = [row.slice["group"] for row in ranked]
    points = [
        [_tau_point(system, row, order) for row in _by_group(system) if row.value is not None]
        for system in group.systems
    ]
    bests = (row for row in first.named(BEST) if "group" in row.slice)
    people = [
        (order.index(row.slice["group"]), row.value) for row in bests if row.value is not None
    ]
    best = first.find(BEST, {})
    overall = best.value if best else None
    parts = [
        f"{system.label}: tau {numbers.both(row, 2)}, {row.verdict or row.why or row.interval}"
        for system, row in group.placed("tau", [{}])
    ]
    said = "; ".join(parts)
    lead = (
        f"Overall, {said}. {_ceilings(first)}The overall p is of the model's groups exchanged. "
        "Single groups are not tested: their traits are few and correlated. Their intervals "
        "are of other raters and these traits.",
    )
    described = (
        f"tau with people for {len(order)} groups, with intervals, beside the best possible. "
        f"{said}."
    )
    charts = (Chart("tau", described, taus(order, points, people, overall)),)
    title, listed = "Agreement by group", (_groups(group), _table(group))
    return Figure(f"{group.id}-tau", title, lead, charts, listed, legend=group.legend)


def _ceilings(system: System) -> str:
    """How far people allow a model to agree with them."""
    names = (HALVES, "human_panel_tau", BEST)
    rows = [row for name in names if (row := system.find(name, {})) and row.value is not None]
    if len(rows) < len(names):
        return ""
    halves, panel, best = (numbers.number(row.value, 2) for row in rows)
    return (
        f"Half of the raters agree with the other half at {halves}; another panel as large would "
        f"get {panel}, and what all people think on average {best} (dashed line; grey ticks for "
        "single groups). "
    )


def _tau_point(system: System, row: Estimate, order: Sequence[str]) -> Point:
    name = row.slice["group"]
    tip = f"{system.label}, {name}\ntau {numbers.both(row, 2)}\n{row.verdict or ''}"
    bounds = row.value, row.low, row.high
    return point_of(system, order.index(name), bounds, tip, fill_of(row))


def _groups(group: Group) -> Table:
    """A row per group: what the paper prints by group."""
    rows: list[Row] = []
    for system in group.systems:
        for tau in _by_group(system):
            shown = [system.find(name, tau.slice) for name in BY_GROUP]
            values = ("" if row is None else numbers.value(row, 2) for row in shown)
            rows.append((tau.slice["group"], system.cell, *values))
    return tabled(("Group", "System", *BY_GROUP.values()), rows, "Agreement of single groups")


def _table(group: Group) -> Table:
    values = ("#value", "#interval", "#ideal", "#halves of people", "#used of asked")
    kept = [
        row for system in group.systems for name in ("tau", *ENDS) for row in system.named(name)
    ]
    foot = printed_in(kept)
    printed = ["#published"] if foot else []
    rows: list[Row] = []
    for name in ("tau", *ENDS):
        for system in group.systems:
            for row in system.named(name):
                ideal = "" if row.ideal is None else numbers.number(row.ideal, 3)
                shown = numbers.number(row.value, 3), numbers.interval(row, 3), ideal
                counts = _halves(system, row), numbers.used(row)
                beside = [published(row, 3) for _ in printed]
                place = (name, named(row.slice), system.cell)
                rows.append((*place, *shown, *counts, *beside, *tested(row)))
    caption = "Agreement with people, overall, by group and by dimension"
    return tabled(("What", "Slice", "System", *values, *printed, *TESTED), rows, caption, foot)


def _halves(system: System, row: Estimate) -> str:
    """What halves of the raters get on the cells of a tau."""
    half = system.find(HALVES, row.slice) if row.name == "tau" else None
    return "" if half is None else f"{numbers.number(half.value, 3)} {numbers.interval(half, 3)}"


# ------------------------------------------------------------------------------- people and models


def _side_by_side(group: Group) -> Figure:
    """The paper's Figure 1: people and models on the same axes."""
    scores = {
        system.label: [score for score in system.scores if score.skipped is None]
        for system in group.systems
    }
    first = scores[group.systems[0].label]
    order = list(dict.fromkeys(score.slices["dimension"] for score in first))
    dimensions = {score.slices["trait"]: score.slices["dimension"] for score in first}
    traits = sorted(dimensions, key=lambda trait: order.index(dimensions[trait]))
    axes = list(coloured({trait: dimensions[trait] for trait in traits}).values())
    tops = {
        label: largest(score.values["model"] for score in rows) for label, rows in scores.items()
    }
    labels = numbers.listed([system.label for system in group.systems])
    charts = []
    for name in dict.fromkeys(score.slices["group"] for score in first):
        people = [_people(score, traits) for score in first if score.slices["group"] == name]
        models = [
            [
                _model(system, score, traits, tops[system.label])
                for score in scores[system.label]
                if score.slices["group"] == name and score.slices["trait"] in traits
            ]
            for system in group.systems
        ]
        described = (
            f"What people and {labels} say of {name} on {len(traits)} traits. "
            "The table of agreement holds tau."
        )
        charts.append(Chart(name, described, profile(axes, [people, *models])))
    lead = (
        "People's mean ratings (upright marks, 0 to 100, with intervals over raters) and the "
        "model's scores (as a share of its largest) on the same axes, from the left pole to the "
        "right one. People are beyond noise where their interval leaves out 50, a model where the "
        "test of its own profile finds something.",
    )
    title, listed = "People and models side by side", (_means(group, scores),)
    id_, legend = f"{group.id}-people", (PEOPLE, *group.legend)
    return Figure(id_, title, lead, tuple(charts), listed, chooser="Group", legend=legend)


def _means(group: Group, scores: dict[str, list[Score]]) -> Table:
    heads = ("Group", "Trait", "#people, 0 to 100", "#interval", "System", "#score")
    rows: list[Row] = []
    for system in group.systems:
        for score in scores[system.label]:
            mean, model = numbers.number(score.values["people"]), score.values["model"]
            span = numbers.span(score.derived["low"], score.derived["high"])
            cell = score.slices["group"], score.slices["trait"]
            rows.append((*cell, mean, span, system.cell, numbers.number(model, 3)))
    return tabled(heads, rows, "People's means and models' scores")


def _people(score: Score, traits: Sequence[str]) -> Point:
    mean, low, high = ((score.derived[name] - 50) / 50 for name in ("people", "low", "high"))
    span = numbers.span(score.derived["low"], score.derived["high"])
    trait, rating = score.slices["trait"], numbers.number(score.derived["people"])
    tip = f"people, {score.slices['group']}\n{trait}: {rating} of 100 {span}"
    clipped = max(-1.05, low), min(1.05, high)
    return Point(traits.index(trait), mean, *clipped, tip, PEOPLE, sure(not low <= 0 <= high))


def _model(system: System, score: Score, traits: Sequence[str], top: float) -> Point:
    trait, value = score.slices["trait"], score.values["model"]
    tip = f"{system.label}, {score.slices['group']}\n{trait}: {numbers.number(value, 3)}"
    fill = sure(bool(score.derived.get("beyond_noise")))
    return point_of(system, traits.index(trait), (value / top, None, None), tip, fill)


SECTION = Agreement()
