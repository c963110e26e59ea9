"""Shapes whose items set a stereotype against its opposite: what findings ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar

from stereometer.shapes.differences import Flip, Shift
from stereometer.shapes.shape import Shape
from stereometer.types import Score, Settings, Variant


class Contrast(Shape, ABC):
    """Items with a candidate for the stereotype and one for its opposite, the first two."""

    preference: ClassVar[str]
    """The metric that says how often the first is preferred."""
    shares: ClassVar[tuple[str, ...]] = ()
    """Metrics in percent that any way of asking gives."""
    unrelated: ClassVar[str | None] = None
    """The candidate that makes no sense, where items have one."""

    def task(self, score: Score) -> str:
        """Scores of one task are on one scale."""
        return self.name

    def flip(self, first: Score, second: Score, variant: Variant) -> Flip | None:
        chosen = {0.0: self.candidates[1], 50.0: "tie", 100.0: self.candidates[0]}
        before, after = (self.points(score, variant)[self.preference] for score in (first, second))
        if before == after:
            return None
        return Flip(first.item, first.slices, chosen[before], chosen[after], after > before)

    @abstractmethod
    def side(self, score: Score, variant: Variant) -> int:
        """1 where an answered item prefers the stereotype, -1 where it prefers the opposite, 0 for
        a tie, whatever the variant makes of one."""

    @abstractmethod
    def shifts(
        self, scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
    ) -> Iterator[Shift]:
        """Every metric on all answered items and on those kept, by headline slice or overall."""
