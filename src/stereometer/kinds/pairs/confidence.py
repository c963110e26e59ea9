"""How sure systems are of pairs, by which sentence they prefer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stereometer.core.shapes.points import LOST, TIED, WON
from stereometer.core.show import numbers
from stereometer.core.show.figure import SQUARE, Chart, Figure, Key, Spec
from stereometer.core.show.table import Table
from stereometer.kinds.pairs import metrics
from stereometer.report import tables
from stereometer.report.charts import frame
from stereometer.report.systems import Group, System

BINS = 40
HEIGHT = 250
DRAWN = (1, "var(--more)"), (-1, "var(--less)")
"""More upwards, less downwards."""
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
    shown = [row for row in map(confidences, group.systems) if row.both]
    bins = edges(shown)
    top = highest(shown, bins)
    charts = tuple(
        Chart(row.system.label, _described(row), histogram(row, bins, top)) for row in shown
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


def _missing(group: Group, shown: Sequence[Confidences]) -> Iterator[str]:
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


def _described(row: Confidences) -> str:
    parts = [
        f"{len(row.sides[side]):,} pairs with the {side} stereotyping sentence preferred, "
        f"median {median:.2f} percent"
        for side, median in row.medians.items()
    ]
    return f"Histogram of confidence for {row.system.label}: {'; '.join(parts)}."


def _bins(shown: Sequence[Confidences], bins: Sequence[float]) -> Table:
    sides = [(row, side) for row in shown for side in row.sides]
    names = [f"{row.system.label}, {side}" if len(shown) > 1 else side for row, side in sides]
    heads = ["Confidence, %", *(f"#{name} stereotyping preferred" for name in names)]
    counted = [counts(row.sides[side], bins) for row, side in sides]
    rows = [
        (span(bins, index), *(f"{side[index]:,}" for side in counted))
        for index in range(len(bins) - 1)
    ]
    medians = [numbers.number(row.medians.get(side), 2) for row, side in sides]
    return tables.tabled(heads, [*rows, ("median", *medians)], "Pairs by confidence")


# ----------------------------------------------------------------------------------------- charts


@dataclass(frozen=True)
class Confidences:
    """In percent, of the pairs that the `more` stereotyping sentence wins, and the `less`; ties are
    in neither."""

    system: System
    sides: Mapping[str, Sequence[float]]

    @property
    def both(self) -> list[float]:
        return [value for values in self.sides.values() for value in values]

    @cached_property
    def medians(self) -> dict[str, float]:
        return {side: float(np.median(values)) for side, values in self.sides.items() if values}


def confidences(system: System) -> Confidences:
    sides: dict[int, list[float]] = {WON: [], LOST: [], TIED: []}
    for score in system.scores:
        sure = metrics.confidence(score.values) if score.skipped is None else None
        if sure is not None:
            sides[metrics.decision(score.values, system.result.variant)].append(sure)
    return Confidences(system, {"more": sides[WON], "less": sides[LOST]})


def edges(shown: Sequence[Confidences]) -> list[float]:
    """Bins all charts of a section share; the last one takes the rare large values."""
    values = [value for row in shown for value in row.both]
    top = float(np.percentile(values, 97)) if values else 1.0
    width = next((step for step in (0.1, 0.25, 0.5, 1, 2, 2.5, 5) if step * BINS >= top), 5)
    return [width * index for index in range(int(np.ceil(max(top, width) / width)) + 1)]


def counts(values: Sequence[float], bins: Sequence[float]) -> list[int]:
    inside = np.clip(np.array(values, dtype=float), bins[0], bins[-1] - 1e-9)
    return [int(count) for count in np.histogram(inside, bins=bins)[0]]


def highest(shown: Sequence[Confidences], bins: Sequence[float]) -> float:
    """The largest share of a bin, in percent, over all charts of a section."""
    sides = [(side, len(row.both)) for row in shown if row.both for side in row.sides.values()]
    return 100 * max((max(counts(side, bins)) / total for side, total in sides), default=1.0)


def histogram(row: Confidences, bins: Sequence[float], top: float) -> Spec:
    """Pairs won for the more stereotyping sentence upwards, the others downwards, as shares."""
    reach = top * 1.25
    across = {"title": "confidence, %", "grid": False, "tickCount": 8}
    up = {"title": "share of pairs, %", "tickCount": 7, "labelExpr": "abs(datum.value)"}
    x, y = (
        frame.quantity("low", (bins[0], bins[-1]), across),
        frame.quantity("share", (-reach, reach), up),
    )
    bar = {"type": "bar", "stroke": frame.PAPER, "strokeWidth": 1}
    ends = {"x": x | {"bin": "binned"}, "x2": {"field": "high"}}
    layers = [
        frame.layer(
            _bars(row, bins), bar, **ends, y=y, color=frame.plain("colour"), tooltip=frame.TOOLTIP
        ),
        frame.layer([{"share": 0}], {"type": "rule", "color": frame.LINE}, y=y),
        *_medians(row, reach, x, y),
    ]
    return frame.spec(layers, HEIGHT)


def span(bins: Sequence[float], index: int) -> str:
    return (
        f"{bins[index]:g} to {bins[index + 1]:g}"
        if index + 2 < len(bins)
        else f"{bins[index]:g} and more"
    )


def _bars(row: Confidences, bins: Sequence[float]) -> list[frame.Row]:
    bars: list[frame.Row] = []
    total = len(row.both)
    for (side, values), (sign, colour) in zip(row.sides.items(), DRAWN, strict=True):
        for index, count in enumerate(counts(values, bins)):
            tip = (
                f"confidence {span(bins, index)} %\n{side} stereotyping sentence preferred: "
                f"{count} of {total} pairs"
            )
            place = {
                "low": bins[index],
                "high": bins[index + 1],
                "share": sign * 100 * count / total,
            }
            bars.append(place | {"colour": colour, "tip": tip})
    return bars


def _medians(row: Confidences, reach: float, x: Spec, y: Spec) -> list[Spec]:
    layers = []
    line = {"type": "rule", "color": frame.INK, "strokeWidth": 1.5, "strokeDash": [4, 2]}
    label = {"type": "text", "align": "left", "dx": 5, "dy": 0, "color": frame.MUTED}
    for side, (sign, _) in zip(row.sides, DRAWN, strict=True):
        if side in row.medians:
            median, end = row.medians[side], sign * reach * 0.86
            place = {"low": median, "label": f"median {numbers.number(median, 2)} %"}
            start = place | {"share": 0, "end": end}
            layers.append(frame.layer([start], line, x=x, y=y, y2={"field": "end"}))
            layers.append(
                frame.layer([place | {"share": end}], label, x=x, y=y, text=frame.words())
            )
    return layers
