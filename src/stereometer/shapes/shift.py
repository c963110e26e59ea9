"""A metric on some of the items of a run, and how far that moves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stereometer.types import Slice
from stereometer.types.document import Document

WITHIN = "within noise"


@dataclass(frozen=True)
class Shift(Document):
    """A metric on all answered items and on those kept; the shift is kept minus all."""

    name: str
    slice: Slice
    ideal: float
    value: float | None
    n: int
    kept: float | None
    n_kept: int
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    verdict: str | None = None
    why: str | None = None
    scope: str | None = None
    """What the interval speaks of: `terms like these`, `these terms`, `pairs like these`."""

    @property
    def difference(self) -> float | None:
        return None if self.kept is None or self.value is None else self.kept - self.value

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"difference": self.difference}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shift:
        return cls(**{key: field for key, field in value.items() if key != "difference"})

    def spanned(self, ends: tuple[float, float], interval: str, scope: str | None = None) -> Shift:
        """With its interval, how that was found, what it speaks of, and what it says."""
        low, high = ends
        verdict = WITHIN if low <= 0 <= high else "up" if low > 0 else "down"
        return replace(self, low=low, high=high, interval=interval, scope=scope, verdict=verdict)

    def without(self, why: str) -> Shift:
        """Where too little is kept for a value."""
        return Shift(
            self.name, self.slice, self.ideal, self.value, self.n, None, self.n_kept, why=why
        )
