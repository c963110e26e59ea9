"""Counting and pairing that need to know nothing of a shape: means of points over items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stereometer.shapes.differences import Difference, Withheld, asked_or_withheld
from stereometer.shapes.points import Coverage
from stereometer.stats.intervals import Floats, generator, percentile, resampled_clusters
from stereometer.stats.means import StudentMean
from stereometer.types import Estimate, Score, Settings, Slice

if TYPE_CHECKING:
    from stereometer.shapes.shape import Shape

MOST_SLICES = 60
"""Values of one kind of slice beyond which it names items rather than groups of them."""


def slices(every: Sequence[Slice]) -> list[Slice]:
    """Overall, then every value of every key that groups items."""
    values: dict[str, dict[str, None]] = {}
    for item in every:
        for name, value in item.items():
            values.setdefault(name, {})[value] = None
    grouping = {name: known for name, known in values.items() if 1 < len(known) <= MOST_SLICES}
    return [{}, *({name: value} for name, known in grouping.items() for value in sorted(known))]


def summarize(shape: Shape, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """The mean of what items add to every metric, overall and by slice."""
    every = list(scores)
    points = [
        shape.points(score, settings.variant) if score.skipped is None else {} for score in every
    ]
    names = dict.fromkeys(name for of in points for name in of) or [m.name for m in shape.metrics]
    estimates = []
    for slice_ in slices([score.slices for score in every]):
        here = [at for at, score in enumerate(every) if slice_.items() <= score.slices.items()]
        coverage = Coverage.of(every[at] for at in here)
        why = coverage.shortfall(settings)
        for name in names:
            known: Mapping[str, Any] = {"why": why}
            if why is None:
                values = np.array([points[at][name] for at in here if name in points[at]])
                known = shape.measured(values, slice_, name, settings)
            ideal = shape.metric(name).ideal
            estimates.append(coverage.estimate(name, slice_, ideal, **known))
    return estimates


def drawn(values: Floats, slice_: Slice, name: str, settings: Settings) -> dict[str, Any]:
    """The mean and its interval, items resampled."""
    low, high = percentile(_draws(values, slice_, name, settings), settings.level)
    how = "percentile bootstrap over items"
    return {"value": float(values.mean()), "low": low, "high": high, "interval": how}


def _draws(values: Floats, slice_: Slice, name: str, settings: Settings) -> Floats:
    rng = generator(settings.seed, slice_, name)
    draws: Floats = resampled_clusters(values.size, settings.resamples, rng) @ values / values.size
    return draws


def differences(
    shape: Shape,
    both: Sequence[tuple[Score, Score]],
    every: Sequence[Slice],
    settings: Settings,
) -> Iterator[Difference | Withheld]:
    """The mean difference in every metric that both systems have, with a t test over items."""
    for slice_ in slices(every):
        here = [
            [shape.points(score, settings.variant) for score in pair]
            for pair in both
            if slice_.items() <= pair[0].slices.items()
        ]
        asked = asked_or_withheld(slice_, len(here), every, settings)
        if isinstance(asked, Withheld):
            yield asked
            continue
        for name in _shared([points for pair in here for points in pair]):
            first, second = np.array([[points[name] for points in pair] for pair in here]).T
            change = second - first
            p = StudentMean.of(change).p() if change.size > 1 else 1.0
            values, ideal = (float(first.mean()), float(second.mean())), shape.metric(name).ideal
            difference = Difference(name, slice_, *values, len(here), asked, None, ideal)
            draws = _draws(change, slice_, name, settings)
            span = float(np.ptp([first, second]))
            yield difference.measured(draws, p, "paired t over items", settings, span)


def _shared(points: Sequence[Mapping[str, float]]) -> list[str]:
    return [name for name in points[0] if all(name in other for other in points)] if points else []
