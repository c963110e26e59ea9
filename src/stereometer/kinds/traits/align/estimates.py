"""Agreement as estimates: tau and precision at 3, overall, by group and by dimension.

Beside them stands how well people agree with each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import asin, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from stereometer.core.shapes.points import Coverage
from stereometer.core.stats.intervals import Floats, generator, percentile, student
from stereometer.core.stats.means import known_means
from stereometer.core.stats.tests import Said
from stereometer.core.types import Estimate, Settings, Slice
from stereometer.kinds.traits.align.agreement import (
    HALVES,
    LEAST_DECIDED,
    TEST,
    TOP,
    Exchanged,
    Halves,
    RatedCells,
    enough,
    exchanged,
    precision,
    resampled_people,
    resampled_taus,
)
from stereometer.kinds.traits.align.ratings import Mean

AGREES, OPPOSES, NEITHER = "agrees with people", "opposes people", "not distinguishable from chance"
OVER_BOTH = "bootstrap over groups and people, centred, Student's quantile over groups"
OVER_PEOPLE = "bootstrap over people, centred: other raters, these traits"
BY_LOT = "none: the mean over groups exchanged"
NO_DRAW = "ratings are too few: drawn again, raters never leave enough of them to compare"
NO_ORDER = "all scores, or all ratings, are the same"
FEW = 5
"""Groups, or traits of a group, below which an interval or a test would say more than they can."""
SPLITS = f"middle of {HALVES} splits of these raters, which is not about other raters"
POLARISED = "polarised"
BOTH, TOPS, BOTTOMS = "precision_at_3", "precision_at_3_top", "precision_at_3_bottom"
NO_AGREEMENT = "halves of the raters do not agree"


def centred(
    value: float, draws: Floats, level: float, least: float, most: float, wider: float = 1.0
) -> tuple[float, float]:
    """The spread of the draws about the value, made `wider` where it is known from few groups.
    Raters drawn with replacement are noisier than raters are, so every draw agrees less than the
    value; only their spread is used."""
    low, high = percentile(wider * (draws - np.median(draws)), level)
    return max(least, min(value, value + low)), min(most, max(value, value + high))


def _empty(name: str, cells: RatedCells) -> Estimate:
    return cells.coverage.estimate(name, cells.slice, None)


def taus(cells: RatedCells, settings: Settings) -> Iterator[Estimate]:
    """Over all cells of several groups together, as in the paper's Table 6; and by chance."""
    few = "groups" if len(cells.groups) < FEW else None
    estimate = _tau(cells, settings, few, OVER_BOTH)
    if estimate.low is None:
        yield estimate
        return
    by_lot = exchanged(cells, generator(settings.seed, cells.slice, "groups"))
    says, beyond = _verdict(estimate, by_lot, settings)
    tested = replace(estimate, p=by_lot.p, test=TEST, p_adjusted=by_lot.p, tests=1)
    yield replace(tested, verdict=says, beyond_noise=beyond)
    yield replace(_empty("tau_by_lot", cells), value=by_lot.mean, interval=BY_LOT)


def _tau(cells: RatedCells, settings: Settings, too_few: str | None, interval: str) -> Estimate:
    """tau and its interval; `too_few` names what there is too little of for one."""
    value, empty = cells.tau(), _empty("tau", cells)
    why = _why_no_tau(cells, value, settings)
    if why is not None or value is None:
        return replace(empty, why=why)
    if too_few:
        return replace(empty, value=value, interval=f"none: fewer than {FEW} {too_few}")
    rng = generator(settings.seed, cells.slice, "tau")
    draws = resampled_taus(cells, settings.resamples, rng)
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    groups = len(cells.groups)
    wider = student(np.array([groups]), settings.level) if groups > 1 else 1.0
    low, high = centred(value, draws, settings.level, -1.0, 1.0, wider)
    return replace(empty, value=value, low=low, high=high, interval=interval)


def _why_no_tau(cells: RatedCells, value: float | None, settings: Settings) -> str | None:
    return cells.coverage.shortfall(settings) or (NO_ORDER if value is None else None)


def _verdict(estimate: Estimate, by_lot: Exchanged, settings: Settings) -> Said:
    """It needs a small p, and the whole interval on the side on which the value is by the test."""
    value, low, high = estimate.value or 0.0, estimate.low or 0.0, estimate.high or 0.0
    if by_lot.p < 1 - settings.level:
        if low > 0 and value > by_lot.mean:
            return AGREES, True
        if high < 0 and value < by_lot.mean:
            return OPPOSES, True
    return NEITHER, False


def group_tau(cells: RatedCells, settings: Settings) -> Estimate:
    """Of one group, without a test: its few traits are correlated."""
    few = np.count_nonzero(~np.isnan(cells.model)) < FEW
    return _tau(cells, settings, "traits" if few else None, OVER_PEOPLE)


# ----------------------------------------------------------------------------------- precision at 3


def precisions(
    cells: RatedCells, means: Mapping[tuple[str, str], Mean], settings: Settings
) -> list[Estimate]:
    """Top, bottom and their mean, and the mean over the traits on which people are decided.
    Averaged over groups."""
    rng = generator(settings.seed, cells.slice, "precision")
    people = resampled_people(cells, settings.resamples, rng)
    groups = rng.integers(0, len(cells.groups), size=(settings.resamples, len(cells.groups)))
    whole = [enough(row) for row in cells.model]
    decided = [[means[group, trait].decided for trait in cells.traits] for group in cells.groups]
    sure = [enough(row) for row in np.where(decided, cells.model, np.nan)]
    scores = {BOTH: whole, TOPS: whole, BOTTOMS: whole, "precision_at_3_decided": sure}
    return [_precision(cells, *each, people, groups, settings) for each in scores.items()]


def _precision(
    cells: RatedCells,
    name: str,
    scores: Sequence[Floats | None],
    people: Floats,
    groups: NDArray[np.int64],
    settings: Settings,
) -> Estimate:
    """`people` are resampled means, `groups` which groups each resample holds. The ideal is what
    people's own order gets: a group of which people think nothing but ill has no three traits above
    50."""
    known = [(at, row) for at, row in enumerate(scores) if row is not None]
    few = f"fewer than {LEAST_DECIDED} traits to choose {TOP} and {TOP} from"
    skipped = {few: len(scores) - len(known)} if len(known) < len(scores) else {}
    empty = replace(_empty(name, cells), n=len(known), asked=len(scores), skipped=skipped)
    why = _why_no_tau(cells, cells.tau(), settings)
    if why is not None:
        return replace(empty, why=why)
    if not known:
        return replace(empty, why=f"no group has {LEAST_DECIDED} traits to choose from")
    value = float(np.mean([_share(name, row, cells.people[at]) for at, row in known]))
    drawn = np.full((len(people), len(scores)), np.nan)
    for at, row in known:
        drawn[:, at] = _share(name, row, people[:, at])
    draws = known_means(np.take_along_axis(drawn, groups, axis=1), 1)
    draws = draws[~np.isnan(draws)]
    if not draws.size:
        return replace(empty, why=NO_DRAW)
    low, high = centred(value, draws, settings.level, 0.0, 1.0)
    how = OVER_BOTH if len(cells.groups) > 1 else OVER_PEOPLE
    own = ((np.where(np.isnan(row), np.nan, cells.people[at]), at) for at, row in known)
    ideal = float(np.mean([_share(name, order, cells.people[at]) for order, at in own]))
    return replace(empty, value=value, low=low, high=high, interval=how, ideal=ideal)


def _share(name: str, model: Floats, people: Floats) -> Floats:
    top, bottom = precision(model, people)
    return {TOPS: top, BOTTOMS: bottom}.get(name, (top + bottom) / 2)


# ------------------------------------------------------------------------------------- people alone


def another_panel(halves: float) -> float:
    """tau that as many other raters would get, from tau between halves of these. Kendall's tau as a
    correlation (Greiner), twice as many raters (Spearman and Brown), and back."""
    return 2 / pi * asin(_reliability(halves))


def best_possible(halves: float) -> float:
    """tau of what all people think on average, beside the means of these raters."""
    return 2 / pi * asin(sqrt(_reliability(halves)))


def _reliability(halves: float) -> float:
    correlation = sin(pi * halves / 2)
    return 2 * correlation / (1 + correlation)


CEILINGS: Mapping[str, Callable[[float], float]] = {
    "human_panel_tau": another_panel,
    "best_possible_tau": best_possible,
}


def people_alone(cells: RatedCells, halves: Halves, settings: Settings) -> Iterator[Estimate]:
    """How well people agree with each other on the cells that the model is judged by. tau between
    halves of the raters, and what that says of all of them."""
    drawn, empty = halves.taus(cells), _empty("human_split_half_tau", cells)
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        why = "fewer than two cells, or all ratings are the same"
        yield from (replace(empty, name=name, why=why) for name in (empty.name, *CEILINGS))
        return
    value, (low, high) = float(known.mean()), percentile(known, settings.level)
    yield replace(empty, value=value, low=low, high=high, interval=SPLITS)
    for name, ceiling in CEILINGS.items():
        if value <= 0:
            yield replace(empty, name=name, why=NO_AGREEMENT)
        else:
            top, *ends = (ceiling(max(0.0, tau)) for tau in (value, low, high))
            yield replace(empty, name=name, value=top, low=ends[0], high=ends[1], interval=SPLITS)


def human_means(
    means: Mapping[tuple[str, str], Mean], cells: RatedCells, of: Slice | None = None
) -> Iterator[Estimate]:
    """Each cell's mean, and how far its raters differ; `of` are the raters, where not all are."""
    for group, trait in product(cells.groups, cells.traits):
        mean, slice_ = means[group, trait], {**(of or {}), "group": group, "trait": trait}
        coverage = Coverage(mean.raters)
        known = {"value": mean.value, "interval": "none: all raters agree"}
        if mean.spread:
            known |= {"low": mean.low, "high": mean.high, "interval": "Student's t over raters"}
        yield coverage.estimate("human_mean", slice_, None, **known)
        mark = POLARISED if mean.polarised else None
        yield coverage.estimate("human_spread", slice_, None, value=mean.spread, verdict=mark)
