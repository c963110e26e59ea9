"""What a server may cost, in tokens or money. Nothing is sent that might not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

from stereometer.backends.server.refusals import Late
from stereometer.errors import BudgetSpent, UsageError

CHARACTERS_A_TOKEN = 3
"""A careful guess: English has four."""
ADDED_TOKENS = 4096
"""What a server may read and write beside the question: a system prompt, hidden reasoning."""


Size = tuple[int, int]
"""Tokens read and written."""


def guessed(text: str) -> int:
    return len(text) // CHARACTERS_A_TOKEN + 8


def size_of(body: Mapping[str, Any]) -> Size:
    """What a question may cost, before it is sent."""
    limit = body.get("max_tokens", body.get("max_completion_tokens", 0))
    return guessed(_text(body)), int(limit)


def _text(body: Mapping[str, Any]) -> str:
    messages = (message["content"] for message in body.get("messages", ()))
    return "".join([body.get("prompt", ""), *messages])


def used_by(answer: Any, body: Mapping[str, Any]) -> Size:
    """What the server says it read and wrote, as far as that can be; our guess where it says
    nothing or what cannot be."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counts = usage if isinstance(usage, dict) else {}
    guess, most = size_of(body), _most(body)
    if not _is_count(counts.get("prompt_tokens")):
        return guess
    stated = counts["prompt_tokens"], counts.get("completion_tokens", 0)
    read, written = (
        min(count, limit) if _is_count(count) else otherwise
        for count, otherwise, limit in zip(stated, guess, most, strict=True)
    )
    return read, written


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _most(body: Mapping[str, Any]) -> Size:
    """A token has at least one byte; what a server adds of its own is bounded."""
    read, written = len(_text(body).encode("utf-8", "replace")), size_of(body)[1]
    return read + ADDED_TOKENS, written + ADDED_TOKENS


@dataclass
class Budget:
    """Limits of one run, and what is spent and reserved."""

    tokens: int | None = None
    money: float | None = None
    price: tuple[float, float] = (0.0, 0.0)
    """Of one token read and one written."""
    spent: list[int] = field(default_factory=lambda: [0, 0])
    reserved: list[int] = field(default_factory=lambda: [0, 0])
    short: int = 0
    """Tokens by which a guess was below what the server then counted, at most."""
    _settled: Condition = field(default_factory=Condition, repr=False)

    def paid(self, body: Mapping[str, Any], ask: Callable[[], Any]) -> Any:
        """What comes of asking once, as soon as there is room for it; counted as the server counts
        it. What came too late was answered all the same, and is paid for."""
        size = size_of(body)
        place = self._reserve(size)
        used = (0, 0)
        try:
            answer = ask()
            used = used_by(answer, body)
            return answer
        except Late:
            used = size
            raise
        finally:
            self._settle(size, place, used)

    def _reserve(self, size: Size) -> Size:
        """Keeps a place for a request; while others are under way it waits for what they leave."""
        with self._settled:
            while not self._fits(place := (size[0] + self.short, size[1])):
                if not any(self.reserved):
                    raise BudgetSpent(
                        f"The budget of {self} does not hold the next request. Nothing more was "
                        "sent. Answers so far are kept; the same command with a larger --budget "
                        "goes on."
                    )
                self._settled.wait()
            for at in (0, 1):
                self.reserved[at] += place[at]
            return place

    def _fits(self, size: Size) -> bool:
        after = [self.spent[at] + self.reserved[at] + size[at] for at in (0, 1)]
        return (self.tokens is None or sum(after) <= self.tokens) and (
            self.money is None or self._cost(after) <= self.money
        )

    def _settle(self, size: Size, place: Size, used: Size) -> None:
        with self._settled:
            for at in (0, 1):
                self.reserved[at] -= place[at]
                self.spent[at] += used[at]
            self.short = max(self.short, used[0] - size[0])
            self._settled.notify_all()

    def _cost(self, sizes: list[int]) -> float:
        return sum(size * price for size, price in zip(sizes, self.price, strict=True))

    def __str__(self) -> str:
        if self.money is not None:
            return f"${self.money:g} (${self._cost(self.spent):.4f} spent)"
        return f"{self.tokens} tokens ({sum(self.spent)} spent)"


def budget_of(limit: str | None, price: str | None) -> Budget:
    """`200000`, or `$2.50` with the prices of a million tokens read and written, `0.15/0.60`."""
    prices = _prices(price) if price else (0.0, 0.0)
    if not limit:
        return Budget(price=prices)
    match = re.fullmatch(r"(\$?)(\d+(?:\.\d+)?)(k|m)?", limit.strip().lower())
    if not match or (match[1] and match[3]) or not float(match[2]):
        raise UsageError(
            f"--budget '{limit}' is not understood. Give a number of tokens, or an amount after a "
            "dollar sign. For instance 200k or '$2.50'."
        )
    if not match[1]:
        unit = {"k": 1000, "m": 1_000_000}.get(match[3] or "", 1)
        return Budget(tokens=int(float(match[2]) * unit), price=prices)
    if prices == (0.0, 0.0):
        raise UsageError(
            "A budget in money needs a price. Servers do not state theirs. Add --price "
            "READ/WRITTEN for a million tokens, such as 0.15/0.60."
        )
    return Budget(money=float(match[2]), price=prices)


def _prices(text: str) -> tuple[float, float]:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", text.strip())
    if not match:
        raise UsageError(
            f"--price '{text}' is not understood. Give the price of a million tokens read and of "
            "a million written. For instance 0.15/0.60."
        )
    return float(match[1]) / 1e6, float(match[2]) / 1e6
