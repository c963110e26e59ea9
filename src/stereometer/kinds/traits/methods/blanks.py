"""From a template about a group to blanks: which tokens are asked at which hidden position, and
where each answer stands.

All adjectives of a set are asked together: those with as many pieces share one masked copy, and one
request asks all of their next pieces. Pieces are revealed from the left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from stereometer.core.methods.spans import check_known, tokens_in, unknown_token
from stereometer.core.types import HIDDEN, Encode, Encoding, MaskedBlank, NextTokens, Skip
from stereometer.kinds.traits.abc.items import TemplateFrame, TraitCell, TraitWords
from stereometer.kinds.traits.abc.templates import FilledTemplate

REMEMBERED = 1024
"""Readings kept: those of one window of requests, and more."""

Blank = MaskedBlank | NextTokens


@dataclass(frozen=True)
class Piece:
    """One piece of an adjective: the request that asks for it, and its place among the tokens
    asked."""

    request: Blank
    place: int


Reading = Mapping[str, "tuple[Piece, ...] | str"]
"""For each adjective its pieces, or why it has none."""


@dataclass(frozen=True)
class _Asked:
    """A copy of a text and the position asked: what adjectives share."""

    ids: tuple[int, ...]
    position: int
    segments: tuple[int, ...]
    position_class: str = ""


@dataclass(frozen=True)
class Manner:
    """How frames are read."""

    causal: bool
    """From left to right."""
    hidden_prior: bool
    """Whether the group is masked in the prior, or a person stands in its place."""
    synonyms: bool
    """Whether the adjectives' synonyms are asked too."""
    by_position: bool = False
    """Whether a piece is renormalised by where it stands in its word, not by what it is."""


class BlankReader:
    """Reads frames with one model's tokenizer."""

    def __init__(self, encode: Encode, manner: Manner) -> None:
        self.encode, self.manner = encode, manner
        self.unknown = unknown_token(encode)
        self._remembered = lru_cache(REMEMBERED)(self._read_again)

    def group(self, item: TraitCell) -> Reading:
        return self._remembered(item.frame, item.vocabulary, False)

    def prior(self, item: TraitCell) -> Reading:
        """With one mask for the group, or about a person of none."""
        hidden = self.manner.hidden_prior
        return self._remembered(item.frame.about_nobody(), item.vocabulary, hidden)

    def words(self, vocabulary: TraitWords) -> tuple[str, ...]:
        """The adjectives that are asked."""
        return vocabulary.everything if self.manner.synonyms else vocabulary.heads

    def _read_again(
        self, frame: TemplateFrame, vocabulary: TraitWords, hide_group: bool
    ) -> Reading:
        steps: dict[str, list[tuple[_Asked, int]] | str] = {}
        for word in self.words(vocabulary):
            try:
                steps[word] = self._steps(frame.sentence(word), hide_group)
            except Skip as skip:
                steps[word] = skip.reason
        return _gathered(steps, self.manner.causal)

    def _steps(self, sentence: FilledTemplate, hide_group: bool) -> list[tuple[_Asked, int]]:
        encoding = self.encode(sentence.text)
        check_known(
            encoding,
            [sentence.trait] if hide_group else [sentence.group, sentence.trait],
            self.unknown,
        )
        trait = tokens_in(sentence.text, encoding, [sentence.trait])
        if not trait or trait != list(range(trait[0], trait[-1] + 1)):
            raise Skip("no token to score")
        hidden = tokens_in(sentence.text, encoding, [sentence.group]) if hide_group else []
        if hide_group and not hidden:
            raise Skip("no token of the group to mask")
        steps = [self._step(encoding, trait, at) for at in range(len(trait))]
        pieces = [encoding.ids[position] for position in trait]
        return [
            (_without(asked, hidden), piece) for asked, piece in zip(steps, pieces, strict=True)
        ]

    def _step(self, encoding: Encoding, trait: Sequence[int], at: int) -> _Asked:
        if self.manner.causal:
            return _Asked(encoding.ids[: trait[at]], trait[at], ())
        waiting = set(trait[at:])
        ids = tuple(
            HIDDEN if position in waiting else token for position, token in enumerate(encoding.ids)
        )
        by_position = ("inside" if at else "initial") if self.manner.by_position else ""
        return _Asked(ids, trait[at], encoding.segments, by_position)


def _without(asked: _Asked, group: Sequence[int]) -> _Asked:
    """With one mask in the place of the group, however many pieces it has."""
    if not group:
        return asked
    start, end = group[0], group[-1] + 1
    ids = (*asked.ids[:start], HIDDEN, *asked.ids[end:])
    segments = (*asked.segments[: start + 1], *asked.segments[end:]) if asked.segments else ()
    position = asked.position - (end - start - 1 if asked.position >= end else 0)
    return replace(asked, ids=ids, position=position, segments=segments)


def _gathered(steps: Mapping[str, list[tuple[_Asked, int]] | str], causal: bool) -> Reading:
    """One request for everything asked of one position of one copy."""
    tokens: dict[_Asked, dict[int, int]] = {}
    for readings in steps.values():
        for asked, piece in () if isinstance(readings, str) else readings:
            places = tokens.setdefault(asked, {})
            places.setdefault(piece, len(places))
    requests = {asked: _request(asked, tuple(places), causal) for asked, places in tokens.items()}
    return {
        word: (
            readings
            if isinstance(readings, str)
            else tuple(Piece(requests[asked], tokens[asked][piece]) for asked, piece in readings)
        )
        for word, readings in steps.items()
    }


def _request(asked: _Asked, tokens: tuple[int, ...], causal: bool) -> Blank:
    return (
        NextTokens(asked.ids, tokens)
        if causal
        else MaskedBlank(
            asked.ids, asked.position, tokens, asked.segments, position_class=asked.position_class
        )
    )
