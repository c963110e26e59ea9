"""A model: what it is (card), what it can do (abilities), and how it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from stereometer.core.types.document import digest_of
from stereometer.core.types.requests import Answer, Encoding, Request

ORIGIN = "commit"
"""The setting that says where weights came from, and nothing of what they are."""


@dataclass(frozen=True)
class ModelCard:
    """What answered: enough to tell two models apart and to key the cache."""

    name: str
    family: str
    backend: str
    digest: str
    """Of the weights, or of what stands in for them."""
    tokenizer_digest: str = ""
    dtype: str = "float64"
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    spec: str = ""
    """What opens it again, such as a path; empty where its name does."""

    @cached_property
    def identity(self) -> str:
        """What a cached answer depends on besides the request."""
        settings = {name: value for name, value in self.settings.items() if name != ORIGIN}
        return digest_of([self.backend, self.digest, self.tokenizer_digest, self.dtype, settings])


KEPT_TOGETHER = 512
"""Answers written to the cache at once, unless a backend says otherwise: what a kill can lose."""


@dataclass(frozen=True)
class Abilities:
    """What a model can do: everything that a method or the runner may ask about it."""

    kinds: frozenset[str]
    """The kinds of request it answers."""
    columns: frozenset[str] = frozenset()
    """What else its answers to MaskedBlank and NextTokens hold: WORD_MASSES, SET_DISTANCES."""
    mask: str | None = None
    """The text of its mask token."""
    window: int | None = None
    """The longest sequence it takes, in tokens."""
    chat_template: str = ""
    """Whose template a conversation is read through; empty where it holds none."""
    any_order: bool = False
    """Whether it was taught to read tokens in any order (XLNet)."""
    costly: bool = False
    """Whether asking costs money: a dry run asks nothing."""
    keep_every: int = KEPT_TOGETHER
    """How many answers are written to the cache at once."""
    room: int = 0
    """Tokens that it may write beside those of an answer, to think."""
    thinking: bool = True
    """Whether it may think first, where it can; False where it was told not to."""
    continues: bool = True
    """Whether it goes on with raw text; otherwise a prompt is a message to it."""
    first_token: bool = True
    """Whether the first token of a text that is read as text has a number."""
    cautions: tuple[str, ...] = ()
    """Why a published number may not come out with it."""

    @property
    def all(self) -> frozenset[str]:
        """Kinds and columns: what a method's needs are held against."""
        return self.kinds | self.columns

    def __str__(self) -> str:
        return ", ".join(sorted(self.kinds))


@runtime_checkable
class Backend(Protocol):
    """Answers requests and knows nothing of stereotypes."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def abilities(self) -> Abilities: ...

    def encode(self, text: str, second: str | None = None) -> Encoding:
        """Only asked of backends that answer a kind of request made of token ids."""

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        """One answer for each key, in any order."""


@runtime_checkable
class NamesTokens(Protocol):
    """A backend that can write its tokens, for people who look at them one by one."""

    def token(self, number: int) -> str: ...


@runtime_checkable
class WritesTokens(Protocol):
    """A backend that can turn tokens back into text."""

    def decode(self, ids: Sequence[int]) -> str: ...


@runtime_checkable
class Charges(Protocol):
    """A backend that is paid by the token."""

    def size(self, request: Request) -> tuple[int, int]:
        """Tokens that it may read and write to answer, by a careful guess."""

    def money(self, read: int, written: int) -> float | None:
        """What so many tokens cost; None where no price is known."""

    def plan(self, read: int, written: int) -> str:
        """Counts tokens that a dry run plans; the budget, where all that were planned exceed it."""

    @property
    def rest(self) -> str | None:
        """What is left of the budget, as a budget is written; None where there is none. Raises
        BudgetSpent where nothing is left."""

    @property
    def charged(self) -> Mapping[str, float]:
        """What was spent since it was opened: tokens read, written and, of these, thought; and what
        they cost, where a price is known."""


class ForTesting:
    """A backend that is for testing the tool: neither a model nor a baseline."""
