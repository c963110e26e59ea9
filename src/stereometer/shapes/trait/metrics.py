"""A group's profile: its association with each trait and dimension, over templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from stereometer.shapes.coverage import Coverage
from stereometer.stats.families import Said, corrected
from stereometer.stats.means import t_interval
from stereometer.stats.tests import t_test
from stereometer.types import Estimate, Score, Settings, Slice

NEITHER = "not distinguishable from 0"
OVER_TEMPLATES = "Student's t over templates"
ONE_TEMPLATE = "none: a single template"
LARGE = 3.0
"""Standard deviations between templates beyond which hardly any score lies."""


def difference(values: Mapping[str, float]) -> float:
    """Of a trait: positive towards the right pole. Some measures give it as it is."""
    return values["effect"] if "effect" in values else values["right"] - values["left"]


@dataclass
class TemplateSample:
    """The differences of one slice, by template."""

    slice: Slice
    coverage: Coverage = field(default_factory=Coverage)
    by_template: dict[str, list[float]] = field(default_factory=dict)

    def add(self, score: Score) -> None:
        self.coverage.add(score)
        if score.skipped is None:
            values = self.by_template.setdefault(score.slices["template"], [])
            values.append(difference(score.values))


def slices_of(score: Score) -> Iterable[Slice]:
    for kind in ("trait", "dimension"):
        yield {name: score.slices[name] for name in ("group", kind)}


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """`association` of each group with each trait and dimension, and `group_spread`.

    The latter is how far groups are apart.
    """
    everything = Coverage()
    samples: dict[tuple[tuple[str, str], ...], TemplateSample] = {}
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        everything.add(score)
        for slice_ in slices_of(score):
            samples.setdefault(tuple(slice_.items()), TemplateSample(slice_)).add(score)
        if score.skipped is None:
            place = score.slices["template"], score.slices["trait"]
            cells.setdefault(place, {})[score.slices["group"]] = difference(score.values)
    associations = [
        estimate("association", sample.slice, sample.by_template, sample.coverage, settings)
        for sample in sorted(samples.values(), key=lambda sample: "dimension" in sample.slice)
    ]
    return [_spread(everything, cells, settings), *judged(associations, settings.level)]


def estimate(
    name: str,
    slice_: Slice,
    by_template: Mapping[str, Sequence[float]],
    coverage: Coverage,
    settings: Settings,
) -> Estimate:
    """A mean over templates with its interval, or why there is none."""
    why = coverage.shortfall(settings)
    if why is not None:
        return coverage.estimate(name, slice_, 0.0, why=why)
    means = np.array([np.mean(values) for values in by_template.values()])
    known = coverage.estimate(name, slice_, 0.0, value=float(means.mean()), terms=means.size)
    if means.size < 2:
        return replace(known, interval=ONE_TEMPLATE)
    low, high = t_interval(means, settings.level)
    return replace(known, low=low, high=high, interval=OVER_TEMPLATES, p=t_test(means))


def judged(estimates: Iterable[Estimate], level: float) -> list[Estimate]:
    """Holm over the traits, and over the dimensions, of all groups; the verdict names the pole.

    An interval around 0 has none, however small p is.
    """
    return corrected(
        estimates,
        lambda estimate, p: _verdict(estimate, p, level),
        lambda estimate: next(
            (kind for kind in ("trait", "dimension") if kind in estimate.slice), None
        ),
    )


def _verdict(estimate: Estimate, p: float, level: float) -> Said:
    if p >= 1 - level or not estimate.value or _around_0(estimate):
        return NEITHER, False
    above = estimate.value > 0
    if "trait" not in estimate.slice:
        return "above 0" if above else "below 0", True
    left, _, right = estimate.slice["trait"].partition(" - ")
    if not right:
        return f"towards the {'right' if above else 'left'} pole", True
    return f"towards {right if above else left}", True


def _around_0(estimate: Estimate) -> bool:
    return (
        estimate.low is not None
        and estimate.high is not None
        and (estimate.low <= 0 <= estimate.high)
    )


def outlook(templates: int, tests: int, level: float) -> str | None:
    """What so few templates could show: how far from 0 a score must be, next to their spread."""
    if templates < 2:
        return "One template: scores have no interval, and none can be told from 0."
    from scipy.special import stdtrit

    quantile = float(stdtrit(templates - 1, 1 - (1 - level) / 2 / tests))
    needed = quantile / sqrt(templates)
    if needed <= LARGE:
        return None
    return (
        f"{templates} templates and {tests:,} tests: a score is beyond noise only if it is "
        f"{needed:,.1f} times as large as its standard deviation between templates. "
        "More templates, or fewer groups, would show more."
    )


def _spread(
    coverage: Coverage, cells: Mapping[tuple[str, str], Mapping[str, float]], settings: Settings
) -> Estimate:
    """The standard deviation of a trait over groups, averaged over traits; one value a template."""
    by_template: dict[str, list[float]] = {}
    for (template, _), groups in cells.items():
        if len(groups) > 1:
            spread = float(np.std(list(groups.values()), ddof=1))
            by_template.setdefault(template, []).append(spread)
    if not by_template:
        why = coverage.shortfall(settings) or "needs two groups"
        return coverage.estimate("group_spread", {}, 0.0, why=why)
    return replace(estimate("group_spread", {}, by_template, coverage, settings), p=None)
