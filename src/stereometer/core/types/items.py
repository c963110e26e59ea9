"""Items, and what a system gave each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from stereometer.core.types.backend import ModelCard
from stereometer.core.types.document import typed

Slice: TypeAlias = Mapping[str, str]
"""What an estimate holds fixed: overall is `{}`, one task `{"task": "intersentence"}`."""

Variant: TypeAlias = Literal["paper", "printed", "sound"]
"""What the released code does, what the paper prints where that differs and matters, and what we
defend."""
VARIANTS: tuple[Variant, ...] = ("paper", "printed", "sound")


class Item(Protocol):
    """What every item of every benchmark has."""

    @property
    def id(self) -> str: ...

    @property
    def slices(self) -> Slice: ...

    @property
    def texts(self) -> Mapping[str, str]: ...

    @property
    def hidden(self) -> bool:
        """Held back: its texts stay out of runs and reports."""

    @property
    def unscorable(self) -> str | None:
        """Why it cannot be scored, whatever the measure."""

    @property
    def also_asked(self) -> Mapping[str, Any]:
        """What two copies of an item must share besides what its texts show."""

    @property
    def unasked(self) -> Collection[str]:
        """Slices that two copies of an item need not share: they say which items vary together."""


class ItemDefaults:
    """What most items are: shown, scorable, and asked about as their texts show."""

    unasked: ClassVar[tuple[str, ...]] = ()

    @property
    def hidden(self) -> bool:
        return False

    @property
    def unscorable(self) -> str | None:
        return None

    @property
    def also_asked(self) -> Mapping[str, Any]:
        return {}


SELDOM = ("answers", "unanswered", "copy")
"""Fields of a score that are stored where they say something."""


@dataclass(frozen=True)
class Score:
    """What a system gave one item, or why it gave nothing."""

    item: str
    slices: Slice
    values: Mapping[str, float]
    """One number per candidate: `stereotype`, `anti-stereotype`, `unrelated`, or `sent_more`,
    `sent_less`."""
    skipped: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, float] = field(default_factory=dict)
    """What follows from the values alone, such as the confidence of a pair."""
    answers: Sequence[Mapping[str, str]] = ()
    """What a model that was asked in words said, one per repeat: `text`, and the `label` it was
    read as or why it was `skipped`."""
    unanswered: bool = False
    """Whether it was asked and gave nothing that counts: refused, filtered, unreadable, failed.
    What a measure declares outside its scope was not asked."""
    copy: int = 0
    """Where texts are held back: items of this run that have the same number have the same texts;
    0 where that is not known, or there is no other."""

    def as_json(self) -> dict[str, Any]:
        """The fields as they are: `dataclasses.asdict` would copy every text of every item."""
        known = vars(self).items()
        return {name: value for name, value in known if name not in SELDOM or value}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Score:
        return typed(cls, value)


class Skip(Exception):
    """Raised while planning or scoring an item that cannot be scored; the reason is counted and
    shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OutOfScope(Skip):
    """Where that is known only when an item is scored, and not because of what was answered: the
    item is not missing."""


@runtime_checkable
class Scorer(Protocol):
    """Gives scores without answering requests."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def scoring(self) -> str: ...

    def scores(self, items: Iterable[Item], variant: Variant) -> Iterator[Score]: ...
