"""A series of checkpoints or sizes: every headline metric over the steps, and whether it moves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stereometer.core.shapes.differences import Difference
from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, Chart, Figure, Spec
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report import tables
from stereometer.report.charts import frame
from stereometer.report.charts.forest import plain_axis
from stereometer.report.figures.differences import pairs_of
from stereometer.report.systems import Group, System
from stereometer.report.trend import FEWEST_STEPS, Trend, trends

FEWEST_DRAWN = 3
TITLE = "Over the steps of a series"
LEAD = (
    "Each mark is one model of the series, with its interval. The trend is tested over the order "
    "of the steps, item by item, so that what makes an item easy or hard cancels; target terms are "
    "the units where there are any. Checkpoints move all items at once, so the line through the "
    "means of the steps must be beyond noise too. icat is not a mean over items and is not tested."
)


def step_of(system: System) -> float:
    return float(system.result.settings["step"])


def curve(group: Group) -> Figure:
    """Empty where there are too few systems of one series."""
    figure = Figure(f"{group.id}-curve", TITLE)
    series = _series(group)
    if series is None:
        return figure
    scores = [system.scores for system in series.systems]
    known = trends(scores, series.shape, series.settings) if _has_scores(series) else []
    names = [name for name in series.headline if _valued(series, name) >= FEWEST_DRAWN]
    charts = tuple(_chart(series, name) for name in names)
    pattern = str(series.first.settings["series"])
    said = tuple(_summary(series, trend) for trend in known)
    if len(series.systems) < FEWEST_STEPS:
        said = (f"A trend is tested from {FEWEST_STEPS} steps on.",)
    lead = (f"The series is {pattern}, {len(series.systems)} models. {LEAD}", *said)
    shown = (*([_trend_table(series, known)] if known else []), *_comparison(series))
    return replace(figure, lead=lead, charts=charts, tables=shown, legend=FILLS)


def _series(group: Group) -> Group | None:
    """The systems of the first series, in the order of their steps."""
    of_series = [system for system in group.systems if system.result.settings.get("series")]
    if not of_series:
        return None
    pattern = of_series[0].result.settings["series"]
    ours = [system for system in of_series if system.result.settings["series"] == pattern]
    if len(ours) < FEWEST_DRAWN:
        return None
    return replace(group, systems=tuple(sorted(ours, key=step_of)))


def _valued(group: Group, name: str) -> int:
    return sum(row.value is not None for _, row in group.placed(name, [{}]))


def _has_scores(group: Group) -> bool:
    return all(system.run.has_scores for system in group.systems)


def _chart(group: Group, name: str) -> Chart:
    label, digits = group.shape.metric(name).label, group.digits(name)
    marks = [(step_of(system), system, row) for system, row in group.placed(name, [{}])]
    spoken = "; ".join(f"step {step:,g}: {numbers.spoken(row)}" for step, _, row in marks)
    return Chart(label, f"{label} over steps. {spoken}.", drawn(marks, label, digits))


def _summary(group: Group, trend: Trend) -> str:
    change = numbers.signed_interval(trend.change, trend.low, trend.high, group.digits(trend.name))
    label = group.shape.metric(trend.name).label
    return (
        f"{label}: {trend.verdict}, {change} points from the first to the last step "
        f"({numbers.p_value(trend.p_adjusted)}, {numbers.count(trend.n, group.shape.noun)})."
    )


def _trend_table(group: Group, known: Sequence[Trend]) -> Table:
    heads = ("Trend over steps", "#change", "#items", "#units", "what it says", "#p")
    rows: list[tables.Row] = [
        (
            group.shape.metric(trend.name).label,
            numbers.signed_interval(trend.change, trend.low, trend.high, group.digits(trend.name)),
            f"{trend.n:,}",
            f"{trend.units:,}",
            trend.verdict or "not tested: all units moved alike, or on a perfect line",
            numbers.p_value(trend.p_adjusted),
        )
        for trend in known
    ]
    foot = "From the first to the last step along the line that fits all; Holm over the metrics."
    return tables.tabled(heads, rows, "Trend, paired by item", foot)


def _comparison(group: Group) -> Iterator[Table]:
    """Each model against the first and against the last, overall."""
    if not _has_scores(group):
        return
    first, last = _against(group, 0), _against(group, -1)
    names = [name for name in group.headline if any(name in rows for rows in first.values())]
    heads = ["Step"]
    for name in names:
        label = group.shape.metric(name).label
        heads += [f"#{label}", f"#{label} - first", f"#{label} - last"]
    rows: list[tables.Row] = []
    for system in group.systems:
        cells = [f"{step_of(system):,g}"]
        for name in names:
            row = system.find(name, {})
            cells.append(numbers.both(row, group.digits(name)) if row is not None else "")
            changes = (against.get(system.label, {}).get(name) for against in (first, last))
            cells.extend(_change(group, change) for change in changes)
        rows.append(tuple(cells))
    foot = "Differences on the items that both answered; * is beyond noise after Holm over steps."
    yield tables.tabled(heads, rows, "Each against the first and the last", foot)


def _change(group: Group, row: Difference | None) -> str:
    if row is None:
        return ""
    star = " *" if row.beyond_noise else ""
    bounds = row.difference, row.low, row.high
    return numbers.signed_interval(*bounds, group.digits(row.name)) + star


def _against(group: Group, place: int) -> dict[str, dict[str, Difference]]:
    """By system and metric, each minus the one in this place."""
    base = group.systems[place]
    others = (system for system in group.systems if system is not base)
    return {
        pair.second: {row.name: row for row in pair.differences if not row.slice}
        for pair in pairs_of(replace(group, systems=(base, *others)), False)
    }


# ------------------------------------------------------------------------------------- the picture

HEIGHT = 220
MARGIN = 0.03
"""Room beside the first and the last step, as a share of the whole."""


def drawn(marks: Sequence[tuple[float, System, Estimate]], label: str, digits: int) -> Spec:
    """Marks are steps with what was measured at them; one without a value is left out."""
    known = [(step, system, row) for step, system, row in marks if row.value is not None]
    axis = plain_axis(label, [row for _, _, row in known])
    steps = [step for step, _, _ in known]
    room = MARGIN * (max(steps) - min(steps) or 1.0)
    across = {"title": "step", "grid": False, "format": "~s", "tickCount": 8}
    up = {"title": label, "grid": True, "tickCount": 5}
    x = frame.quantity("step", (min(steps) - room, max(steps) + room), across)
    y = frame.quantity("value", axis.domain, up)
    rows = [
        {
            "step": step,
            "value": row.value,
            **({"low": row.low, "high": row.high} if row.low is not None else {}),
            **frame.mark_of(system, row),
            "tip": frame.tip(system, row, f"step {step:,g}", digits),
        }
        for step, system, row in known
    ]
    spanned = [row for row in rows if "low" in row]
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    layers = [
        frame.layer([{"value": value} for value in axis.lines], frame.DASHED, y=y),
        frame.layer(rows, {"type": "line", "color": frame.MUTED, "strokeWidth": 1.5}, x=x, y=y),
        frame.layer(spanned, bar, x=x, **ends, color=frame.plain("colour"), tooltip=frame.TOOLTIP),
        *frame.points(rows, x, y),
    ]
    return frame.spec(layers, HEIGHT)
