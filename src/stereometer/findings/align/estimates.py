"""Agreement as estimates: tau and precision at 3, overall, by group and by dimension.

Beside them stands how well people agree with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from stereometer.findings.align.agreement import (
    HALVES,
    LEAST_DECIDED,
    TOP,
    Both,
    Halves,
    decided_only,
    group_taus,
    precision,
    resampled_people,
    resampled_taus,
)
from stereometer.findings.align.permutation import TEST, permutation_p
from stereometer.findings.align.ratings import Mean
from stereometer.shapes.coverage import Coverage
from stereometer.stats.families import corrected
from stereometer.stats.intervals import Floats, generator, percentile
from stereometer.stats.kendall import tau_p
from stereometer.types import Estimate, Settings, Slice

AGREES, OPPOSES, NEITHER = "agrees with people", "opposes people", "not distinguishable from chance"
CHOSE = "not tested: it chose the templates"
OVER_BOTH = "bootstrap over groups and raters, centred"
OVER_RATERS = "bootstrap over raters, centred"
NO_DRAW = "ratings are too few: drawn again, raters never leave enough of them to compare"
NO_ORDER = "all scores, or all ratings, are the same"
FEW = 5
"""Groups, or traits of a group, below which an interval or a test would say more than they can."""
SPLITS = f"middle of {HALVES} splits"


@dataclass(frozen=True)
class Part:
    """Cells that are reported together, and the slice they are reported under."""

    slice: Slice
    cells: Both


def centred(
    value: float, draws: Floats, level: float, least: float, most: float
) -> tuple[float, float]:
    """The spread of the draws about the value.

    Raters drawn with replacement are noisier than raters are, so every draw agrees less than the
    value; only their spread is used.
    """
    low, high = percentile(draws - np.median(draws), level)
    return max(least, min(value, value + low)), min(most, max(value, value + high))


def _empty(name: str, part: Part) -> Estimate:
    return part.cells.coverage.estimate(name, part.slice, None)


def tau(part: Part, settings: Settings) -> Estimate:
    """Over all cells of several groups together, as in the paper's Table 6.

    A verdict needs an interval without 0 and a small p.
    """
    cells, few = part.cells, len(part.cells.groups) < FEW
    estimate = _tau(part, settings, "groups" if few else None, resampled_taus, OVER_BOTH)
    if estimate.low is None or estimate.high is None or estimate.value is None:
        return estimate
    p = permutation_p(cells, generator(settings.seed, part.slice, "traits"))
    around_0 = estimate.low <= 0 <= estimate.high
    verdict = NEITHER if around_0 else _verdict(estimate, p, settings)
    how = f"{OVER_BOTH}; p: {TEST}"
    return replace(estimate, p=p, p_adjusted=p, tests=1, interval=how, verdict=verdict)


def _tau(
    part: Part,
    settings: Settings,
    too_few: str | None,
    resampled: Callable[[Both, int, np.random.Generator], Floats],
    interval: str,
) -> Estimate:
    """tau and its interval; `too_few` names what there is too little of for one."""
    value, empty = part.cells.tau(), _empty("tau", part)
    why = _why_no_tau(part.cells, value, settings)
    if why is not None or value is None:
        return replace(empty, why=why)
    if too_few:
        return replace(empty, value=value, interval=f"none: fewer than {FEW} {too_few}")
    rng = generator(settings.seed, part.slice, "tau")
    draws = resampled(part.cells, settings.resamples, rng)
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    low, high = centred(value, draws, settings.level, -1.0, 1.0)
    return replace(empty, value=value, low=low, high=high, interval=interval)


def _why_no_tau(cells: Both, value: float | None, settings: Settings) -> str | None:
    return cells.coverage.shortfall(settings) or (NO_ORDER if value is None else None)


def _verdict(estimate: Estimate, p: float, settings: Settings) -> str:
    if p >= 1 - settings.level:
        return NEITHER
    return AGREES if (estimate.value or 0.0) > 0 else OPPOSES


def taus_by_group(cells: Both, judged: Collection[str], settings: Settings) -> list[Estimate]:
    """One a group, with Kendall's own p; Holm over the groups that are judged.

    Those that chose the templates are not tested.
    """
    estimates = [_group_tau(cells.among([group]), settings) for group in cells.groups]
    return corrected(
        (
            estimate
            if estimate.value is None or estimate.slice["group"] in judged
            else replace(estimate, p=None, verdict=CHOSE)
            for estimate in estimates
        ),
        lambda estimate, p: _verdict(estimate, p, settings),
    )


def _group_tau(cells: Both, settings: Settings) -> Estimate:
    """`cells` are of one group."""
    there = ~np.isnan(cells.model[0])
    few = np.count_nonzero(there) < FEW
    part = Part({"group": cells.groups[0]}, cells)
    estimate = _tau(part, settings, "traits" if few else None, group_taus, OVER_RATERS)
    if estimate.low is None:
        return estimate
    return replace(estimate, p=tau_p(cells.model[0][there], cells.people[0][there]))


# ----------------------------------------------------------------------------------- precision at 3


def precisions(
    part: Part, means: Mapping[tuple[str, str], Mean], settings: Settings
) -> list[Estimate]:
    """Top, bottom and their mean, and the mean over the traits on which people are decided.

    Averaged over groups.
    """
    cells, names = part.cells, ("precision_at_3", "precision_at_3_top", "precision_at_3_bottom")
    decided = np.array(
        [[means[group, trait].decided for trait in cells.traits] for group in cells.groups]
    )
    rng = generator(settings.seed, part.slice, "precision")
    people = resampled_people(cells, settings.resamples, rng)
    groups = rng.integers(0, len(cells.groups), size=(settings.resamples, len(cells.groups)))
    sure = [decided_only(row, keep) for row, keep in zip(cells.model, decided, strict=True)]
    whole = [decided_only(row, np.ones_like(row, dtype=np.bool_)) for row in cells.model]
    return [
        *(_precision(part, name, whole, people, groups, settings) for name in names),
        _precision(part, "precision_at_3_decided", sure, people, groups, settings),
    ]


def _precision(
    part: Part,
    name: str,
    scores: Sequence[Floats | None],
    people: Floats,
    groups: NDArray[np.int64],
    settings: Settings,
) -> Estimate:
    """`people` are resampled means, `groups` which groups each resample holds.

    The ideal is what people's own order gets: a group of which people think nothing but ill has no
    three traits above 50.
    """
    cells = part.cells
    known = [(at, row) for at, row in enumerate(scores) if row is not None]
    skipped = _undecided(len(scores) - len(known))
    empty = replace(_empty(name, part), n=len(known), asked=len(scores), skipped=skipped)
    why = _why_no_tau(cells, cells.tau(), settings)
    if why is not None:
        return replace(empty, why=why)
    if not known:
        return replace(empty, why=f"no group has {LEAST_DECIDED} traits to choose from")
    value = float(np.mean([_share(name, row, cells.people[at]) for at, row in known]))
    best = [
        _share(name, np.where(np.isnan(row), np.nan, cells.people[at]), cells.people[at])
        for at, row in known
    ]
    drawn = np.full((len(people), len(scores)), np.nan)
    for at, row in known:
        drawn[:, at] = _share(name, row, people[:, at])
    several = len(cells.groups) > 1
    if several:
        drawn = np.take_along_axis(drawn, groups, axis=1)
    count = np.count_nonzero(~np.isnan(drawn), axis=1)
    draws = np.nansum(drawn[count > 0], axis=1) / count[count > 0]
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    low, high = centred(value, draws, settings.level, 0.0, 1.0)
    how, ideal = OVER_BOTH if several else OVER_RATERS, float(np.mean(best))
    return replace(empty, value=value, low=low, high=high, interval=how, ideal=ideal)


def _undecided(count: int) -> dict[str, int]:
    return (
        {f"fewer than {LEAST_DECIDED} traits to choose {TOP} and {TOP} from": count}
        if count
        else {}
    )


def _share(name: str, model: Floats, people: Floats) -> Floats:
    top, bottom = precision(model, people)
    return (
        top if name.endswith("_top") else bottom if name.endswith("_bottom") else (top + bottom) / 2
    )


# ------------------------------------------------------------------------------------- people alone


def people_alone(part: Part, halves: Halves, settings: Settings) -> Estimate:
    """tau between halves of the raters on the cells that the model is judged by.

    It says how well people agree with each other.
    """
    taus = halves.taus(part.cells)
    known, empty = taus[~np.isnan(taus)], _empty("human_split_half_tau", part)
    if not known.size:
        return replace(empty, why="fewer than two cells, or all ratings are the same")
    low, high = percentile(known, settings.level)
    return replace(empty, value=float(known.mean()), low=low, high=high, interval=SPLITS)


def human_means(means: Mapping[tuple[str, str], Mean], cells: Both) -> Iterator[Estimate]:
    for group, trait in product(cells.groups, cells.traits):
        mean = means[group, trait]
        coverage = Coverage(mean.raters)
        yield coverage.estimate(
            "human_mean",
            {"group": group, "trait": trait},
            None,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            interval="Student's t over raters",
        )
