"""A question that was asked in several wordings. They stand for others like them, so what is said
of a way of asking, or of two of them, is over wordings as well as over items.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from stereometer.core.shapes import verdicts
from stereometer.core.stats.crossed import FEWEST_WORDINGS, Crossed
from stereometer.core.stats.intervals import Floats
from stereometer.core.stats.means import StudentMean
from stereometer.core.stats.tests import Said, corrected
from stereometer.core.types import Estimate, Slice
from stereometer.wings.sweep.reading import PartQuestion
from stereometer.wings.sweep.shape import ANOTHER, ASKED, OVER, SHIFT, SPREAD, TURNS, WORDING

BOTH = "t over items and wordings"
DIFFER = "F of the variance between wordings"
ONE_MORE = "t over wordings, of one more"
WAYS = "Holm over ways of asking"
LIKE_BOTH = "items and wordings like these"
Cell = tuple[str, ...]
"""What was chosen but for the wording, in the order of ASKED: the first decides the wordings."""
ByWording = Mapping[str, Floats]


@dataclass(frozen=True)
class Cells:
    """The readings of a question, with a cell for all wordings of one way of asking."""

    asked: PartQuestion
    readings: Sequence[Estimate]
    by_unit: Mapping[int, Floats]
    """Of the readings with a score."""
    weights: Floats

    @cached_property
    def members(self) -> Mapping[Cell, list[int]]:
        cells: dict[Cell, list[int]] = {}
        for at, row in enumerate(self.readings):
            cells.setdefault(tuple(row.slice.get(name, "") for name in ASKED), []).append(at)
        return cells

    @cached_property
    def scored(self) -> Mapping[Cell, ByWording]:
        """The cells in which enough wordings have a score."""
        return {
            cell: {self.readings[at].slice[WORDING]: self.by_unit[at] for at in known}
            for cell, ats in self.members.items()
            if len(known := [at for at in ats if at in self.by_unit]) >= FEWEST_WORDINGS
        }

    def crossed(
        self, every: Iterable[tuple[str, ByWording]], shares: Mapping[str, float]
    ) -> Crossed:
        """Of sets of wordings: the mean of all that is given of each, times its share."""
        columns: dict[tuple[str, str], list[Floats]] = {}
        for of, by_wording in every:
            for wording, values in by_wording.items():
                columns.setdefault((of, wording), []).append(values)
        number = {name: at for at, name in enumerate(shares)}
        values = np.stack([np.mean(each, axis=0) for each in columns.values()], axis=1)
        sets = np.array([number[of] for of, _ in columns])
        return Crossed(values, self.weights, sets, {number[of]: shares[of] for of in shares})

    @cached_property
    def overall(self) -> Crossed | None:
        """Every way of asking counts the same."""
        every = [(cell[0], of) for cell, of in self.scored.items()]
        return self.crossed(every, _shares(every)) if every else None

    @property
    def rows(self) -> list[Estimate]:
        """Of every way of asking, of all of them, and of every choice between them."""
        level, delta = self.asked.settings.level, self.asked.settings.delta

        def says(row: Estimate, p: float) -> Said:
            if row.name == OVER:
                return verdicts.PREFERENCE.of(row, p, level, delta)
            return None, p < 1 - level

        every = [*self._ways(), *self._all_ways(), *self._shifts()]
        return corrected(every, says, _family, known=lambda row: verdicts.within_family(row, level))

    def _ways(self) -> Iterator[Estimate]:
        for cell, ats in self.members.items():
            empty = self._empty(dict(zip(ASKED, cell, strict=True)), len(ats))
            if cell in self.scored:
                crossed = self.crossed([(cell[0], self.scored[cell])], {cell[0]: 1.0})
                yield from self._of(empty, crossed, WAYS, WAYS)
            else:
                absent = [self.readings[at].why or "" for at in ats if at not in self.by_unit]
                some, every = len(ats) - len(absent), len(ats)
                have = "has" if some < 2 else "have"
                why = f"{f'only {some}' if some else 'none'} of {every} wordings {have} a score"
                (most, _), *_ = Counter(absent).most_common(1)
                yield replace(empty, why=f"{why}: {most}")

    def _all_ways(self) -> Iterator[Estimate]:
        if self.overall is not None:
            wordings = {
                (cell[0], self.readings[at].slice[WORDING])
                for cell, ats in self.members.items()
                for at in ats
            }
            empty = self._empty({}, len(wordings))
            yield from self._of(empty, self.overall, verdicts.OVERALL, TURNS)

    def _empty(self, chosen: Slice, asked: int) -> Estimate:
        place = {name: value for name, value in chosen.items() if value}
        return Estimate(OVER, {**self.asked.slice, **place}, None, None, None, 0, asked, 0, None)

    def _of(
        self, empty: Estimate, crossed: Crossed, family: str, of_spread: str
    ) -> Iterator[Estimate]:
        """The mean over wordings, where one more may lie, and how far they are apart."""
        level, mean, spread = self.asked.settings.level, crossed.mean, crossed.spread
        by_wording = crossed.weights @ crossed.values
        place = replace(empty, n=by_wording.size, scope=LIKE_BOTH)
        near = mean.percent(verdicts.narrower(level))
        yield replace(
            _with_ends(place, mean, level),
            ideal=verdicts.NULL_VALUE,
            least=float(by_wording.min()),
            most=float(by_wording.max()),
            equivalent=verdicts.equivalent(near, self.asked.settings),
            detectable=mean.detectable(level),
            correction=family,
        )
        low, high = crossed.another(level)
        more = replace(place, name=ANOTHER, value=mean.value, interval=ONE_MORE)
        yield replace(more, low=max(0.0, low), high=min(100.0, high))
        apart = replace(place, name=SPREAD, value=spread.value, p=spread.p, test=DIFFER)
        if spread.has_noise:
            low, high = spread.interval(level)
            apart = replace(apart, low=low, high=high, interval="chi-squared over wordings")
        yield replace(apart, free=spread.free, correction=of_spread)

    def _shifts(self) -> Iterator[Estimate]:
        """Of every choice: the second less the first, between ways that differ in nothing else."""
        matched: dict[tuple[str, str, str], list[tuple[Cell, Cell]]] = {}
        for first, second in combinations(self.scored, 2):
            differing = [at for at in range(len(ASKED)) if first[at] != second[at]]
            if len(differing) == 1:
                (at,) = differing
                matched.setdefault((ASKED[at], first[at], second[at]), []).append((first, second))
        for (choice, before, after), pairs in matched.items():
            each = [moved for pair in pairs if (moved := self._moved([pair])) is not None]
            whole = self._moved(pairs)
            if whole is not None:
                place = {"choice": choice, "from": before, "to": after}
                ends = [one.mean.value for one in each]
                empty = replace(self._empty(place, len(pairs)), name=SHIFT, n=len(each))
                shift = _with_ends(empty, whole.mean, self.asked.settings.level, null=0.0)
                yield replace(shift, least=min(ends), most=max(ends), correction=TURNS)

    def _moved(self, pairs: Sequence[tuple[Cell, Cell]]) -> Crossed | None:
        """In the same wordings where both have them; each with its own where they are others."""
        if pairs[0][0][0] != pairs[0][1][0]:
            every = [(cell[0], self.scored[cell]) for pair in pairs for cell in pair]
            return self.crossed(every, {pairs[0][0][0]: -1.0, pairs[0][1][0]: 1.0})
        enough = []
        for first, second in pairs:
            before, after = self.scored[first], self.scored[second]
            moved = {each: after[each] - before[each] for each in before if each in after}
            if len(moved) >= FEWEST_WORDINGS:
                enough.append((first[0], moved))
        return self.crossed(enough, _shares(enough)) if enough else None


def _family(row: Estimate) -> tuple[str, ...] | None:
    """What is tested together: ways of asking, their spreads, or choices."""
    if row.correction is None:
        return None
    return (TURNS,) if row.correction == TURNS else (row.name, row.correction)


def _shares(every: Sequence[tuple[str, ByWording]]) -> dict[str, float]:
    counts = Counter(of for of, _ in every)
    return {of: count / len(every) for of, count in counts.items()}


def _with_ends(
    empty: Estimate, mean: StudentMean, level: float, null: float = verdicts.NULL_VALUE
) -> Estimate:
    known = replace(empty, value=mean.value, p=mean.p(null), test=BOTH, free=mean.free)
    if not mean.has_spread:
        return replace(known, interval=verdicts.ALL_ALIKE)
    low, high = mean.percent(level) if null else mean.interval(level)
    return replace(known, low=low, high=high, interval=BOTH)


def over_wordings(joint: Estimate, cells: Cells) -> Estimate:
    """The joint test, which must hold over wordings like these too: the larger p counts."""
    overall = cells.overall
    if overall is None or joint.p is None:
        return joint
    p = max(joint.p, overall.mean.p(verdicts.NULL_VALUE))
    return replace(joint, p=p, test=f"{joint.test}; and {BOTH}, the larger p")
