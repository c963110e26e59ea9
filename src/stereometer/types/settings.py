"""What the numbers depend on besides scores."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

from stereometer.errors import UsageError
from stereometer.types.items import VARIANTS, Variant

LEAST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000


WHOLE = ("limit", "seed", "resamples")


def check_number(name: str, value: object) -> None:
    """Raises for what is no number, such as one in quotes."""
    whole = name in WHOLE
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        raise UsageError(
            f"{name} is {value!r}. It takes a {'whole ' if whole else ''}number. Write it without "
            f"quotes, such as {name}={'100' if whole else '0.5'}."
        )


def check_limit(limit: object) -> None:
    """Raises for a number of items that nothing could be measured on; None is no limit."""
    if limit is not None:
        check_number("limit", limit)
        if int(str(limit)) < 1:
            raise UsageError(
                f"The limit is {limit}. At least one item is needed. Leave it out for all of them."
            )


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
        for name in ("seed", "resamples", "level", "coverage", "delta", "ties"):
            check_number(name, getattr(self, name))
        if self.resamples < LEAST_RESAMPLES:
            raise UsageError(
                f"{self.resamples} resamples are too few for a 95 % interval. "
                f"At least {LEAST_RESAMPLES} are needed. The default is 10000."
            )
        if self.resamples > MOST_RESAMPLES:
            raise UsageError(
                f"{self.resamples} resamples are too many to hold in memory. "
                f"More than {MOST_RESAMPLES} change no digit that is shown. The default is 10000."
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
