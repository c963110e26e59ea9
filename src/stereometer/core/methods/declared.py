"""What the methods of every paper share: what their rules may use, and what a bound one does unless
it says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.core.types import (
    Answer,
    Encode,
    Exchanged,
    Item,
    Notes,
    OutOfScope,
    Score,
    Variant,
    WholeText,
)


@dataclass(frozen=True)
class WithinWord:
    """The option of measures that hide tokens one at a time."""

    within_word: bool = False
    """Hide the later pieces of a word with each of its pieces (Kauf and Ivanova 2023), so that a
    word does not give itself away."""


OURS = "not from a paper"
"""The source of methods that we added."""
OTHER_FIRST = "the candidates differ in their first token, which has no number"
"""Why an item is skipped then: what follows does not say which candidate is likelier."""


def check_first_token(exchanged: Exchanged) -> None:
    """Raises where candidates are not alike in a first token that has no number."""
    exchanges = (each for candidate in exchanged.values() for each in candidate)
    if len({answer.text for asked, answer in exchanges if isinstance(asked, WholeText)}) > 1:
        raise OutOfScope(OTHER_FIRST)


@dataclass(frozen=True)
class Scoring:
    """What a rule may use besides the item."""

    variant: Variant
    encode: Encode
    within_word: bool = False
    mask: str | None = None
    """The text of the mask token, for models that have one."""
    decode: Callable[[Sequence[int]], str] | None = None
    """From tokens to their text, for models that can write them."""
    before: str = ""
    """A text that every masked text stands after."""
    seed: int = 0


class Bound:
    """A measure that asks about every item and records nothing besides."""

    @property
    def recorded(self) -> Mapping[str, Any]:
        return {}

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        return items, ()


def answers_of(exchanged: Exchanged, name: str) -> list[Answer]:
    """The answers about one candidate, in the order in which they were asked for."""
    return [answer for _, answer in exchanged[name]]


def scored(item: Item, values: Mapping[str, float]) -> Score:
    return Score(item.id, item.slices, values, texts=item.texts)
