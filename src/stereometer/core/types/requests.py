"""What a model can be asked, and what it gives back: each request names its kind and has a key; an
answer is rows of numbers or a text."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, TypeAlias

from stereometer.core.types.document import digest_of

UNKEYED = ("key", "counted", "abandoned")
"""What does not make a request another request."""
SINCE = ("top",)
"""What came later: at its default it makes no other key, so that answers stay known."""


class _Keyed:
    """A request's key is the digest of its kind and fields: what makes two requests the same
    request."""

    kind: ClassVar[str]

    @cached_property
    def key(self) -> str:
        keyed = {
            name: value
            for name, value in vars(self).items()
            if name not in UNKEYED and (value or name not in SINCE)
        }
        return digest_of([self.kind, keyed])


@dataclass(frozen=True)
class WholeText(_Keyed):
    """The log-probability of a whole text, read as text."""

    text: str
    kind: ClassVar[str] = "whole-text"

    @property
    def tokens(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class Continuation(_Keyed):
    """The log-probability of `text` after `context`, both read as text."""

    context: str
    text: str
    kind: ClassVar[str] = "continuation"

    @property
    def joined(self) -> tuple[str, int]:
        """The whole text, and where the continuation begins: after a space where neither side
        brings white space."""
        apart = self.context[-1:].isspace() or self.text[:1].isspace()
        before = self.context if apart or not self.context else f"{self.context} "
        return before + self.text, len(before)

    @property
    def tokens(self) -> int:
        return len(self.context.split()) + len(self.text.split())


@dataclass(frozen=True)
class Follows(_Keyed):
    """The log-odds that `second` is the sentence after `first`."""

    first: str
    second: str
    kind: ClassVar[str] = "follows"

    @property
    def tokens(self) -> int:
        return len(self.first.split()) + len(self.second.split())


@dataclass(frozen=True)
class MaskedTokens(_Keyed):
    """The log-probability of single tokens with others hidden: one step is one masked copy.

    A step is (positions hidden, position scored). Pseudo-likelihood hides one position a step;
    filling a blank hides what is not yet revealed.
    """

    ids: tuple[int, ...]
    steps: tuple[tuple[tuple[int, ...], int], ...]
    segments: tuple[int, ...] = ()
    """Which of two texts a token belongs to, for models that are told; empty for a single text."""
    in_place: bool = False
    """Ask a model that hides tokens by other means (XLNet) at a mask that it reads, as a masked
    model is asked."""
    kind: ClassVar[str] = "masked-tokens"

    @property
    def tokens(self) -> int:
        return len(self.ids) * len(self.steps)


class _OfIds(_Keyed):
    """Reads its ids once."""

    ids: tuple[int, ...]

    @property
    def tokens(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class CausalTokens(_OfIds):
    """The log-probability of every token from position `start` on, each given all before it."""

    ids: tuple[int, ...]
    start: int
    counted: tuple[int, ...] = field(default=(), compare=False)
    """The positions that count, where not all do: a note of the measure to itself, which no backend
    reads."""
    kind: ClassVar[str] = "causal-tokens"


def _never() -> bool:
    return False


@dataclass(frozen=True)
class _Prompted(_Keyed):
    """What follows a prompt, or is the next turn after messages (role, content)."""

    prompt: str = ""
    messages: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> int:
        texts = [self.prompt, *(content for _, content in self.messages)]
        return sum(len(text.split()) for text in texts)


@dataclass(frozen=True)
class Generate(_Prompted):
    """Text that the model writes.

    Seed and repeat are part of the key: repeats stay repeats, and each has random numbers of its
    own whatever else is asked.
    """

    temperature: float = 0.0
    max_tokens: int = 16
    stop: tuple[str, ...] = ()
    seed: int = 0
    repeat: int = 0
    top: int = 0
    """How many of the likeliest tokens at each place are named, where the model can: a row for each
    place beside that of what was written, with the columns `token` and `logprob`."""
    abandoned: Callable[[], bool] = field(default=_never, compare=False)
    """Whether nobody waits for the text any more; a backend may then end it early."""
    kind: ClassVar[str] = "generate"

    @property
    def tokens(self) -> int:
        return self.words + self.max_tokens


@dataclass(frozen=True)
class Options(_Prompted):
    """The log-probability that what the model writes next is each option.

    That is the sum over all tokens whose text, without white space around it, is the option. The
    row has a `logprob` for each option, and `mass`, the probability that all of them hold together.
    A server that names only its likeliest tokens may leave out an option, which then has at most
    the probability of the last one named: that bound stands in the row, it is no part of the mass,
    and the answer's end is UNNAMED. Where it names none of them there is no row.
    """

    options: tuple[str, ...] = ("A", "B")
    temperature: ClassVar[float] = 1.0
    max_tokens: ClassVar[int] = 1
    stop: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str] = "options"

    @property
    def tokens(self) -> int:
        return self.words + self.max_tokens


HIDDEN = -1
"""Stands in a request for a token behind a mask."""


@dataclass(frozen=True)
class MaskedBlank(_OfIds):
    """Some tokens at one hidden position, HIDDEN wherever a token is masked.

    Columns, one entry per token asked: `logprob`; `logmass`, of the word-initial or the
    continuation vocabulary, whichever the token is of; `distance`, of the output matrix to one that
    makes the token the top one by `margin` (SeT).
    """

    ids: tuple[int, ...]
    position: int
    asked: tuple[int, ...]
    segments: tuple[int, ...] = ()
    margin: float = 1.0
    position_class: str = ""
    """`initial` or `inside`: `logmass` is of that vocabulary whatever the token is of, special
    tokens counted by how they are written."""
    kind: ClassVar[str] = "masked-blank"


@dataclass(frozen=True)
class NextTokens(_OfIds):
    """Some tokens after a text, read from left to right; the columns are those of MaskedBlank."""

    ids: tuple[int, ...]
    asked: tuple[int, ...]
    margin: float = 1.0
    kind: ClassVar[str] = "next-tokens"


@dataclass(frozen=True)
class SpanVectors(_OfIds):
    """The last hidden states of some positions: one row per position, one entry per dimension in
    column `vector`."""

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    segments: tuple[int, ...] = ()
    kind: ClassVar[str] = "span-vectors"


WORD_MASSES, SET_DISTANCES = "word-masses", "set-distances"
"""In `supports` of a backend whose answers to MaskedBlank and NextTokens have the columns `logmass`
and `distance`."""

Request: TypeAlias = (
    MaskedBlank
    | NextTokens
    | SpanVectors
    | WholeText
    | Continuation
    | Follows
    | MaskedTokens
    | CausalTokens
    | Generate
    | Options
)


Row: TypeAlias = Mapping[str, "array[float]"]
"""One span: named columns (`logprob`, `logodds`), one entry per token."""


@dataclass(frozen=True)
class Answer:
    """Rows, never sums: how they are reduced is the measure's business. What a model wrote stands
    beside them."""

    rows: tuple[Row, ...]
    text: str | None = None
    """What was written, where something was to be; of a text that was scored, its first token where
    that has no number."""
    end: str = ""
    """Why the writing ended: `stop`, `length`, or one of UNWRITTEN."""
    kept: bool = True
    """Whether it belongs into the cache; not where something failed that may work another time."""

    def column(self, name: str) -> array[float]:
        """The column of the only row, for the requests that have one span."""
        (row,) = self.rows
        return row[name]


TOO_LONG, BOUNDARY = "longer than the model's window", "token-boundary"
FILTERED, NO_ROOM = "filtered", "no room"
NOT_FINITE = "a score is not a finite number"
NO_TOKEN = "no token of the model is the option"
UNNAMED = "option not among those that the server names"
UNWRITTEN = (TOO_LONG, FILTERED, NO_ROOM)
"""Ends of an answer that has no answer of the model: the prompt did not fit, a filter held the text
back, or the room was used up before the answer began, by thinking."""


@dataclass(frozen=True)
class Encoding:
    """A text as a model's tokenizer sees it."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    """Characters of the text each token stands for; (0, 0) for special tokens."""
    words: tuple[int | None, ...]
    """The word each token belongs to; None for special tokens."""
    segments: tuple[int, ...] = ()
    """0 for the first of two texts, 1 for the second, as the model is told; empty for a single
    text."""
    second: tuple[bool, ...] = ()
    """Whether a token is of the second of two texts; empty for a single text."""


class Encode(Protocol):
    """A backend's `encode`: one text, or two as the model was taught to read two."""

    def __call__(self, text: str, second: str | None = None) -> Encoding: ...
