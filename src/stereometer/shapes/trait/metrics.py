"""A group's profile: its association with each trait and dimension, over templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stereometer.shapes.coverage import Asked
from stereometer.stats.intervals import Floats
from stereometer.stats.means import t_interval
from stereometer.stats.tests import holm, t_test
from stereometer.types import Estimate, Score, Settings, Slice

NEITHER = "not distinguishable from 0"
OVER_TEMPLATES = "Student's t over templates"
ONE_TEMPLATE = "none: a single template"


def difference(values: Mapping[str, float]) -> float:
    """Of a trait: positive towards the right pole. Some measures give it as it is."""
    return values["effect"] if "effect" in values else values["right"] - values["left"]


@dataclass
class Sample:
    """The differences of one slice, by template."""

    slice: Slice
    asked: Asked = field(default_factory=Asked)
    by_template: dict[str, list[float]] = field(default_factory=dict)

    def add(self, score: Score) -> None:
        self.asked.add(score)
        if score.skipped is None:
            self.by_template.setdefault(score.slices["template"], []).append(
                difference(score.values)
            )

    @property
    def means(self) -> Floats:
        """One a template."""
        return np.array([np.mean(values) for values in self.by_template.values()])


def slices_of(score: Score) -> Iterable[Slice]:
    group = {"group": score.slices["group"]}
    yield group | {"trait": score.slices["trait"]}
    yield group | {"dimension": score.slices["dimension"]}


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """`association` for each group and trait and each group and dimension; `group_spread`, how far groups are apart."""
    everything = Asked()
    samples: dict[tuple[tuple[str, str], ...], Sample] = {}
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        everything.add(score)
        for slice_ in slices_of(score):
            samples.setdefault(tuple(slice_.items()), Sample(slice_)).add(score)
        if score.skipped is None:
            place = score.slices["template"], score.slices["trait"]
            cells.setdefault(place, {})[score.slices["group"]] = difference(score.values)
    found = [
        _association(one, settings)
        for one in sorted(samples.values(), key=lambda one: "dimension" in one.slice)
    ]
    return [_spread(everything, cells, settings), *judged(found, settings.level)]


def _association(one: Sample, settings: Settings) -> Estimate:
    return estimate("association", one.slice, one.means, one.asked, settings)


def estimate(
    name: str, slice_: Slice, by_template: Floats, asked: Asked, settings: Settings
) -> Estimate:
    """A mean over templates with its interval, or why there is none."""
    why = asked.shortfall(settings)
    empty = Estimate(
        name,
        slice_,
        None,
        None,
        None,
        asked.answered,
        asked.count,
        0,
        0.0,
        skipped=dict(asked.skipped),
        why=why,
    )
    if why is not None:
        return empty
    value, count = float(by_template.mean()), by_template.size
    if count < 2:
        return replace(empty, value=value, interval=ONE_TEMPLATE, terms=count)
    low, high = t_interval(by_template, settings.level)
    return replace(
        empty,
        value=value,
        low=low,
        high=high,
        interval=OVER_TEMPLATES,
        p=t_test(by_template),
        terms=count,
    )


def judged(found: Sequence[Estimate], level: float) -> list[Estimate]:
    """Holm over the traits, and over the dimensions, of all groups; the verdict names the pole. An interval around 0 has none, however small p is."""
    ruled = list(found)
    for kind in ("trait", "dimension"):
        family = [
            index for index, one in enumerate(found) if kind in one.slice and one.p is not None
        ]
        for index, p in zip(family, holm([found[index].p or 0.0 for index in family]), strict=True):
            ruled[index] = replace(
                found[index],
                p_adjusted=p,
                tests=len(family),
                verdict=_verdict(found[index], p, level),
            )
    return ruled


def _verdict(one: Estimate, p: float, level: float) -> str:
    if p >= 1 - level or not one.value or _around_0(one):
        return NEITHER
    if "trait" not in one.slice:
        return "above 0" if one.value > 0 else "below 0"
    left, _, right = one.slice["trait"].partition(" - ")
    return (
        f"towards {right or 'the right pole'}"
        if one.value > 0
        else f"towards {left if right else 'the left pole'}"
    )


def _around_0(one: Estimate) -> bool:
    return one.low is not None and one.high is not None and one.low <= 0 <= one.high


def _spread(
    asked: Asked, cells: Mapping[tuple[str, str], Mapping[str, float]], settings: Settings
) -> Estimate:
    """The standard deviation of a trait over groups, averaged over traits; one value a template."""
    by_template: dict[str, list[float]] = {}
    for (template, _), groups in cells.items():
        if len(groups) > 1:
            by_template.setdefault(template, []).append(
                float(np.std(list(groups.values()), ddof=1))
            )
    if not by_template:
        why = asked.shortfall(settings) or "needs two groups"
        return Estimate(
            "group_spread",
            {},
            None,
            None,
            None,
            asked.answered,
            asked.count,
            0,
            0.0,
            skipped=dict(asked.skipped),
            why=why,
        )
    means = np.array([np.mean(values) for values in by_template.values()])
    return replace(estimate("group_spread", {}, means, asked, settings), p=None)
