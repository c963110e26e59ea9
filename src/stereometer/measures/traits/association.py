"""How strongly a model ties a trait to a group (Cao et al. 2022, section 3.1): ILPS, ILPS* and SeT.

Each compares what a template about the group gives an adjective with what it gives without the group (the prior):

* `ilps`: log-probability of the adjective's first piece;
* `ilps-star`: by the chain rule over its pieces, each renormalised over the word-initial or the continuation vocabulary;
* `set`: how far the output matrix is from making the adjective the top word by a margin of 1.

`paper` is the released code: the prior is the word person or people, and the median over an adjective and its synonyms counts.
`sound` masks the group and takes the head adjective. `set` also has `printed`, the formula in the paper. Models that read from
left to right have measures of their own, `causal-ilps` (chain rule, not renormalised) and `causal-set`, whose prior is always the word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from statistics import median

from stereometer.errors import ModelError, UsageError
from stereometer.measures.traits.blanks import POLES, Piece, Reader, Reading, TraitItem
from stereometer.measures.traits.window import check_window
from stereometer.shapes.trait import metrics as trait_metrics
from stereometer.types import (
    SET_DISTANCES,
    WORD_MASSES,
    Answer,
    Backend,
    Estimate,
    MaskedBlank,
    NextTokens,
    Request,
    Row,
    Score,
    Settings,
    Skip,
    Variant,
)

Pieces = Sequence[Mapping[str, float]]
"""Of each piece of an adjective, from the left, the numbers asked."""

NO_LOGARITHM = "a distance of 1 or more: log(1 - d) is not defined"
ALREADY_TOP = "already-top"
NOT_LAST = "the template does not end with the trait"


# ------------------------------------------------------------------------------------------- formulas


def first_piece(group: Pieces, prior: Pieces) -> float:
    return group[0]["logprob"] - prior[0]["logprob"]


def chain(group: Pieces, prior: Pieces) -> float:
    return sum(piece["logprob"] for piece in group) - sum(piece["logprob"] for piece in prior)


def renormalised(group: Pieces, prior: Pieces) -> float:
    def total(pieces: Pieces) -> float:
        return sum(piece["logprob"] - piece["logmass"] for piece in pieces)

    return total(group) - total(prior)


def released_distance(group: Pieces, prior: Pieces) -> float:
    """log(1 - d) of the piece that is furthest, about the group less without it."""
    if max(piece["distance"] for piece in (*group, *prior)) >= 1:
        raise Skip(NO_LOGARITHM)
    return log1p(-_furthest(group)) - log1p(-_furthest(prior))


def printed_distance(group: Pieces, prior: Pieces) -> float:
    """The largest over pieces of -log(d_g^2 / d_prior^2)."""
    if min(piece["distance"] for piece in (*group, *prior)) == 0:
        raise Skip(ALREADY_TOP)
    return max(
        -2 * log(one["distance"] / other["distance"])
        for one, other in zip(group, prior, strict=True)
    )


def distance_ratio(group: Pieces, prior: Pieces) -> float:
    """-log(d_g / d_prior), each of the piece that is furthest."""
    far, prior_far = _furthest(group), _furthest(prior)
    if far == 0 or prior_far == 0:
        raise Skip(ALREADY_TOP)
    return -log(far / prior_far)


def _furthest(pieces: Pieces) -> float:
    return max(piece["distance"] for piece in pieces)


# ------------------------------------------------------------------------------------------- measures

Formula = Callable[[Pieces, Pieces], float]


@dataclass(frozen=True)
class Method:
    """A measure's formulas by variant, and what its answers must have."""

    kind: str
    formulas: Mapping[Variant, Formula]
    columns: tuple[str, ...] = ()

    @property
    def causal(self) -> bool:
        return self.kind == NextTokens.kind

    def first_only(self, variant: Variant) -> bool:
        """Whether later pieces are not read, and so need not be asked."""
        return self.formulas[variant] is first_piece

    def lacks(self, backend: Backend) -> list[str]:
        return [name for name in (self.kind, *self.columns) if name not in backend.supports]


DISTANCES: Mapping[Variant, Formula] = {
    "paper": released_distance,
    "printed": printed_distance,
    "sound": distance_ratio,
}

METHODS: Mapping[str, Method] = {
    "ilps": Method(MaskedBlank.kind, {"paper": first_piece, "sound": first_piece}),
    "ilps-star": Method(
        MaskedBlank.kind, {"paper": renormalised, "sound": renormalised}, (WORD_MASSES,)
    ),
    "set": Method(MaskedBlank.kind, DISTANCES, (SET_DISTANCES,)),
    "causal-ilps": Method(NextTokens.kind, {"paper": first_piece, "sound": chain}),
    "causal-set": Method(NextTokens.kind, DISTANCES, (SET_DISTANCES,)),
}


class TraitAssociation:
    """A trait measure bound to what a model can answer."""

    reads = "trait"

    def __init__(self, name: str, method: Method, variant: Variant, reader: Reader) -> None:
        self.name = f"{name}@1"
        self.formula = method.formulas[variant]
        self.causal = method.causal
        self.pieces_read = 1 if method.first_only(variant) else None
        self.synonyms = variant == "paper"
        self.reader = reader

    def applicable(self, items: Sequence[TraitItem]) -> tuple[list[TraitItem], tuple[str, ...]]:
        """The items that it can score, with a note that names the templates left out; raises where nothing is left to ask."""
        kept = [item for item in items if self._applies(item)]
        name = self.name.split("@")[0]
        if items and not kept:
            raise UsageError(
                f"{name} reads from left to right, and no template ends with the trait. There is nothing to ask. Choose templates such as `that` or `plain`."
            )
        check_window(kept, self.reader)
        left = dict.fromkeys(item.slices["template"] for item in items if not self._applies(item))
        return kept, (
            f"Templates that do not end with the trait are left out, as {name} reads from left to right: {', '.join(left)}.",
        ) if left else ()

    def _applies(self, item: TraitItem) -> bool:
        return not self.causal or item.frame.ends_with_trait

    def plan(self, item: TraitItem) -> Mapping[str, Sequence[Request]]:
        return {
            pole: list(dict.fromkeys(piece.request for piece in self._pieces(item, pole)))
            for pole in POLES
        }

    def score(
        self, item: TraitItem, answers: Mapping[str, Sequence[Answer]]
    ) -> Mapping[str, float]:
        rows = {
            request: answer.rows[0]
            for pole, requests in self.plan(item).items()
            for request, answer in zip(requests, answers[pole], strict=True)
        }
        return {
            pole: median(self._word(item, word, rows) for word in self._words(item, pole))
            for pole in POLES
        }

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return trait_metrics.summarize(scores, settings)

    def _words(self, item: TraitItem, pole: str) -> Sequence[str]:
        return item.adjectives(pole)[: None if self.synonyms else 1]

    def _pieces(self, item: TraitItem, pole: str) -> Iterator[Piece]:
        if not self._applies(item):
            raise Skip(NOT_LAST)
        for word in self._words(item, pole):
            for reading in (self.reader.group(item), self.reader.prior(item)):
                yield from self._read(reading, word)

    def _word(self, item: TraitItem, word: str, rows: Mapping[Request, Row]) -> float:
        group, prior = (
            [
                {name: column[piece.place] for name, column in rows[piece.request].items()}
                for piece in self._read(reading, word)
            ]
            for reading in (self.reader.group(item), self.reader.prior(item))
        )
        return self.formula(group, prior)

    def _read(self, reading: Reading, word: str) -> tuple[Piece, ...]:
        found = reading[word]
        if isinstance(found, str):
            raise Skip(found)
        return found[: self.pieces_read]


@dataclass(frozen=True)
class Binder:
    """What the catalog names: a measure waiting for a model."""

    name: str
    reads: str = "trait"

    @property
    def variants(self) -> tuple[Variant, ...]:
        return tuple(METHODS[self.name].formulas)

    def __call__(
        self, backend: Backend, variant: Variant, within_word: bool = False
    ) -> TraitAssociation:
        method = METHODS[self.name]
        if within_word:
            raise UsageError(
                f"{self.name} has no --within-word. It reveals the pieces of a word from the left already. Leave the option out."
            )
        lacks = method.lacks(backend)
        if lacks:
            raise ModelError(
                f"{backend.card.name} cannot answer {self.name}. {WHY[lacks[0]]}. {INSTEAD[lacks[0]]}."
            )
        reader = Reader(
            backend.encode,
            method.causal,
            hidden_prior=variant != "paper" and not method.causal,
            synonyms=variant == "paper",
        )
        return TraitAssociation(self.name, method, variant, reader)


WHY = {
    MaskedBlank.kind: "It needs a model that fills in masks",
    NextTokens.kind: "It needs a model that reads from left to right",
    WORD_MASSES: "Its tokenizer does not mark which tokens begin a word",
    SET_DISTANCES: "No last layer was found whose weight and bias give its logits",
}
INSTEAD = {
    MaskedBlank.kind: "Causal models have causal-set and causal-ilps",
    NextTokens.kind: "Masked models have set, ilps-star and ilps",
    WORD_MASSES: "Choose ilps or set",
    SET_DISTANCES: "Choose ilps or ilps-star",
}

ILPS, ILPS_STAR, SET = Binder("ilps"), Binder("ilps-star"), Binder("set")
CAUSAL_ILPS, CAUSAL_SET = Binder("causal-ilps"), Binder("causal-set")
