"""From a template about a group to blanks: which tokens are asked at which hidden position, and
where each answer stands.

All adjectives of a set are asked together: those with as many pieces share one masked copy, and one
request asks all of their next pieces. Pieces are revealed from the left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from stereometer.core.methods.spans import check_known, tokens_in, unknown_token
from stereometer.core.types import HIDDEN, Encode, MaskedBlank, NextTokens, Skip
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


Steps = Sequence[tuple[Blank, int]]
"""For each piece of an adjective a request without tokens, which other adjectives may share, and
the token to be asked of it."""


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
        steps: dict[str, Steps | str] = {}
        for word in self.words(vocabulary):
            try:
                steps[word] = self._steps(frame.sentence(word), hide_group)
            except Skip as skip:
                steps[word] = skip.reason
        return _gathered(steps)

    def _steps(self, sentence: FilledTemplate, hide_group: bool) -> Steps:
        encoding = self.encode(sentence.text)
        spans = [sentence.trait] if hide_group else [sentence.group, sentence.trait]
        check_known(encoding, spans, self.unknown)
        trait = tokens_in(sentence.text, encoding, [sentence.trait])
        if not trait or trait != list(range(trait[0], trait[-1] + 1)):
            raise Skip("no token to score")
        ids, segments = encoding.ids, encoding.segments
        if hide_group:
            group = tokens_in(sentence.text, encoding, [sentence.group])
            if not group:
                raise Skip("no token of the group to mask")
            # One mask stands in the place of the group, however many pieces it has.
            start, end = group[0], group[-1] + 1
            ids = (*ids[:start], HIDDEN, *ids[end:])
            segments = (*segments[: start + 1], *segments[end:]) if segments else ()
            trait = [at - (end - start - 1 if at >= end else 0) for at in trait]
        return [
            (self._blank(ids, segments, trait[at:], at), ids[trait[at]]) for at in range(len(trait))
        ]

    def _blank(
        self, ids: tuple[int, ...], segments: tuple[int, ...], waiting: Sequence[int], at: int
    ) -> Blank:
        """For the first of the pieces that wait to be revealed, the one numbered `at`."""
        first = waiting[0]
        if self.manner.causal:
            return NextTokens(ids[:first], ())
        copy = tuple(HIDDEN if place in waiting else token for place, token in enumerate(ids))
        by_position = ("inside" if at else "initial") if self.manner.by_position else ""
        return MaskedBlank(copy, first, (), segments, position_class=by_position)


def _gathered(steps: Mapping[str, Steps | str]) -> Reading:
    """One request for everything asked of one position of one copy."""
    tokens: dict[Blank, dict[int, int]] = {}
    for readings in steps.values():
        for blank, piece in () if isinstance(readings, str) else readings:
            places = tokens.setdefault(blank, {})
            places.setdefault(piece, len(places))
    requests = {blank: replace(blank, asked=tuple(places)) for blank, places in tokens.items()}
    return {
        word: (
            readings
            if isinstance(readings, str)
            else tuple(Piece(requests[blank], tokens[blank][piece]) for blank, piece in readings)
        )
        for word, readings in steps.items()
    }
