"""How sure systems are of pairs, by which sentence they prefer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.core.show import numbers
from stereometer.core.show.figure import SQUARE, Chart, Figure, Key
from stereometer.core.show.table import Table
from stereometer.kinds.pairs import confidence_chart as chart
from stereometer.report import tables
from stereometer.report.systems import Group, System

NAME = "confidence_median_difference"
LEAD = (
    "How sure a system is of a pair: 1 − score(S) / score(S′) in percent, S the sentence it "
    "prefers. Upwards the pairs where it prefers the more stereotyping sentence, downwards the "
    "others; ties are left out, and the last bar holds all that is larger. Dashed lines are the "
    "medians: a system that is surer of stereotypes has its upper median further right."
)
LEGEND = tuple(
    Key(f"{side} stereotyping sentence preferred", f"var(--{side})", SQUARE, "filled")
    for side in ("more", "less")
)


def confidence(group: Group) -> Figure:
    shown = [row for row in map(chart.confidences, group.systems) if row.both]
    bins = chart.edges(shown)
    top = chart.highest(shown, bins)
    charts = tuple(
        Chart(row.system.label, _described(row), chart.histogram(row, bins, top)) for row in shown
    )
    lead = (LEAD, *_medians_differ(group), *_missing(group, shown))
    caption = "Difference of the median confidences, in points"
    listed = [tables.estimates(group, NAME, [{}], caption)]
    listed += [_bins(shown, bins)] if shown else []
    id_ = f"{group.id}-confidence"
    return Figure(id_, "Confidence", lead, charts, tuple(listed), legend=LEGEND)


def _medians_differ(group: Group) -> Iterator[str]:
    parts = [
        f"{system.label} {numbers.both(row, 2)}, {numbers.used(row)} pairs"
        for system, row in group.placed(NAME, [{}])
        if row.value is not None
    ]
    if parts:
        yield f"Difference of the medians in points, ideal 0: {'; '.join(parts)}."


def _missing(group: Group, shown: Sequence[chart.Confidences]) -> Iterator[str]:
    drawn = {row.system.label for row in shown}
    for system in group.systems:
        if system.label not in drawn:
            yield f"{system.label} is not in the picture: {_why(group, system)}."


def _why(group: Group, system: System) -> str:
    if not system.run.has_scores:
        return "there is no scores.jsonl beside its result"
    overall = system.find(group.main, {})
    tied = overall is not None and overall.n and overall.ties >= overall.n
    return "every pair is a tie" if tied else "its scores are not log-probabilities"


def _described(row: chart.Confidences) -> str:
    sides = {"more": row.more, "less": row.less}
    parts = [
        f"{len(sides[side]):,} pairs with the {side} stereotyping sentence preferred, "
        f"median {median:.2f} percent"
        for side, median in row.medians.items()
    ]
    return f"Histogram of confidence for {row.system.label}: {'; '.join(parts)}."


def _bins(shown: Sequence[chart.Confidences], bins: Sequence[float]) -> Table:
    sides = [(row, side) for row in shown for side in ("more", "less")]
    names = [f"{row.system.label}, {side}" if len(shown) > 1 else side for row, side in sides]
    heads = ["Confidence, %", *(f"#{name} stereotyping preferred" for name in names)]
    counted = [chart.counts(getattr(row, side), bins) for row, side in sides]
    rows = [
        (chart.span(bins, index), *(f"{side[index]:,}" for side in counted))
        for index in range(len(bins) - 1)
    ]
    medians = [numbers.number(row.medians.get(side), 2) for row, side in sides]
    return tables.tabled(heads, [*rows, ("median", *medians)], "Pairs by confidence")
