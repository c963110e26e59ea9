"""How sure a system is of the pairs it wins for the more stereotyping sentence, and of those it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stereometer.report.charts.frame import (
    INK,
    LINE,
    MUTED,
    PAPER,
    Row,
    Spec,
    layer,
    plain,
    quantity,
    spec,
)
from stereometer.report.numbers import number
from stereometer.report.sections import System
from stereometer.shapes.pair.metrics import confidence, decision

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
    sides: dict[float, list[float]] = {1.0: [], 0.0: [], 0.5: []}
    for score in system.run.scores or ():
        sure = confidence(score.values) if score.skipped is None else None
        if sure is not None:
            sides[decision(score.values, system.result.variant)].append(sure)
    return Confidences(system, tuple(sides[1.0]), tuple(sides[0.0]))


def edges(found: Sequence[Confidences]) -> list[float]:
    """Bins all charts of a section share; the last one takes the rare large values."""
    values = [value for one in found for value in one.both]
    top = float(np.percentile(values, 97)) if values else 1.0
    width = next((step for step in (0.1, 0.25, 0.5, 1, 2, 2.5, 5) if step * BINS >= top), 5)
    return [width * index for index in range(int(np.ceil(max(top, width) / width)) + 1)]


def counts(values: Sequence[float], bins: Sequence[float]) -> list[int]:
    inside = np.clip(np.array(values, dtype=float), bins[0], bins[-1] - 1e-9)
    return [int(count) for count in np.histogram(inside, bins=bins)[0]]


def highest(found: Sequence[Confidences], bins: Sequence[float]) -> float:
    """The largest share of a bin, in percent, over all charts of a section."""
    tops = [
        max(counts(side, bins)) / len(one.both)
        for one in found
        if one.both
        for side in (one.more, one.less)
    ]
    return 100 * max(tops, default=1.0)


def histogram(one: Confidences, bins: Sequence[float], top: float) -> Spec:
    """Pairs won for the more stereotyping sentence upwards, the others downwards, as shares of all."""
    x = quantity(
        "low", (bins[0], bins[-1]), {"title": "confidence, %", "grid": False, "tickCount": 8}
    )
    reach = top * 1.25
    y = quantity(
        "share",
        (-reach, reach),
        {"title": "share of pairs, %", "tickCount": 7, "labelExpr": "abs(datum.value)"},
    )
    bar = {"type": "bar", "stroke": PAPER, "strokeWidth": 1}
    layers = [
        layer(
            _bars(one, bins),
            bar,
            x=x | {"bin": "binned"},
            x2={"field": "high"},
            y=y,
            color=plain("colour"),
            tooltip=_words("tip"),
        ),
        layer([{"share": 0}], {"type": "rule", "color": LINE}, y=y),
        *_medians(one, reach, x, y),
    ]
    return spec(layers, HEIGHT)


def _words(field: str) -> Spec:
    return {"field": field, "type": "nominal"}


def span(bins: Sequence[float], index: int) -> str:
    return (
        f"{bins[index]:g} to {bins[index + 1]:g}"
        if index + 2 < len(bins)
        else f"{bins[index]:g} and more"
    )


def _bars(one: Confidences, bins: Sequence[float]) -> list[Row]:
    rows: list[Row] = []
    for sign, colour, values, side in ((1, MORE, one.more, "more"), (-1, LESS, one.less, "less")):
        for index, count in enumerate(counts(values, bins)):
            words = f"confidence {span(bins, index)} %\n{side} stereotyping sentence preferred: {count} of {len(one.both)} pairs"
            rows.append(
                {
                    "low": bins[index],
                    "high": bins[index + 1],
                    "share": sign * 100 * count / len(one.both),
                    "colour": colour,
                    "tip": words,
                }
            )
    return rows


def _medians(one: Confidences, reach: float, x: Spec, y: Spec) -> list[Spec]:
    layers = []
    for sign, side in ((1, "more"), (-1, "less")):
        if side in one.medians:
            median = one.medians[side]
            row = {
                "low": median,
                "share": 0,
                "end": sign * reach * 0.86,
                "label": f"median {number(median, 2)} %",
            }
            line = {"type": "rule", "color": INK, "strokeWidth": 1.5, "strokeDash": [4, 2]}
            words = {"type": "text", "align": "left", "dx": 5, "dy": 0, "color": MUTED}
            layers.append(layer([row], line, x=x, y=y, y2={"field": "end"}))
            layers.append(
                layer([row | {"share": row["end"]}], words, x=x, y=y, text=_words("label"))
            )
    return layers
