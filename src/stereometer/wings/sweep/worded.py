"""What the report shows of a question that was asked in several wordings."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Spec
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report.charts import frame
from stereometer.report.charts.forest import preference_axis
from stereometer.report.systems import System
from stereometer.report.tables import TESTED, Row, tabled, tested
from stereometer.wings.sweep import shape as sweep

ABOUT = (
    "Each line is one way of asking: small dots are its wordings, the mark is their mean with the "
    "interval over items and wordings, and the pale band is where one more wording may lie."
)
HEADED = sweep.ASKED[:2]
"""What stands over several lines."""
STEP, TOP = 22, 26
"""Pixels: of a line, and for the words over the first."""
BOLD = {"fontWeight": 600}
Places = Mapping[int, float]
"""Where the line of an estimate is drawn."""


def ways_chart(system: System, joint: Estimate) -> Chart:
    """Readings by way of asking and wording."""
    known = [row for row in sweep.within(system.result, joint, sweep.OVER) if row.value is not None]
    # In the order of the table, all of them together last.
    rows = sorted(known, key=lambda row: (row.slice == joint.slice, _head(row)))
    spoken = "; ".join(f"{_named(row)}: {numbers.spoken(row)}" for row in rows)
    described = f"Preference over wordings, {system.label}. {spoken}."
    return Chart(system.label, described, _spec(system, joint, rows))


def _head(row: Estimate) -> str:
    return sweep.way(row, HEADED)


def _named(row: Estimate) -> str:
    return sweep.way(row) or "all ways"


def _spec(system: System, joint: Estimate, rows: Sequence[Estimate]) -> Spec:
    bands = {id(row): sweep.beside(system.result, row, sweep.ANOTHER) for row in rows}
    (readings,) = (of for each, of in sweep.curves(system.result) if each.slice == joint.slice)
    scored = [row for row in readings if row.value is not None]
    axis = preference_axis("preference", [*rows, *scored, *filter(None, bands.values())])
    heads, labels, places, height = _placed(rows)
    scale = {"title": axis.title, "orient": "top", "tickCount": 6, "grid": True}
    x = frame.quantity("value", axis.domain, scale)
    y = frame.quantity("y", (0, height), None, reverse=True)
    label = {"type": "text", "align": "right", "dx": -9, "color": frame.INK}
    band = {"type": "rule", "strokeWidth": 11, "opacity": 0.15}
    dot = {"type": "point", "filled": True, "size": 16, "opacity": 0.8, "color": frame.MUTED}
    spans = [
        {"low": each.low, "high": each.high, "y": places[id(row)]}
        for row in rows
        if (each := bands[id(row)]) is not None
    ]
    ends = {"x": x | {"field": "low"}, "x2": {"field": "high"}}
    texts = {"y": y, "text": frame.words()}
    ends_of_scale = (
        ([{"value": value, "y": 8, "label": words}], {"align": align, "color": frame.MUTED})
        for value, words, align in axis.words
    )
    layers = [
        frame.layer([{"value": value} for value in axis.lines], frame.DASHED, x=x),
        *(frame.layer(row, {"type": "text", **look}, x=x, **texts) for row, look in ends_of_scale),
        frame.layer(heads, label | BOLD, x={"value": 0}, **texts),
        frame.layer(labels, label, x={"value": 0}, **texts),
        frame.layer(spans, band, **ends, y=y),
        *frame.marks_with_spans([_mark(system, row, places) for row in rows], x, y),
        frame.layer(_dots(rows, scored, joint, places), dot, x=x, y=y, tooltip=frame.TOOLTIP),
    ]
    return frame.spec(layers, height)


def _placed(rows: Sequence[Estimate]) -> tuple[list[frame.Row], list[frame.Row], Places, float]:
    """Headings and labels with their places, those of the lines, and the height of all. A line
    that needs no label beside its heading stands beside that."""
    heads: list[frame.Row] = []
    labels: list[frame.Row] = []
    places: dict[int, float] = {}
    top = TOP + STEP / 2
    for head, of in groupby(rows, _head):
        heads.append({"y": top, "label": head or "all ways"})
        rests = [(row, sweep.way(row, sweep.ASKED[2:])) for row in of]
        top += STEP if rests[0][1] else 0
        for row, rest in rests:
            places[id(row)] = top
            labels += [{"y": top, "label": rest}] if rest else []
            top += STEP
    return heads, labels, places, top


def _mark(system: System, row: Estimate, places: Places) -> frame.Row:
    spanned = {} if row.low is None else {"low": row.low, "high": row.high}
    place = {"y": places[id(row)], "value": row.value, **spanned}
    return {**place, **frame.mark_of(system, row), "tip": frame.tip(system, row, _named(row))}


def _dots(
    rows: Sequence[Estimate], scored: Sequence[Estimate], joint: Estimate, places: Places
) -> list[frame.Row]:
    """The wordings of each way of asking."""
    return [
        {
            "value": one.value,
            "y": places[id(row)],
            "tip": f"{one.slice['measure']}, {numbers.both(one)}",
        }
        for row in rows
        for one in scored
        if row.slice != joint.slice and row.slice.items() <= one.slice.items()
    ]


def ways_table(system: System, joint: Estimate) -> Table:
    """The numbers behind the chart."""
    cells: list[Row] = []
    for row in sweep.within(system.result, joint, sweep.OVER):
        spread = sweep.beside(system.result, row, sweep.SPREAD)
        another = sweep.beside(system.result, row, sweep.ANOTHER)
        apart = (numbers.both(spread), numbers.p_value(spread.p_adjusted)) if spread else ("", "")
        value = numbers.value(row), numbers.interval(row), *tested(row)
        more = numbers.interval(another) if another else ""
        cells.append((_named(row), numbers.used(row), *value, more, *apart))
    over = "Way of asking", "#wordings", "#over wordings", "#interval", *TESTED
    heads = (*over, "#one more wording", "#spread", "#p of the spread")
    foot = (
        "Over wordings: the mean, with an interval over items and wordings. The spread is the "
        "standard deviation between wordings beyond what the items make of it, in points."
    )
    return tabled(heads, cells, f"Ways of asking, {system.label}", foot)
