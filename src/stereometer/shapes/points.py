"""One table of points: how many items of each unit say what, in any slice.

A kind of item says what an answer is counted as, a place in a table, and what each place adds to a
metric. Values, bounds, differences and shifts are sums over the rows of a sample. Slices are sums
over few strata, so that cost grows with items only in the counting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stereometer.shapes.copies import repeated, wording
from stereometer.shapes.coverage import Coverage
from stereometer.shapes.verdicts import FEW_TERMS
from stereometer.stats.intervals import Floats, Ints
from stereometer.stats.means import effective
from stereometer.types import Score, Slice

LOST, TIED, WON = range(3)
KINDS = 3
Place = int | tuple[int, ...]


class DrawnUnit(NamedTuple):
    """What items vary together with: those of their term; else those of the same texts."""

    term: tuple[str, ...] = ()
    """Empty where it is not known."""
    copy: int = 0
    """The number of a text that several items have; 0 for an item that is by itself."""


ALONE = DrawnUnit()


@dataclass
class Stratum:
    """Items of one unit that are in the same slices."""

    slices: Slice
    unit: DrawnUnit
    counts: Ints
    coverage: Coverage = field(default_factory=Coverage)


class Points:
    """Items by what they say; `shape` is that of the table of all they may say."""

    def __init__(self, shape: tuple[int, ...], strata: Iterable[Stratum] = ()) -> None:
        self.shape, self.strata = shape, list(strata)

    @classmethod
    def of(
        cls,
        entries: Iterable[tuple[Score, Place | None]],
        term_of: Callable[[Score], tuple[str, ...]],
        shape: tuple[int, ...],
    ) -> Points:
        """From what each item says, None where it was not answered, and its term, empty where none
        is known."""
        every = [(score, place, term_of(score)) for score, place in entries]
        known = all(named for *_, named in every)
        copies = {} if known else repeated(score for score, *_ in every)
        strata: dict[object, Stratum] = {}
        for score, place, named in every:
            unit = DrawnUnit(named) if named else DrawnUnit(copy=copies.get(wording(score), 0))
            key = unit, *score.slices.items()
            if key not in strata:
                strata[key] = Stratum(score.slices, unit, np.zeros(shape, dtype=np.int64))
            strata[key].coverage.add(score)
            if place is not None:
                strata[key].counts[place] += 1
        return cls(shape, strata.values())

    def values(self, name: str) -> list[str]:
        """Of a slice, sorted."""
        return sorted({stratum.slices[name] for stratum in self.strata if name in stratum.slices})

    def within(self, slice_: Slice) -> PointSample:
        here = [stratum for stratum in self.strata if slice_.items() <= stratum.slices.items()]
        units = sorted({stratum.unit for stratum in here})
        rows, coverage = {unit: at for at, unit in enumerate(units)}, Coverage()
        counts = np.zeros((len(units), *self.shape), dtype=np.int64)
        missing = np.zeros(len(units), dtype=np.int64)
        for stratum in here:
            coverage += stratum.coverage
            counts[rows[stratum.unit]] += stratum.counts
            missing[rows[stratum.unit]] += stratum.coverage.missing
        return PointSample(slice_, units, counts, missing, coverage)


@dataclass(frozen=True)
class PointSample:
    """The items of one slice: by unit, how many say what, and how many are missing."""

    slice: Slice
    units: Sequence[DrawnUnit]
    counts: Ints
    missing: Ints
    """Asked and not answered."""
    coverage: Coverage

    @property
    def total(self) -> Ints:
        counts: Ints = self.counts.sum(axis=0)
        return counts

    @property
    def terms(self) -> int | None:
        """How many, items of no known term apart; None where no term is known."""
        known = zip(self.units, sizes(self.counts), strict=True)
        return sum(bool(unit.term) for unit, answered in known if answered) or None

    @cached_property
    def rows(self) -> Ints:
        """A table for each unit that answered; an item that is by itself is a unit of its own."""
        together = np.array([unit != ALONE for unit in self.units], dtype=bool)
        alone = single(self.counts[~together].sum(axis=0))
        return np.concatenate([self.counts[together & (sizes(self.counts) > 0)], alone])

    @cached_property
    def n(self) -> Ints:
        """Items of the rows."""
        return sizes(self.rows)

    @property
    def weights(self) -> Floats:
        """Of the rows, by their items."""
        weights: Floats = self.n / self.n.sum()
        return weights

    @property
    def fixed_terms(self) -> bool:
        """Whether there are too few terms, or too few large ones, to stand for others."""
        return self.terms is not None and effective(self.weights) < FEW_TERMS

    @property
    def _copies(self) -> Iterator[int]:
        for unit, row in zip(self.units, self.counts, strict=True):
            if unit.copy:
                yield int(row.sum())

    @property
    def has_copies(self) -> bool:
        return any(self._copies)

    @property
    def independent(self) -> float:
        """As what share of all items they count, terms held fixed: those of one text as one."""
        total, copies = int(self.counts.sum()), list(self._copies)
        return total / (total - sum(copies) + sum(n * n for n in copies))

    def settled(self, at: int) -> PointSample:
        """Of items lost, tied and won: with all ties, and all that are missing, lost or won."""
        counts = self.counts.copy()
        counts[:, at] += counts[:, TIED] + self.missing
        counts[:, TIED] = 0
        return replace(self, counts=counts)


def sizes(rows: Ints) -> Ints:
    """How many items are counted in each row."""
    items: Ints = rows.sum(axis=tuple(range(1, rows.ndim)))
    return items


def single(table: Ints) -> Ints:
    """A table for each item that is counted in one."""
    rows = np.repeat(np.eye(table.size, dtype=np.int64), table.ravel(), axis=0)
    return rows.reshape(-1, *table.shape)
