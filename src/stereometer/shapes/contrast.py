"""Shapes whose items set a stereotype against its opposite: what findings ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import ClassVar

from stereometer.shapes.shape import Shape
from stereometer.shapes.shift import Shift
from stereometer.types import Estimate, Score, Settings, Variant


class Contrast(Shape, ABC):
    """Items with a candidate for the stereotype and one for its opposite, the first two."""

    shares: ClassVar[tuple[str, ...]] = ()
    """Metrics in percent that any way of asking gives."""
    unrelated: ClassVar[str | None] = None
    """The candidate that makes no sense, where items have one."""

    def recounted(self, scores: Iterable[Score], settings: Settings) -> list[Estimate] | None:
        return self.summarize(scores, settings)

    def task(self, score: Score) -> str:
        """Scores of one task are on one scale."""
        return self.name

    def term(self, score: Score) -> str:
        """Items of one term are not independent."""
        return score.item

    @abstractmethod
    def side(self, score: Score, variant: Variant) -> int:
        """1 where an answered item prefers the stereotype, -1 where it prefers the opposite, 0 for
        a tie, whatever the variant makes of one."""

    @abstractmethod
    def shifts(
        self, scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
    ) -> Iterator[Shift]:
        """Every metric on all answered items and on those kept, by headline slice or overall."""
