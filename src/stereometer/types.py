"""The nouns of the house: requests, answers, scores, estimates, results. Standard library only.

A measure turns an item into requests, answers into a score, scores into estimates. A backend
answers requests and knows nothing of stereotypes.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

Slice: TypeAlias = Mapping[str, str]
"""What an estimate holds fixed: overall is `{}`, one task `{"task": "intersentence"}`."""

Variant: TypeAlias = Literal["paper", "printed", "sound"]
"""What the released code does, what the paper prints where that differs and matters, and what we defend."""


def digest_of(value: object) -> str:
    """The sha256 of a value's canonical JSON; equal values give equal digests on every machine."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# ---------------------------------------------------------------------------------------- requests


class _Keyed:
    """A request's key is the digest of its kind and fields: what makes two requests the same request."""

    kind: ClassVar[str]

    @cached_property
    def key(self) -> str:
        return digest_of(
            [self.kind, {name: value for name, value in vars(self).items() if name != "key"}]
        )


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
        """The whole text, and where the continuation begins: after a space where neither side brings white space."""
        space = (
            " "
            if self.context and not self.context[-1].isspace() and not self.text[:1].isspace()
            else ""
        )
        return f"{self.context}{space}{self.text}", len(self.context) + len(space)

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

    A step is (positions hidden, position scored). Pseudo-likelihood hides one position a step; filling a
    blank hides what is not yet revealed.
    """

    ids: tuple[int, ...]
    steps: tuple[tuple[tuple[int, ...], int], ...]
    segments: tuple[int, ...] = ()
    """Which of two texts a token belongs to, for models that are told; empty for a single text."""
    kind: ClassVar[str] = "masked-tokens"

    @property
    def tokens(self) -> int:
        return len(self.ids) * len(self.steps)


@dataclass(frozen=True)
class CausalTokens(_Keyed):
    """The log-probability of every token from position `start` on, each given all before it."""

    ids: tuple[int, ...]
    start: int
    kind: ClassVar[str] = "causal-tokens"

    @property
    def tokens(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Generate(_Keyed):
    """Text that the model writes after a prompt, or as the next turn after messages (role, content).

    Seed and repeat are part of the key: repeats stay repeats, and each has random numbers of its own whatever else is asked.
    """

    prompt: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    temperature: float = 0.0
    max_tokens: int = 16
    stop: tuple[str, ...] = ()
    seed: int = 0
    repeat: int = 0
    kind: ClassVar[str] = "generate"

    @property
    def tokens(self) -> int:
        return (
            sum(
                len(text.split())
                for text in (self.prompt, *(content for _, content in self.messages))
            )
            + self.max_tokens
        )


HIDDEN = -1
"""Stands in a request for a token behind a mask."""


@dataclass(frozen=True)
class MaskedBlank(_Keyed):
    """Some tokens at one hidden position, HIDDEN wherever a token is masked.

    Columns, one entry a token asked: `logprob`; `logmass`, of the word-initial or the continuation vocabulary, whichever
    the token is of; `distance`, of the output matrix to one that makes the token the top one by `margin` (SeT).
    """

    ids: tuple[int, ...]
    position: int
    asked: tuple[int, ...]
    segments: tuple[int, ...] = ()
    margin: float = 1.0
    kind: ClassVar[str] = "masked-blank"

    @property
    def tokens(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class NextTokens(_Keyed):
    """Some tokens after a text, read from left to right; the columns are those of MaskedBlank."""

    ids: tuple[int, ...]
    asked: tuple[int, ...]
    margin: float = 1.0
    kind: ClassVar[str] = "next-tokens"

    @property
    def tokens(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class SpanVectors(_Keyed):
    """The last hidden states of some positions: one row a position, one entry a dimension in the column `vector`."""

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    segments: tuple[int, ...] = ()
    kind: ClassVar[str] = "span-vectors"

    @property
    def tokens(self) -> int:
        return len(self.ids)


WORD_MASSES, SET_DISTANCES = "word-masses", "set-distances"
"""In `supports` of a backend whose answers to MaskedBlank and NextTokens have the columns `logmass` and `distance`."""

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
)

# ----------------------------------------------------------------------------------------- answers

Row: TypeAlias = Mapping[str, "array[float]"]
"""One span: named columns (`logprob`, `logodds`), one entry a token."""


@dataclass(frozen=True)
class Answer:
    """Rows, never sums: how they are reduced is the measure's business. What a model wrote stands beside them."""

    rows: tuple[Row, ...]
    text: str | None = None
    """What was written, where something was to be."""
    end: str = ""
    """Why the writing ended: `stop`, `length`, or one of UNWRITTEN."""

    def column(self, name: str) -> array[float]:
        """The column of the only row, for the requests that have one span."""
        (row,) = self.rows
        return row[name]


TOO_LONG, FILTERED, BOUNDARY = "longer than the model's window", "refused", "token-boundary"
UNWRITTEN = (TOO_LONG, FILTERED)
"""Ends of an answer that has no text of the model: the prompt did not fit, or a filter held the text back."""


@dataclass(frozen=True)
class Encoding:
    """A text as a model's tokenizer sees it."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    """Characters of the text each token stands for; (0, 0) for special tokens."""
    words: tuple[int | None, ...]
    """The word each token belongs to; None for special tokens."""
    segments: tuple[int, ...] = ()
    """0 for the first of two texts, 1 for the second, as the model is told; empty for a single text."""
    second: tuple[bool, ...] = ()
    """Whether a token is of the second of two texts; empty for a single text."""


class Encode(Protocol):
    """A backend's `encode`: one text, or two as the model was taught to read two."""

    def __call__(self, text: str, second: str | None = None) -> Encoding: ...


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

    @cached_property
    def identity(self) -> str:
        """What a cached answer depends on besides the request."""
        return digest_of(
            [self.backend, self.digest, self.tokenizer_digest, self.dtype, dict(self.settings)]
        )


@runtime_checkable
class Backend(Protocol):
    """Answers requests. `supports` names the kinds of request it can answer."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def supports(self) -> frozenset[str]: ...

    def encode(self, text: str, second: str | None = None) -> Encoding:
        """Only asked of backends that support a kind of request made of token ids."""
        ...

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        """One answer for each key, in any order."""
        ...


# ---------------------------------------------------------------------------------- items and scores


class Item(Protocol):
    """What every item of every benchmark has."""

    @property
    def id(self) -> str: ...

    @property
    def slices(self) -> Slice: ...

    @property
    def texts(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Score:
    """What a system gave one item, or why it gave nothing."""

    item: str
    slices: Slice
    values: Mapping[str, float]
    """One number a candidate: `stereotype`, `anti-stereotype`, `unrelated`, or `sent_more`, `sent_less`."""
    skipped: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, float] = field(default_factory=dict)
    """What follows from the values alone, such as the confidence of a pair."""
    answers: Sequence[Mapping[str, str]] = ()
    """What a model that was asked in words said, one a repeat: `text`, and the `label` it was read as or why it was `skipped`."""

    def as_json(self) -> dict[str, Any]:
        """The fields as they are: `dataclasses.asdict` would copy every text of every item."""
        return {name: value for name, value in vars(self).items() if name != "answers" or value}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Score:
        return cls(**value)


class Skip(Exception):
    """Raised while planning or scoring an item that cannot be scored; the reason is counted and shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# ---------------------------------------------------------------------------------------- estimates


@dataclass(frozen=True)
class Settings:
    """What the numbers depend on besides scores."""

    variant: Variant = "sound"
    seed: int = 0
    resamples: int = 10_000
    level: float = 0.95
    coverage: float = 0.90
    """Below this share of answered items a slice has no score, only a reason."""


@dataclass(frozen=True)
class Published:
    """A value that somebody printed for the same data, method and variant."""

    value: float
    source: str


@dataclass(frozen=True)
class Estimate:
    """One number with everything needed to read it."""

    name: str
    slice: Slice
    value: float | None
    low: float | None
    high: float | None
    n: int
    """Items used."""
    asked: int
    """Items asked."""
    ties: int
    ideal: float | None
    verdict: str | None = None
    interval: str | None = None
    """How low and high were found."""
    p: float | None = None
    p_adjusted: float | None = None
    tests: int | None = None
    """How many tests the adjustment counts: the slices shown together."""
    terms: int | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None
    """Why there is no value."""
    published: Published | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Estimate:
        fields = dict(value)
        if fields.get("published"):
            fields["published"] = Published(**fields["published"])
        return cls(**fields)


RESULT_SCHEMA = "result@1"


@dataclass(frozen=True)
class Result:
    """One system measured once on one benchmark: what `result.json` holds."""

    benchmark: str
    measure: str
    variant: Variant
    model: str
    scoring: str
    """`computed` from a model's answers, `replayed` from a file of scores, `constructed` from the gold labels."""
    model_card: Mapping[str, Any]
    data: Mapping[str, Any]
    """Digest, source, counts, licence and citation of the items."""
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    notes: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    schema: str = RESULT_SCHEMA

    def estimate(self, name: str, **fixed: str) -> Estimate:
        """The estimate of this name in exactly this slice: `result.estimate("ss", domain="gender")`."""
        for one in self.estimates:
            if one.name == name and dict(one.slice) == fixed:
                return one
        raise KeyError(f"no estimate {name} in slice {fixed}")

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one an estimate: `pandas.DataFrame(result.rows())`."""
        head = {
            "benchmark": self.benchmark,
            "measure": self.measure,
            "variant": self.variant,
            "model": self.model,
        }
        return [head | _flat(one) for one in self.estimates]

    def as_json(self) -> dict[str, Any]:
        return {"schema": self.schema} | asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Result:
        fields = dict(value)
        fields["estimates"] = tuple(Estimate.from_json(one) for one in fields["estimates"])
        fields["notes"] = tuple(fields["notes"])
        return cls(**fields)


def _flat(one: Estimate) -> dict[str, Any]:
    record = asdict(one)
    record["published"] = one.published.value if one.published else None
    slices = record.pop("slice")
    record["skipped"] = sum(one.skipped.values())
    return {"name": record.pop("name"), **slices, **record}


# ------------------------------------------------------------------------------ what joins the nouns


class Measure(Protocol):
    """One method of one paper, in one variant."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> str:
        """The shape of item it works on: `cat` or `pair`."""
        ...

    def plan(self, item: Any) -> Mapping[str, Sequence[Request]]:
        """The requests of each candidate of an item; raises Skip with a reason."""
        ...

    def score(
        self, item: Any, answers: Mapping[str, Sequence[Answer]]
    ) -> Mapping[str, float] | Score:
        """One value a candidate, or a whole Score where there is more to keep."""
        ...

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]: ...


@runtime_checkable
class System(Protocol):
    """Gives scores without answering requests."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def scoring(self) -> str: ...

    def scores(self, items: Iterable[Item], variant: Variant) -> Iterator[Score]: ...
