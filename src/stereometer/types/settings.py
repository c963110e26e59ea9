"""What the numbers depend on besides scores."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.errors import UsageError
from stereometer.types.items import VARIANTS, Variant

LEAST_RESAMPLES = 100


@dataclass(frozen=True)
class Settings:
    """What the numbers depend on besides scores."""

    variant: Variant = "sound"
    seed: int = 0
    resamples: int = 10_000
    level: float = 0.95
    coverage: float = 0.90
    """Below this share of answered items a slice has no score, only a reason."""
    delta: float = 5.0
    """How many points from 50 are close enough to be called equivalent."""
    ties: float = 0.10
    """Above this share of ties a slice has no score; 1 where ties are meant."""

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UsageError(
                f"There is no variant '{self.variant}'. The variants are {', '.join(VARIANTS)}. "
                "See docs/methods.md for what each computes."
            )
        if self.resamples < LEAST_RESAMPLES:
            raise UsageError(
                f"{self.resamples} resamples are too few for a 95 % interval. "
                f"At least {LEAST_RESAMPLES} are needed. The default is 10000."
            )
        if self.seed < 0:
            raise UsageError(
                f"The seed is {self.seed}. A seed is a number from 0 up. The default is 0."
            )
        if not 0 <= self.coverage <= 1:
            raise UsageError(
                f"The coverage floor is {self.coverage}. It is a share of items. "
                "Choose a number from 0 to 1."
            )
        if not 0 < self.delta < 50:
            raise UsageError(
                f"Delta is {self.delta:g} points. It is a distance from 50. "
                "Choose a number between 0 and 50; the default is 5."
            )
