"""Who was asked and who answered: the bookkeeping that comes before any number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from stereometer.types import Score, Settings


@dataclass
class Asked:
    """The denominator of a slice."""

    count: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, score: Score) -> None:
        self.count += 1
        if score.skipped is not None:
            self.skipped[score.skipped] += 1

    @property
    def answered(self) -> int:
        return self.count - self.skipped.total()

    def shortfall(self, settings: Settings) -> str | None:
        """Why this slice has no score, if it has none."""
        if self.answered == 0:
            return "nothing could be scored" if self.count else "no items"
        if self.answered / self.count < settings.coverage:
            return f"only {self.answered} of {self.count} items were answered, below the coverage floor of {settings.coverage:.0%}"
        return None
