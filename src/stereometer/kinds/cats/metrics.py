"""lms, ss and icat of the Context Association Test (Nadeem et al. 2021, sections 5.2 and A.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import sqrt

import numpy as np

from stereometer.core.shapes.points import WON, Coverage, PointSample, sizes
from stereometer.core.shapes.spread import Interval, Spread, determined, over_units
from stereometer.core.shapes.verdicts import (
    FEW_TERMS,
    LANGUAGE,
    LIKE_THESE,
    NULL_VALUE,
    PREFERENCE,
    SAME,
    THESE,
    judged,
)
from stereometer.core.stats.intervals import (
    Floats,
    Ints,
    generator,
    percentile,
    resampled_means,
    wilson_percent,
)
from stereometer.core.stats.means import StudentMean, StudentShare, effective
from stereometer.core.stats.tests import bootstrap_p, detectable, sign_flip
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats import points
from stereometer.kinds.cats.points import BASE, icat, icat_range

FINE = ("target",)
NOT_DEFINED = "not defined, since unrelated candidates have no score"


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """Estimates overall and for each task, domain, domain in a task, and target term."""
    table = points.tally(scores, settings.variant)
    terms = [dict(zip(points.UNIT_BY, term, strict=True)) for term in table.terms]
    estimates = [
        row
        for names, slices in (
            (points.AVERAGES, points.headline_slices(table)),
            (points.HEADLINE, terms),
        )
        for slice_ in slices
        for row in estimates_of(table.within(slice_), names, settings)
    ]
    return judged(estimates, {"ss": PREFERENCE, "lms": LANGUAGE}, settings, FINE)


def estimates_of(part: PointSample, names: Iterable[str], settings: Settings) -> Iterator[Estimate]:
    """Not judged yet."""
    known, short = Averages(part, settings), part.coverage.shortfall(settings)
    ends = {} if short else known.bounds
    for name in names:
        ideal, (ties, share) = points.IDEALS[BASE[name]], known.ties[BASE[name]]
        empty = part.coverage.estimate(name, part.slice, ideal, ties=ties, terms=len(known.n))
        if short or not known.has(name):
            yield replace(empty, why=short or NOT_DEFINED)
            continue
        least, most = ends[name]
        yield determined(
            replace(empty, value=known.values[name], least=least, most=most),
            known.spread(name),
            share,
            partial(known.settled, name),
            settings,
        )


Ends = tuple[float, float]
Sides = tuple[Floats, Floats]
TESTED = {"ss": points.SS_OF, "lms": points.LMS_OF}


@dataclass(frozen=True)
class Averages:
    """Every average of the items of a slice, and how far each may be off: over terms, or where too
    few of them count, within them."""

    part: PointSample
    settings: Settings

    @cached_property
    def outcomes(self) -> Ints:
        """A row for each term that answered."""
        outcomes: Ints = self.part.rows.sum(axis=(2, 3))
        return outcomes

    @cached_property
    def n(self) -> Ints:
        """Items of the terms."""
        return sizes(self.outcomes)

    @cached_property
    def rates(self) -> tuple[Floats, Floats]:
        """lms and ss of the terms."""
        return points.rates(self.outcomes)

    @cached_property
    def values(self) -> dict[str, float]:
        return {name: float(of) for name, of in points.averages(*self.rates, self.n).items()}

    def has(self, name: str) -> bool:
        """StereotypedLM says nothing of unrelated candidates.

        It has no lms, and an icat only where ss alone makes it 0.
        """
        if BASE[name] == "ss" or not self.outcomes[:, points.NO_LMS].any():
            return True
        ss = name.replace("icat", "ss").replace("_term_mean", "")
        return BASE[name] == "icat" and self.values[ss] in (0.0, 100.0)

    # -------------------------------------------------------------------------------------- ties

    @cached_property
    def tied(self) -> tuple[Ints, Ints]:
        """By term: comparisons with the unrelated candidate, and of the other two."""
        by_lms, by_ss = self.part.rows.sum(axis=(1, 3)), self.part.rows.sum(axis=(1, 2))
        return by_lms @ np.arange(3), by_ss[:, 1]

    @cached_property
    def ties(self) -> dict[str, tuple[int, float]]:
        """By metric, how many, and their share of comparisons; icat is as uncertain as the worse of
        the two."""
        n, (lms, ss) = max(1, int(self.n.sum())), (int(of.sum()) for of in self.tied)
        shares = lms / (2 * n), ss / n
        return {"lms": (lms, shares[0]), "ss": (ss, shares[1]), "icat": (lms + ss, max(shares))}

    @property
    def bounds(self) -> dict[str, Ends]:
        """Every average if all ties were lost, and if all were won; ties count as the variant
        says."""
        share = 0.5 if self.settings.variant == "sound" else 0.0
        lms, ss = (
            (of - share * 100 * tied / n, of + (1 - share) * 100 * tied / n)
            for of, tied, n in zip(self.rates, self.tied, (2 * self.n, self.n), strict=True)
        )
        least, most = (points.averages(lms[end], ss[end], self.n) for end in (0, 1))
        ends = {name: (least[name], most[name]) for name in least}
        for suffix in ("", "_micro"):
            ends[f"icat{suffix}"] = icat_range(ends[f"lms{suffix}"], ends[f"ss{suffix}"])
        low, high = icat_range(lms, ss)
        ends["icat_term_mean"] = low.mean(), high.mean()
        return {name: (float(low), float(high)) for name, (low, high) in ends.items()}

    def settled(self, name: str, at: int) -> Spread:
        """Of ss, with all ties, and all that are missing, lost or won."""
        counts, missing = self.part.counts, self.part.missing
        won = counts[:, points.SS_OF == 1].sum(axis=(1, 2, 3))
        if at == WON:
            won += counts[..., 1].sum(axis=(1, 2)) + missing
        settled = np.zeros_like(counts)
        settled[:, points.WON_ONLY, 0, 0] = won
        settled[:, points.LOST_ONLY, 0, 0] = self.part.n + missing - won
        every = Coverage(int(settled.sum()))
        part = replace(self.part, counts=settled, coverage=every)
        return Averages(part, self.settings).spread(name)

    # ---------------------------------------------------------------------------- how far off

    def spread(self, name: str) -> Spread:
        weights = self.n / self.n.sum() if name.endswith("_micro") else None
        terms = len(self.n) if weights is None else effective(weights)
        return self.over_terms(name, weights) if terms >= FEW_TERMS else self.within_terms(name)

    def over_terms(self, name: str, weights: Floats | None = None) -> Spread:
        """Terms stand for others like them: Student's t over terms, which weigh alike, or as many
        items as they have."""
        agreed = self._of_items(name, "terms agree", ": all terms agree", LIKE_THESE)
        if name in ("icat", "icat_micro"):
            return self._icat_over_terms(agreed, weights)
        lms, ss = self.rates
        values = {"lms": lms, "ss": ss, "icat": icat(lms, ss)}[BASE[name]]
        mean = StudentMean.of(values, weights)
        # Terms that are all alike show no spread, which is not certainty.
        known = over_units(mean, "target terms") if mean.error > SAME else agreed
        if BASE[name] == "lms":
            share = StudentShare(mean, int(self.n.sum()))
            known = replace(
                known,
                interval=lambda level: (*share.interval(level), "Wilson over target terms"),
                p=partial(share.p, NULL_VALUE),
                test="score test over target terms",
            )
        return known if name in TESTED else replace(known, test="")

    def _icat_over_terms(self, agreed: Spread, weights: Floats | None) -> Spread:
        """The smaller of both sides, each with the spread that lms and ss have together."""
        means = [StudentMean.of(side, weights) for side in side_values(*self.rates, weights)]
        if max(mean.error for mean in means) <= SAME:
            return agreed

        def interval(level: float) -> Interval:
            low, high = np.clip(smaller(mean.interval(level) for mean in means), 0.0, 100.0)
            return float(low), float(high), "t over target terms"

        return replace(agreed, interval=interval)

    @cached_property
    def draws(self) -> dict[str, Floats]:
        """Of items drawn again within their terms."""
        settings, values = self.settings, (points.LMS_OF, points.SS_OF)
        rng = generator(settings.seed, self.part.slice)
        lms, ss = resampled_means(self.outcomes, values, settings.resamples, rng, settings.level)
        return points.averages(100 * lms, 100 * ss, self.n)

    def within_terms(self, name: str) -> Spread:
        """Too few terms to stand for others: they are held fixed, and items are drawn within
        them."""
        agreed = self._of_items(name, "items agree; terms held fixed", ", terms held fixed", THESE)

        def interval(level: float) -> Interval:
            low, high = self._drawn(name, level)
            how = "percentile bootstrap over items, no narrower than Wilson; terms held fixed"
            if high - low <= SAME:
                low, high, how = agreed.interval(level)
            elif BASE[name] != "icat":
                least, most = self._wilson(name, level)
                low, high = min(low, least), max(high, most)
            # With few items draws may all be on one side of the value.
            return min(low, agreed.value), max(high, agreed.value), how

        error = float(self.draws[name].std())
        seen = partial(detectable, error) if error > SAME else agreed.detectable
        return replace(agreed, interval=interval, detectable=seen)

    def _drawn(self, name: str, level: float) -> Ends:
        if name not in ("icat", "icat_micro"):
            return percentile(self.draws[name], level)
        lms, ss = (self.draws[name.replace("icat", of)] for of in ("lms", "ss"))
        low, high = smaller(percentile(side, level) for side in sides(lms, ss))
        return low, min(100.0, high)

    def _of_items(self, name: str, agreed: str, held: str, scope: str) -> Spread:
        """What as many independent items show, where nothing else varies."""
        return Spread(
            self.values[name],
            lambda level: (*self._unanimous(name, level), f"Wilson: all {agreed}"),
            lambda: sign_flip([np.repeat(TESTED[name] - 0.5, row) for row in self.outcomes]),
            f"sign flips of items{held}" if name in TESTED else "",
            partial(detectable, 50 / sqrt(self.part.coverage.answered)),
            scope=scope,
        )

    def _wilson(self, name: str, level: float) -> Ends:
        """As if all items were of one term."""
        return wilson_percent(self.values[name], self.part.coverage.answered, level)

    def _unanimous(self, name: str, level: float) -> Ends:
        """Wilson's interval for ss and lms; for icat the range it takes over both."""
        ss = self._wilson("ss", level)
        lms = self._wilson("lms", level) if self.has("lms") else (0.0, 100.0)
        if BASE[name] != "icat":
            return ss if BASE[name] == "ss" else lms
        low, high = icat_range(
            (np.array(lms[0]), np.array(lms[1])), (np.array(ss[0]), np.array(ss[1]))
        )
        return float(low), float(high)


# ---------------------------------------------------------------------------------- sides of icat


def sides(lms: Floats, ss: Floats) -> Sides:
    return lms * ss / 50, lms * (100 - ss) / 50


def side_values(lms: Floats, ss: Floats, weights: Floats | None = None) -> Sides:
    """icat is the smaller of two sides, lms * ss / 50 and lms * (100 - ss) / 50 (StereoSet, section
    5). Of each side one value per term, from such values of lms and ss: their mean is the side,
    their spread its spread to the first order."""
    middle, at = (float(np.average(of, weights=weights)) for of in (lms, ss))
    return (
        (middle * ss + at * (lms - middle)) / 50,
        (middle * (100 - ss) + (100 - at) * (lms - middle)) / 50,
    )


def smaller(ends: Iterable[Ends]) -> Ends:
    lows, highs = zip(*ends, strict=True)
    return min(lows), min(highs)


@dataclass(frozen=True)
class DrawnValue:
    """Known from draws of items, where terms are held fixed."""

    draws: Floats
    free = None

    @cached_property
    def value(self) -> float:
        return float(np.median(self.draws))

    def interval(self, level: float) -> Ends:
        return percentile(self.draws, level)

    def p(self) -> float:
        return bootstrap_p(self.draws)

    def detectable(self, level: float) -> float:
        return detectable(float(self.draws.std()), level)


Known = StudentMean | DrawnValue
"""A difference of two sides, and how far it may be off."""


@dataclass(frozen=True)
class Gap:
    """The difference of two icats; `cells[i][j]` is the second's side j less the first's side i.

    icat is the smaller of lms x ss / 50 and lms x (100 - ss) / 50: two sides that bend nowhere,
    each with an interval of its own. A difference is, whichever sides they are, the smallest over
    the second's of the largest over the first's of their differences, and just as well the largest
    of the smallest; so both its ends come from the intervals of all four. Sides that merely look
    smaller do not hold it where both systems are near 50 and alike: such an interval covered .80.
    """

    cells: Sequence[Sequence[Known]]

    @classmethod
    def of(cls, known: Callable[[Floats], Known], first: Sides, second: Sides) -> Gap:
        """From one value per term of each side, or from the same draws of items for both."""
        return cls([[known(after - before) for after in second] for before in first])

    def interval(self, level: float) -> Ends:
        ends = np.array([[cell.interval(level) for cell in row] for row in self.cells])
        lows, highs = ends[..., 0], ends[..., 1]
        return float(lows.min(axis=1).max()), float(highs.max(axis=0).min())

    def p(self) -> float:
        """That there is none: below 1 - level just where the interval leaves 0 out."""
        p = np.array([[cell.p() for cell in row] for row in self.cells])
        value = np.array([[cell.value for cell in row] for row in self.cells])
        above, below = np.where(value > 0, p, 1.0), np.where(value < 0, p, 1.0)
        return float(min(above.max(axis=1).min(), below.max(axis=0).min()))

    @property
    def has_spread(self) -> bool:
        low, high = self.nearest.interval(0.5)
        return high - low > SAME or self.nearest.value == 0

    @property
    def nearest(self) -> Known:
        """Of the sides that are the smaller ones as far as is known."""
        row = max(self.cells, key=lambda cells: cells[0].value)
        return min(row, key=lambda cell: cell.value)
