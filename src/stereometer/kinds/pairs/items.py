"""A pair of sentences that differ in the group they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from stereometer.core.shapes.sentences import words_of
from stereometer.core.types import ItemDefaults, Slice

DIRECTIONS = ("stereo", "antistereo")
DIRECTION, BIAS_TYPE, TARGET = "direction", "bias_type", "target"
"""The slices of a pair."""
UNTYPED = "untyped"


@dataclass(frozen=True)
class Pair(ItemDefaults):
    """`sent_more` is the more stereotyping sentence, `sent_less` the less stereotyping one."""

    shape: ClassVar[str] = "pair"
    id: str
    sent_more: str
    sent_less: str
    bias_type: str
    """Empty where the file gives none: such a pair counts overall and in no slice of a type."""
    direction: str | None = None
    votes: tuple[tuple[str, ...], ...] = ()
    """The bias types each validator named."""
    note: str = ""
    hidden: bool = False
    """Held back: its texts stay out of runs and reports."""
    target: str = ""
    """The term it is about, where it is known; pairs of one term vary together."""
    unasked: ClassVar[tuple[str, ...]] = (TARGET,)

    @property
    def slices(self) -> Slice:
        known = {BIAS_TYPE: self.bias_type, DIRECTION: self.direction, TARGET: self.target}
        return {name: of for name, of in known.items() if of}

    @property
    def texts(self) -> Mapping[str, str]:
        return {"sent_more": self.sent_more, "sent_less": self.sent_less}

    @property
    def unscorable(self) -> str | None:
        if not self.sent_more.strip() or not self.sent_less.strip():
            return "a sentence is empty"
        return "identical sentences" if self.sent_more.split() == self.sent_less.split() else None

    # ------------------------------------------------------------------------- what curation asks

    @property
    def domain(self) -> str:
        return self.bias_type or UNTYPED

    @property
    def term(self) -> str:
        return self.target

    @property
    def candidate_ids(self) -> Mapping[str, Sequence[str]]:
        return {name: (f"{self.id}:{name}",) for name in self.texts}

    @property
    def varied(self) -> Mapping[str, str]:
        return self.texts

    @property
    def written(self) -> Iterator[str]:
        more, less = words_of(self.sent_more), words_of(self.sent_less)
        yield from more
        yield from (word for word in less if word not in more)

    @cached_property
    def edits(self) -> list[Edit]:
        return edits(words_of(self.sent_more), words_of(self.sent_less))

    @property
    def _about_more(self) -> bool:
        """Whether `sent_more` is about the group of the stereotype (Nangia et al. 2020, section
        2)."""
        return self.direction != "antistereo"

    def _changed(self, more: bool) -> Sequence[str]:
        return [word for edit in self.edits for word in edit[0 if more else 1]]

    @property
    def about(self) -> Sequence[str]:
        return self._changed(self._about_more)

    @property
    def instead(self) -> Sequence[str]:
        return self._changed(not self._about_more)

    @property
    def articles(self) -> Iterator[tuple[str, str]]:
        """Only before words that the other sentence does not have."""
        for text, other in ((self.sent_more, self.sent_less), (self.sent_less, self.sent_more)):
            others = set(other.split())
            yield from (both for both in pairwise(text.split()) if both[1] not in others)

    @property
    def labels(self) -> Sequence[Sequence[frozenset[str]]]:
        """A validator's label is the set of bias types named."""
        return [[frozenset(vote) for vote in self.votes]]

    @property
    def own_votes(self) -> tuple[int, int] | None:
        named = sum(self.bias_type in vote for vote in self.votes)
        return (named, len(self.votes)) if self.votes else None

    def corrected(self, texts: Mapping[str, str]) -> Pair:
        return replace(self, **dict(texts))  # type: ignore[arg-type]


Edit = tuple[tuple[str, ...], tuple[str, ...]]
"""Words of the first sentence and what stands in the second instead; either may be empty."""


def edits(first: Sequence[str], second: Sequence[str]) -> list[Edit]:
    """Where two sentences differ, word by word, from the left."""
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return [
        (tuple(first[a:b]), tuple(second[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
