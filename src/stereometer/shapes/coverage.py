"""Who was asked and who answered: the bookkeeping that comes before any number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from stereometer.types import Estimate, Score, Settings, Slice


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

    def __iadd__(self, other: Coverage) -> Coverage:
        self.count += other.count
        self.skipped += other.skipped
        self.missing += other.missing
        return self

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
