"""Counting and pairing that need to know nothing of a shape: means of values over items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from stereometer.shapes.coverage import Coverage
from stereometer.shapes.paired import Difference, Withheld, asked_or_withheld
from stereometer.stats.intervals import Floats, generator, percentile, resampled_clusters
from stereometer.stats.means import StudentMean
from stereometer.types import Estimate, Score, Settings, Slice

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


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """The mean of every value, overall and by slice, items resampled."""
    every = list(scores)
    names = list(dict.fromkeys(name for score in every for name in score.values))
    return [
        _mean(name, slice_, every, settings)
        for slice_ in slices([score.slices for score in every])
        for name in names
    ]


def _mean(name: str, slice_: Slice, every: Sequence[Score], settings: Settings) -> Estimate:
    here = [score for score in every if slice_.items() <= score.slices.items()]
    coverage = Coverage.of(here)
    why = coverage.shortfall(settings)
    if why is not None:
        return coverage.estimate(name, slice_, None, why=why)
    values = np.array([score.values[name] for score in here if name in score.values])
    low, high = percentile(_draws(values, slice_, name, settings), settings.level)
    how = "percentile bootstrap over items"
    return coverage.estimate(
        name, slice_, None, value=float(values.mean()), low=low, high=high, interval=how
    )


def _draws(values: Floats, slice_: Slice, name: str, settings: Settings) -> Floats:
    rng = generator(settings.seed, slice_, name)
    draws: Floats = resampled_clusters(values.size, settings.resamples, rng) @ values / values.size
    return draws


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """The mean difference of every value that both systems have, with a t test over items."""
    for slice_ in slices(every):
        here = [pair for pair in both if slice_.items() <= pair[0].slices.items()]
        asked = asked_or_withheld(slice_, len(here), every, settings)
        if isinstance(asked, Withheld):
            yield asked
            continue
        for name in _shared([score.values for pair in here for score in pair]):
            first, second = (
                np.array([pair[side].values[name] for pair in here]) for side in (0, 1)
            )
            change = second - first
            p = StudentMean.of(change).p() if change.size > 1 else 1.0
            values = float(first.mean()), float(second.mean())
            difference = Difference(name, slice_, *values, len(here), asked, None, None)
            draws = _draws(change, slice_, name, settings)
            span = float(np.ptp([first, second]))
            yield difference.measured(draws, p, "paired t over items", settings, span)


def _shared(values: Sequence[Mapping[str, float]]) -> list[str]:
    return [name for name in values[0] if all(name in other for other in values)] if values else []
