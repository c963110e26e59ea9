"""A metric on some of the items of a run, and how far that moves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stereometer.stats.intervals import Floats, percentile
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

    @property
    def difference(self) -> float | None:
        return None if self.kept is None or self.value is None else self.kept - self.value

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"difference": self.difference}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shift:
        return cls(**{key: field for key, field in value.items() if key != "difference"})

    def spanned(self, draws: Floats, interval: str, level: float) -> Shift:
        """With the interval of its draws, those that are defined, and what it says."""
        known = draws[~np.isnan(draws)]
        low, high = percentile(known, level) if known.size else (0.0, 0.0)
        verdict = WITHIN if low <= 0 <= high else "up" if low > 0 else "down"
        return replace(self, low=low, high=high, interval=interval, verdict=verdict)

    def without(self, why: str) -> Shift:
        """Where too little is kept for a value."""
        return Shift(
            self.name, self.slice, self.ideal, self.value, self.n, None, self.n_kept, why=why
        )
