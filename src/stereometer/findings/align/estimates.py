"""Agreement as estimates: tau and precision at 3, overall, by group and by dimension, beside how well people agree with each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
from stereometer.stats.intervals import Floats, generator, percentile
from stereometer.stats.kendall import tau_p
from stereometer.stats.tests import holm
from stereometer.types import Estimate, Settings, Slice

AGREES, OPPOSES, NEITHER = "agrees with people", "opposes people", "not distinguishable from chance"
CHOSE = "not tested: it chose the templates"
OVER_BOTH = "bootstrap over groups and raters, centred"
OVER_RATERS = "bootstrap over raters, centred"
NO_DRAW = "ratings are too few: drawn again, raters never leave enough of them to compare"
NO_ORDER = "all scores, or all ratings, are the same"
FEW = 5
"""Groups that are drawn again, or traits of one group, below which an interval or a test would say more than they can."""
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

    Raters drawn with replacement are noisier than raters are, so every draw agrees less than the value; only their spread is used.
    """
    low, high = percentile(draws - np.median(draws), level)
    return max(least, min(value, value + low)), min(most, max(value, value + high))


def _empty(
    name: str, slice_: Slice, cells: Both, ideal: float | None = None, why: str | None = None
) -> Estimate:
    asked = cells.asked
    return Estimate(
        name,
        slice_,
        None,
        None,
        None,
        asked.answered,
        asked.count,
        0,
        ideal,
        skipped=dict(asked.skipped),
        why=why,
    )


def tau(part: Part, settings: Settings) -> Estimate:
    """Over all cells of several groups together, as in the paper's Table 6; a verdict needs an interval without 0 and a small p."""
    value, empty = part.cells.tau(), _empty("tau", part.slice, part.cells)
    why = _why_no_tau(part.cells, value, settings)
    if why is not None or value is None:
        return replace(empty, why=why)
    if len(part.cells.groups) < FEW:
        return replace(empty, value=value, interval=f"none: fewer than {FEW} groups")
    draws = resampled_taus(
        part.cells, settings.resamples, generator(settings.seed, part.slice, "tau")
    )
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    low, high = centred(value, draws, settings.level, -1.0, 1.0)
    p = permutation_p(part.cells, generator(settings.seed, part.slice, "traits"))
    verdict = NEITHER if low <= 0 <= high else _verdict(value, p, settings)
    return replace(
        empty,
        value=value,
        low=low,
        high=high,
        p=p,
        p_adjusted=p,
        tests=1,
        interval=f"{OVER_BOTH}; p: {TEST}",
        verdict=verdict,
    )


def _why_no_tau(cells: Both, value: float | None, settings: Settings) -> str | None:
    return cells.asked.shortfall(settings) or (NO_ORDER if value is None else None)


def _verdict(value: float, p: float, settings: Settings) -> str:
    return NEITHER if p >= 1 - settings.level else AGREES if value > 0 else OPPOSES


def taus_by_group(cells: Both, judged: Collection[str], settings: Settings) -> list[Estimate]:
    """One a group, with Kendall's own p; Holm over the groups that are judged. Those that chose the templates are not tested."""
    found = [_group_tau(cells, at, settings) for at in range(len(cells.groups))]
    found = [
        one
        if one.value is None or one.slice["group"] in judged
        else replace(one, p=None, verdict=CHOSE)
        for one in found
    ]
    tested = [index for index, one in enumerate(found) if one.p is not None]
    for index, p in zip(tested, holm([found[index].p or 0.0 for index in tested]), strict=True):
        found[index] = replace(
            found[index],
            p_adjusted=p,
            tests=len(tested),
            verdict=_verdict(found[index].value or 0.0, p, settings),
        )
    return found


def _group_tau(cells: Both, at: int, settings: Settings) -> Estimate:
    slice_ = {"group": cells.groups[at]}
    own = cells.among([cells.groups[at]])
    value, empty = own.tau(), _empty("tau", slice_, own)
    why = _why_no_tau(own, value, settings)
    if why is not None or value is None:
        return replace(empty, why=why)
    there = ~np.isnan(own.model[0])
    if np.count_nonzero(there) < FEW:
        return replace(empty, value=value, interval=f"none: fewer than {FEW} traits")
    draws = group_taus(cells, at, settings.resamples, generator(settings.seed, slice_, "tau"))
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    low, high = centred(value, draws, settings.level, -1.0, 1.0)
    return replace(
        empty,
        value=value,
        low=low,
        high=high,
        p=tau_p(own.model[0][there], own.people[0][there]),
        interval=OVER_RATERS,
    )


# ------------------------------------------------------------------------------------------ precision at 3


def precisions(
    part: Part, means: Mapping[tuple[str, str], Mean], settings: Settings
) -> list[Estimate]:
    """Top, bottom and their mean, and the mean over the traits on which people are decided; averaged over groups."""
    cells, names = part.cells, ("precision_at_3", "precision_at_3_top", "precision_at_3_bottom")
    decided = np.array(
        [[means[group, trait].decided for trait in cells.traits] for group in cells.groups]
    )
    sure = [decided_only(row, keep) for row, keep in zip(cells.model, decided, strict=True)]
    rng = generator(settings.seed, part.slice, "precision")
    people = resampled_people(cells, settings.resamples, rng)
    groups = rng.integers(0, len(cells.groups), size=(settings.resamples, len(cells.groups)))
    whole = [
        row if np.count_nonzero(~np.isnan(row)) >= LEAST_DECIDED else None for row in cells.model
    ]
    found = [_precision(part, name, whole, people, groups, settings) for name in names]
    return [*found, _precision(part, "precision_at_3_decided", sure, people, groups, settings)]


def _precision(
    part: Part,
    name: str,
    scores: Sequence[Floats | None],
    people: Floats,
    groups: NDArray[np.int64],
    settings: Settings,
) -> Estimate:
    """`people` are resampled means, `groups` which groups each resample holds.

    The ideal is what people's own order gets: a group of which people think nothing but ill has no three traits above 50.
    """
    cells = part.cells
    known = [(at, row) for at, row in enumerate(scores) if row is not None]
    empty = replace(
        _empty(name, part.slice, cells),
        n=len(known),
        asked=len(scores),
        skipped=_undecided(len(scores) - len(known)),
    )
    why = _why_no_tau(cells, cells.tau(), settings)
    if why is not None:
        return replace(empty, why=why)
    if not known:
        return replace(empty, why=f"no group has {LEAST_DECIDED} traits to choose from")
    values = [_share(name, row, cells.people[at]) for at, row in known]
    best = [
        _share(name, np.where(np.isnan(row), np.nan, cells.people[at]), cells.people[at])
        for at, row in known
    ]
    drawn = np.full((len(people), len(scores)), np.nan)
    for at, row in known:
        drawn[:, at] = _share(name, row, people[:, at])
    if len(cells.groups) > 1:
        drawn = np.take_along_axis(drawn, groups, axis=1)
    count = np.count_nonzero(~np.isnan(drawn), axis=1)
    draws = np.nansum(drawn[count > 0], axis=1) / count[count > 0]
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    value = float(np.mean(values))
    low, high = centred(value, draws, settings.level, 0.0, 1.0)
    interval = OVER_BOTH if len(cells.groups) > 1 else OVER_RATERS
    return replace(
        empty, value=value, low=low, high=high, interval=interval, ideal=float(np.mean(best))
    )


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


# --------------------------------------------------------------------------------------------- people alone


def people_alone(part: Part, halves: Halves, settings: Settings) -> Estimate:
    """tau between halves of the raters on the cells that the model is judged by: what people's agreement with each other is."""
    taus = halves.taus(part.cells)
    known, empty = taus[~np.isnan(taus)], _empty("human_split_half_tau", part.slice, part.cells)
    if not known.size:
        return replace(empty, why="fewer than two cells, or all ratings are the same")
    low, high = percentile(known, settings.level)
    return replace(empty, value=float(known.mean()), low=low, high=high, interval=SPLITS)


def human_means(means: Mapping[tuple[str, str], Mean], cells: Both) -> Iterator[Estimate]:
    for group in cells.groups:
        for trait in cells.traits:
            one = means[group, trait]
            slice_ = {"group": group, "trait": trait}
            yield Estimate(
                "human_mean",
                slice_,
                one.value,
                one.low,
                one.high,
                one.raters,
                one.raters,
                0,
                None,
                interval="Student's t over raters",
            )
