"""What a server may cost, in tokens or money. Nothing is sent that might not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

from stereometer.core.asking.conversation import without_thinking
from stereometer.core.errors import BudgetSpent, UsageError
from stereometer.models.server.refusals import Filtered, Passing, Untaken

CHARACTERS_A_TOKEN = 3
"""A careful guess: English has four."""
UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
ADDED_TOKENS = 4096
"""What a server may read and write beside the question: a system prompt, hidden reasoning."""
MOST_CHARACTERS = 6
"""Of a token on average, spaces included. Ordinary text has 3 to 5 with the vocabularies of today,
other scripts fewer; only a few words in a row that are long and frequent have more. Whoever counts
fewer tokens is not believed: at worst an honest count is charged a little too high. A bound of 20
let a server state a quarter of what it read and wrote."""


Size = tuple[int, int]
"""Tokens read and written."""


def guessed(text: str) -> int:
    return len(text) // CHARACTERS_A_TOKEN + 8


def size_of(body: Mapping[str, Any]) -> Size:
    """What a question may cost, before it is sent."""
    limit = body.get("max_tokens", body.get("max_completion_tokens", 0))
    ids = _ids(body)
    return len(ids) or guessed(_text(body)), int(limit)


def _ids(body: Mapping[str, Any]) -> Sequence[int]:
    """The prompt where it is sent as tokens."""
    prompt = body.get("prompt", "")
    return () if isinstance(prompt, str) else prompt


def _text(body: Mapping[str, Any]) -> str:
    messages = (message["content"] for message in body.get("messages", ()))
    return "".join(["" if _ids(body) else body.get("prompt", ""), *messages])


def used_by(answer: Any, body: Mapping[str, Any]) -> Size:
    """What the server says it read and wrote, as far as that can be; our guess where it says
    nothing or what cannot be."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counts = usage if isinstance(usage, dict) else {}
    guess, text = size_of(body), _text(body)
    choice = first_choice(answer) or {}
    echoed = "echo" in body or "prompt_logprobs" in body
    read = max(_least(text), len(_ids(body)), _listed(choice) if echoed else 0)
    wrote = 0 if echoed else max(_least(_said(choice)), _listed(choice))
    # A token has at least one byte; what a server adds of its own is bounded.
    most = (len(_ids(body)) or len(text.encode("utf-8", "replace"))) + ADDED_TOKENS
    paid = _charged(counts.get("prompt_tokens"), read, most)
    if paid is None:
        return guess
    written = _charged(counts.get("completion_tokens"), wrote, guess[1] + ADDED_TOKENS)
    return paid, guess[1] if written is None else written


def _charged(stated: Any, least: int, most: int) -> int | None:
    """None for what is no count, or says that a text has no token."""
    if type(stated) is not int or stated < min(1, least):
        return None
    return min(max(stated, least), most)


def _least(text: str) -> int:
    return -(-len(text) // MOST_CHARACTERS)


def _listed(choice: Mapping[str, Any]) -> int:
    """Tokens that an answer names one by one: a count of our own."""
    logprobs = choice.get("logprobs")
    named: Mapping[str, Any] = logprobs if isinstance(logprobs, dict) else {}
    lists = (named.get("tokens"), named.get("content"), choice.get("prompt_logprobs"))
    return max(len(each) if isinstance(each, list) else 0 for each in lists)


def _said(choice: Mapping[str, Any]) -> str:
    """What was written, as far as it is text, with the thinking before it."""
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    return thinking_of(choice) + (text if isinstance(text, str) else "")


def thinking_of(choice: Mapping[str, Any]) -> str:
    """What a server sets apart as thinking, under either name."""
    message = choice.get("message")
    fields: Mapping[str, Any] = message if isinstance(message, dict) else choice
    texts = (fields.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in texts if isinstance(text, str) and text), "")


def thought_in(answer: Any) -> int:
    """Tokens of thinking: as the server counts them, or guessed from what it shows."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    stated = details.get("reasoning_tokens") if isinstance(details, dict) else None
    if type(stated) is int and stated > 0:
        return stated
    choice = first_choice(answer) or {}
    said = without_thinking(_said(choice))[1] or thinking_of(choice)
    return guessed(said) if said else 0


def first_choice(answer: Any) -> Mapping[str, Any] | None:
    """The first choice of an answer, if it has one."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


@dataclass
class Budget:
    """Limits of one run, and what is spent and reserved."""

    tokens: int | None = None
    money: float | None = None
    price: tuple[float, float] = (0.0, 0.0)
    """Of one token read and one written."""
    spent: list[int] = field(default_factory=lambda: [0, 0])
    reserved: list[int] = field(default_factory=lambda: [0, 0])
    thought: int = 0
    """Tokens of those written that were thinking, as far as the server says or shows it."""
    short: int = 0
    """Tokens by which a guess was below what the server then counted, at most."""
    _settled: Condition = field(default_factory=Condition, repr=False)

    def paid(self, body: Mapping[str, Any], ask: Callable[[], Any]) -> Any:
        """What comes of asking once, as soon as there is room for it; counted as the server counts
        it. A failed attempt may have been worked on all the same: it is paid for, unless the server
        did not take it."""
        size = size_of(body)
        place = self._reserve(size)
        used = (0, 0)
        try:
            answer = ask()
            used = used_by(answer, body)
            self.thought += min(used[1], thought_in(answer))
            return answer
        except Filtered:  # it was read
            used = (size[0], 0)
            raise
        except Passing as error:
            used = (0, 0) if isinstance(error, Untaken) else size
            raise
        finally:
            self._settle(size, place, used)

    def _reserve(self, size: Size) -> Size:
        """Keeps a place for a request; while others are under way it waits for what they leave."""
        with self._settled:
            while not self._fits(place := (size[0] + self.short, size[1])):
                if not any(self.reserved):
                    raise BudgetSpent(
                        f"The next request might exceed the budget of {self}. Nothing more was "
                        "sent. Answers so far are kept; the same command with a larger --budget "
                        "continues."
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

    def estimate(self, read: int, written: int) -> float | None:
        """What so many tokens would cost; None where no price is known."""
        return self._cost([read, written]) if any(self.price) else None

    @property
    def charged(self) -> dict[str, float]:
        read, written = self.spent
        counts = {"tokens_read": read, "tokens_written": written, "tokens_thought": self.thought}
        return counts | ({"money": self._cost(self.spent)} if any(self.price) else {})

    def plan(self, read: int, written: int) -> str:
        """Counts so many tokens as spent; the limit, where they do not fit."""
        fits = self._fits((read, written))
        self.spent = [self.spent[0] + read, self.spent[1] + written]
        return "" if fits else self.limit

    @property
    def rest(self) -> str | None:
        """What the next model of the same command may cost, as a budget is written."""
        if self.tokens is None and self.money is None:
            return None
        left = (self.tokens or 0) - sum(self.spent), (self.money or 0) - self._cost(self.spent)
        if max(left) <= 0:
            raise BudgetSpent(
                f"The budget of {self} is spent, and not every model was asked. Answers so far are "
                "kept; the same command with a larger --budget continues."
            )
        return f"${left[1]:.12f}" if self.tokens is None else str(left[0])

    @property
    def limit(self) -> str:
        return f"{self.tokens} tokens" if self.money is None else f"${self.money:g}"

    def _cost(self, sizes: list[int]) -> float:
        return sum(size * price for size, price in zip(sizes, self.price, strict=True))

    def __str__(self) -> str:
        spent = str(sum(self.spent)) if self.money is None else f"${self._cost(self.spent):.4f}"
        return f"{self.limit} ({spent} spent)"


def budget_of(
    limit: str | None, price: str | None, model: str = "", is_free: bool = False
) -> Budget:
    """`200000`, or `$2.50` with the prices of a million tokens read and written, `0.15/0.60`, or
    those of each model, `one=3/15,other=0.15/0.60`."""
    known = _prices(price) if price else {}
    own = known.get(model, known.get("", (0.0, 0.0) if is_free else None))
    prices = own or (0.0, 0.0)
    if not limit:
        return Budget(price=prices)
    match = re.fullmatch(r"(\$?)(\d+(?:\.\d+)?)(k|m)?", limit.strip().lower())
    if not match or (match[1] and match[3]) or not float(match[2]):
        raise UsageError(
            f"--budget '{limit}' is not understood. Give a number of tokens, or an amount after a "
            "dollar sign, in single quotes. For instance 200k or '$2.50'."
        )
    if not match[1]:
        tokens = float(match[2]) * UNITS[match[3] or ""]
        if not tokens.is_integer() or ("." in match[2] and not match[3]):
            raise UsageError(
                f"--budget {limit} is not a whole number of tokens. Without a dollar sign a budget "
                f"counts tokens. For money write --budget '${match[2]}' with --price, for tokens "
                "a whole number such as 200k."
            )
        return Budget(tokens=int(tokens), price=prices)
    if not known or (model and own is None):
        raise UsageError(
            f"A budget in money needs a price{f' of {model}' if model else ''}. Servers do not "
            "state theirs. Add --price READ/WRITTEN for a million tokens, such as 0.15/0.60, or "
            "--price NAME=READ/WRITTEN,NAME=READ/WRITTEN for several models."
        )
    return Budget(money=float(match[2]), price=prices)


def _prices(text: str) -> dict[str, tuple[float, float]]:
    """Of one token read and one written, by the model; without a name, of every other model."""
    prices: dict[str, tuple[float, float]] = {}
    for part in text.split(","):
        name, _, amounts = part.strip().rpartition("=")
        match = re.fullmatch(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)", amounts.strip())
        if not match:
            raise UsageError(
                f"--price '{text}' is not understood. Give the price of a million tokens read and "
                "of a million written, with a model's name where there are several. For instance "
                "0.15/0.60, or one=3/15,other=0.15/0.60."
            )
        prices[name.strip()] = float(match[1]) / 1e6, float(match[2]) / 1e6
    return prices
