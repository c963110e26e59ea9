"""What a server may cost: tokens, or money where a price is given. Nothing is sent that might not fit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from threading import Lock

from stereometer.errors import UsageError

CHARACTERS_A_TOKEN = 3
"""A careful guess: English has four."""


def guessed(text: str) -> int:
    return len(text) // CHARACTERS_A_TOKEN + 8


@dataclass
class Budget:
    """Limits of one run, and what is spent and reserved."""

    tokens: int | None = None
    money: float | None = None
    price: tuple[float, float] = (0.0, 0.0)
    """Of one token read and one written."""
    spent: list[int] = field(default_factory=lambda: [0, 0])
    reserved: list[int] = field(default_factory=lambda: [0, 0])
    _lock: Lock = field(default_factory=Lock, repr=False)

    def reserve(self, read: int, written: int) -> bool:
        """Whether a request of this size still fits, whatever is under way; if so, its place is kept."""
        with self._lock:
            after = [self.spent[at] + self.reserved[at] + size for at, size in enumerate((read, written))]
            if self.tokens is not None and sum(after) > self.tokens:
                return False
            if self.money is not None and self._cost(after) > self.money:
                return False
            self.reserved[0] += read
            self.reserved[1] += written
            return True

    def settle(self, reserved: tuple[int, int], used: tuple[int, int]) -> None:
        with self._lock:
            for at in (0, 1):
                self.reserved[at] -= reserved[at]
                self.spent[at] += used[at]

    def _cost(self, sizes: list[int]) -> float:
        return sum(size * price for size, price in zip(sizes, self.price, strict=True))

    def __str__(self) -> str:
        if self.money is not None:
            return f"${self.money:g} (${self._cost(self.spent):.4f} spent)"
        return f"{self.tokens} tokens ({sum(self.spent)} spent)"


def budget_of(limit: str | None, price: str | None) -> Budget:
    """`200000`, or `$2.50` with the prices of a million tokens read and written, `0.15/0.60`."""
    prices = _prices(price) if price else None
    if not limit:
        return Budget(price=prices or (0.0, 0.0))
    found = re.fullmatch(r"(\$?)(\d+(?:\.\d+)?)(k|m)?", limit.strip().lower())
    if not found or (found[1] and found[3]) or not float(found[2]):
        raise UsageError(
            f"--budget '{limit}' is not understood. It is a number of tokens, or money after a dollar sign. For instance 200k or '$2.50'."
        )
    if not found[1]:
        return Budget(tokens=int(float(found[2]) * {"k": 1000, "m": 1_000_000}.get(found[3] or "", 1)), price=prices or (0.0, 0.0))
    if prices is None or prices == (0.0, 0.0):
        raise UsageError(
            "A budget in money needs a price. Servers do not tell theirs. Add --price READ/WRITTEN for a million tokens, such as 0.15/0.60."
        )
    return Budget(money=float(found[2]), price=prices)


def _prices(text: str) -> tuple[float, float]:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", text.strip())
    if not found:
        raise UsageError(f"--price '{text}' is not understood. It is the price of a million tokens read / written. For instance 0.15/0.60.")
    return float(found[1]) / 1e6, float(found[2]) / 1e6
