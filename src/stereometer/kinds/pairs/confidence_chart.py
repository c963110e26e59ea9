"""How sure a system is of pairs, by the sentence it prefers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stereometer.core.shapes.points import LOST, TIED, WON
from stereometer.core.show.figure import Spec
from stereometer.core.show.numbers import number
from stereometer.kinds.pairs.metrics import confidence
from stereometer.kinds.pairs.points import decision
from stereometer.report.charts import frame
from stereometer.report.systems import System

BINS = 40
HEIGHT = 250
MORE, LESS = "var(--more)", "var(--less)"


@dataclass(frozen=True)
class Confidences:
    """In percent, of the pairs that one sentence or the other wins; ties are in neither."""

    system: System
    more: tuple[float, ...]
    less: tuple[float, ...]

    @property
    def both(self) -> tuple[float, ...]:
        return self.more + self.less

    @cached_property
    def medians(self) -> dict[str, float]:
        sides = {"more": self.more, "less": self.less}
        return {side: float(np.median(values)) for side, values in sides.items() if values}


def confidences(system: System) -> Confidences:
    sides: dict[int, list[float]] = {LOST: [], TIED: [], WON: []}
    for score in system.scores:
        sure = confidence(score.values) if score.skipped is None else None
        if sure is not None:
            sides[decision(score.values, system.result.variant)].append(sure)
    return Confidences(system, tuple(sides[WON]), tuple(sides[LOST]))


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
    sides = [(side, len(row.both)) for row in shown if row.both for side in (row.more, row.less)]
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
    for sign, colour, values, side in ((1, MORE, row.more, "more"), (-1, LESS, row.less, "less")):
        for index, count in enumerate(counts(values, bins)):
            tip = (
                f"confidence {span(bins, index)} %\n{side} stereotyping sentence preferred: "
                f"{count} of {len(row.both)} pairs"
            )
            share = sign * 100 * count / len(row.both)
            place = {"low": bins[index], "high": bins[index + 1], "share": share}
            bars.append(place | {"colour": colour, "tip": tip})
    return bars


def _medians(row: Confidences, reach: float, x: Spec, y: Spec) -> list[Spec]:
    layers = []
    line = {"type": "rule", "color": frame.INK, "strokeWidth": 1.5, "strokeDash": [4, 2]}
    label = {"type": "text", "align": "left", "dx": 5, "dy": 0, "color": frame.MUTED}
    for sign, side in ((1, "more"), (-1, "less")):
        if side in row.medians:
            median, end = row.medians[side], sign * reach * 0.86
            place = {"low": median, "label": f"median {number(median, 2)} %"}
            start = place | {"share": 0, "end": end}
            layers.append(frame.layer([start], line, x=x, y=y, y2={"field": "end"}))
            layers.append(
                frame.layer([place | {"share": end}], label, x=x, y=y, text=frame.words())
            )
    return layers
