"""Who was asked and who answered: the bookkeeping that comes before any number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from stereometer.core.shapes.verdicts import FEW_TERMS
from stereometer.core.show.numbers import count
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import effective
from stereometer.core.types import Estimate, Item, Score, Settings, Slice


@dataclass
class Coverage:
    """The denominator of a slice."""

    count: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    """Of those skipped, the ones that were asked."""

    @classmethod
    def of(cls, scores: Iterable[Score]) -> Coverage:
        coverage = cls()
        for score in scores:
            coverage.add(score)
        return coverage

    def add(self, score: Score) -> None:
        self.count += 1
        if score.skipped is not None:
            self.skipped[score.skipped] += 1
            self.missing += score.unanswered

    @property
    def answered(self) -> int:
        return self.count - self.skipped.total()

    def shortfall(self, settings: Settings, counted: str = "items were answered") -> str | None:
        """Why this slice has no score, if it has none."""
        if self.answered == 0:
            return "nothing could be scored" if self.count else "no items"
        if self.answered / self.count < settings.coverage:
            floor = f"below the coverage floor of {settings.coverage:.0%}"
            return f"only {self.answered} of {self.count} {counted}, {floor}"
        return None

    def estimate(self, name: str, slice_: Slice, ideal: float | None, **known: Any) -> Estimate:
        """An estimate of this slice: without a value, unless that is among what is known."""
        nothing, counts = (None, None, None), (self.answered, self.count, 0)
        empty = Estimate(name, slice_, *nothing, *counts, ideal, skipped=dict(self.skipped))
        return replace(empty, missing=self.missing, **known)


Wording = tuple[tuple[str, str], ...]


def wording(of: Item | Score) -> Wording:
    """What two copies share: the text of every candidate, or the number that stands for it; empty
    where neither is known."""
    if not of.texts and isinstance(of, Score) and of.copy:
        return (("copy", str(of.copy)),)
    return tuple(sorted(of.texts.items()))


def term(slices: Slice, unit_by: Sequence[str]) -> tuple[str, ...]:
    """Of an item whose slices name one; else empty."""
    named = tuple(slices.get(name, "") for name in unit_by)
    return named if all(named) else ()


def copied(items: Iterable[Item], unit_by: Sequence[str]) -> Iterator[str]:
    """Notes on texts that occur more than once: under one term, in several, and under none."""
    seen: dict[object, list[tuple[str, ...]]] = {}
    for item in items if unit_by else ():
        asked = wording(item), repr(sorted(item.also_asked.items()))
        seen.setdefault(asked, []).append(term(item.slices, unit_by))
    alone = sum(terms.count(()) for terms in seen.values() if terms.count(()) > 1)
    if alone:
        yield f"{alone:,} items of no known term share their texts: those of one text are one draw."
    if across := sum(len({*terms} - {()}) > 1 for terms in seen.values()):
        yield f"Under more than one target term: {count(across, 'text')}, counted in each."


def repeated(items: Iterable[Score]) -> dict[Wording, int]:
    """A number, from 1, for each wording that more than one item has."""
    several = (words for words, n in Counter(map(wording, items)).items() if words and n > 1)
    return {words: number for number, words in enumerate(several, start=1)}


LOST, TIED, WON = range(3)
TIE = 1e-6
"""`sound`: scores closer than this are a tie."""
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


@dataclass(frozen=True)
class Points:
    """Items by what they say; `shape` is that of the table of all they may say."""

    shape: tuple[int, ...]
    strata: list[Stratum] = field(default_factory=list)

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
        return cls(shape, list(strata.values()))

    def values(self, name: str) -> list[str]:
        """Of a slice, sorted."""
        return sorted({stratum.slices[name] for stratum in self.strata if name in stratum.slices})

    @property
    def terms(self) -> list[tuple[str, ...]]:
        return sorted({stratum.unit.term for stratum in self.strata})

    def within(self, slice_: Slice) -> PointSample:
        here = [stratum for stratum in self.strata if slice_.items() <= stratum.slices.items()]
        units = sorted({stratum.unit for stratum in here})
        rows, coverage = {unit: at for at, unit in enumerate(units)}, Coverage()
        counts = np.zeros((len(units), *self.shape), dtype=np.int64)
        missing = np.zeros(len(units), dtype=np.int64)
        for stratum in here:
            at, of = rows[stratum.unit], stratum.coverage
            counts[at] += stratum.counts
            missing[at] += of.missing
            coverage.count += of.count
            coverage.skipped += of.skipped
            coverage.missing += of.missing
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

    @cached_property
    def n(self) -> Ints:
        """Items of each unit that were answered."""
        return sizes(self.counts)

    @property
    def terms(self) -> int | None:
        """How many, items of no known term apart; None where no term is known."""
        return sum(bool(unit.term) for unit, n in zip(self.units, self.n, strict=True) if n) or None

    @cached_property
    def rows(self) -> Ints:
        """A table for each unit that answered; an item that is by itself is a unit of its own."""
        together = np.array([unit != ALONE for unit in self.units], dtype=bool)
        alone = single(self.counts[~together].sum(axis=0))
        return np.concatenate([self.counts[together & (self.n > 0)], alone])

    @property
    def weights(self) -> Floats:
        """The share of all items that each row (a term) holds: an average over items weighs by
        it."""
        weights: Floats = sizes(self.rows) / self.n.sum()
        return weights

    @property
    def fixed_terms(self) -> bool:
        """Whether there are too few terms, or too few large ones, to stand for others."""
        return self.terms is not None and effective(self.weights) < FEW_TERMS

    @property
    def copies(self) -> Ints:
        """How many items have each of the texts that several have."""
        return self.n[[unit.copy > 0 for unit in self.units]]

    @property
    def independent(self) -> float:
        """As what share of all items they count, terms held fixed: those of one text as one."""
        total, copies = int(self.n.sum()), self.copies
        return total / int(total - copies.sum() + (copies**2).sum())

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
