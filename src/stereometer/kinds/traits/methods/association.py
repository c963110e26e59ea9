"""How strongly a model ties a trait to a group (Cao et al. 2022, section 3.1): ILPS, ILPS* and SeT.

Each compares what a template about the group gives an adjective with what it gives without the
group (the prior):

* `ilps`: log-probability of the adjective's first piece;
* `ilps-star`: by the chain rule over its pieces, each renormalised over the word-initial or the
  continuation vocabulary;
* `set`: how far the output matrix is from making the adjective the top word by a margin of 1.

`paper` is the released code: the prior is the word person or people, the median over an adjective
and its synonyms counts, spelt as in the released lists, and `ilps-star` renormalises by a piece's
place in its word (the first by the word-initial mass, the others by the continuation mass, special
tokens counted). `sound` masks the group and takes the head adjective. `set` also
has `printed`, the formula in the paper. Models that read from left to right have measures of their
own, `causal-ilps` (chain rule, not renormalised) and `causal-set`, whose prior is always the word.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from statistics import median

from stereometer.core import types
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.methods.declared import OURS, Bound, scored
from stereometer.core.types.names import MeasureName
from stereometer.kinds.traits import metrics as trait_metrics
from stereometer.kinds.traits.abc.files import POLES
from stereometer.kinds.traits.abc.items import TemplateFrame, TraitCell
from stereometer.kinds.traits.methods.blanks import BlankReader, Manner, Piece

Pieces = Sequence[Mapping[str, float]]
"""Of each piece of an adjective, from the left, the numbers asked."""

NO_LOGARITHM = "a distance of 1 or more: log(1 - d) is not defined"
ALREADY_TOP = "already-top"
NOT_LAST = "the template does not end with the trait"


# ----------------------------------------------------------------------------------------- formulas


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
        raise types.Skip(NO_LOGARITHM)
    return log1p(-_furthest(group)) - log1p(-_furthest(prior))


def printed_distance(group: Pieces, prior: Pieces) -> float:
    """The largest over pieces of -log(d_g^2 / d_prior^2)."""
    if min(piece["distance"] for piece in (*group, *prior)) == 0:
        raise types.Skip(ALREADY_TOP)
    return max(
        -2 * log(piece["distance"] / prior_piece["distance"])
        for piece, prior_piece in zip(group, prior, strict=True)
    )


def distance_ratio(group: Pieces, prior: Pieces) -> float:
    """-log(d_g / d_prior), each of the piece that is furthest."""
    far, prior_far = _furthest(group), _furthest(prior)
    if far == 0 or prior_far == 0:
        raise types.Skip(ALREADY_TOP)
    return -log(far / prior_far)


def _furthest(pieces: Pieces) -> float:
    return max(piece["distance"] for piece in pieces)


# ----------------------------------------------------------------------------------------- measures

Formula = Callable[[Pieces, Pieces], float]


@dataclass(frozen=True)
class Formulas:
    """A measure's formulas by variant, and what its answers must have."""

    kind: str
    formulas: Mapping[types.Variant, Formula]
    columns: tuple[str, ...] = ()

    @property
    def causal(self) -> bool:
        return self.kind == types.NextTokens.kind

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({self.kind, *self.columns})


DISTANCES: Mapping[types.Variant, Formula] = {
    "paper": released_distance,
    "printed": printed_distance,
    "sound": distance_ratio,
}

METHODS: Mapping[str, Formulas] = {
    "ilps": Formulas(types.MaskedBlank.kind, {"paper": first_piece, "sound": first_piece}),
    "ilps-star": Formulas(
        types.MaskedBlank.kind, {"paper": renormalised, "sound": renormalised}, (types.WORD_MASSES,)
    ),
    "set": Formulas(types.MaskedBlank.kind, DISTANCES, (types.SET_DISTANCES,)),
    "causal-ilps": Formulas(types.NextTokens.kind, {"paper": first_piece, "sound": chain}),
    "causal-set": Formulas(types.NextTokens.kind, DISTANCES, (types.SET_DISTANCES,)),
}


class TraitAssociation(Bound):
    """A trait measure bound to what a model can answer."""

    summarize = staticmethod(trait_metrics.summarize)

    def __init__(
        self, name: str, method: Formulas, variant: types.Variant, reader: BlankReader
    ) -> None:
        self.name = name
        self.formula = method.formulas[variant]
        self.causal = method.causal
        # Later pieces that are not read need not be asked.
        self.pieces_read = 1 if self.formula is first_piece else None
        self.synonyms = variant == "paper"
        self.reader = reader

    def items(self, items: Sequence[TraitCell]) -> tuple[Sequence[TraitCell], types.Notes]:
        """The items that it can score, with a note that names the templates left out."""
        kept = [
            item.as_released() if self.synonyms else item for item in items if self._applies(item)
        ]
        name = MeasureName.parse(self.name).name
        if items and not kept:
            raise UsageError(
                f"{name} reads from left to right, and no template ends with the trait. "
                "There is nothing to ask. Choose templates such as `that` or `plain`."
            )
        check_window(kept, self.reader)
        left = dict.fromkeys(item.slices["template"] for item in items if not self._applies(item))
        note = (
            f"Templates that do not end with the trait are left out, as {name} reads from left to "
            f"right: {', '.join(left)}."
        )
        return kept, (note,) if left else ()

    def _applies(self, item: TraitCell) -> bool:
        return not self.causal or item.frame.template.ends_with_trait

    def plan(self, item: TraitCell) -> types.Requests:
        if not self._applies(item):
            raise types.Skip(NOT_LAST)
        return {pole: list(dict.fromkeys(self._requests(item, pole))) for pole in POLES}

    def _requests(self, item: TraitCell, pole: str) -> Iterator[types.Request]:
        for word in self._words(item, pole):
            for pieces in self._pieces(item, word):
                yield from (piece.request for piece in pieces)

    def score(self, item: TraitCell, exchanged: types.Exchanged) -> types.Score:
        rows = {
            request: answer.rows[0] for asked in exchanged.values() for request, answer in asked
        }
        values = {
            pole: median(self._word(item, word, rows) for word in self._words(item, pole))
            for pole in POLES
        }
        return scored(item, values)

    def _words(self, item: TraitCell, pole: str) -> Sequence[str]:
        return item.trait.adjectives(pole)[: None if self.synonyms else 1]

    def _pieces(self, item: TraitCell, word: str) -> list[tuple[Piece, ...]]:
        """Of a word about the group, and without the group."""
        pieces = []
        for reading in (self.reader.group(item), self.reader.prior(item)):
            read = reading[word]
            if isinstance(read, str):
                raise types.Skip(read)
            pieces.append(read[: self.pieces_read])
        return pieces

    def _word(self, item: TraitCell, word: str, rows: Mapping[types.Request, types.Row]) -> float:
        group, prior = (
            [
                {name: column[piece.place] for name, column in rows[piece.request].items()}
                for piece in pieces
            ]
            for pieces in self._pieces(item, word)
        )
        return self.formula(group, prior)


@dataclass(frozen=True)
class TraitMethod(types.Method):
    """A row of the formulas."""

    reads: str = "trait"

    def bind(
        self, backend: types.Backend, variant: types.Variant, options: types.NoOptions
    ) -> TraitAssociation:
        formulas = METHODS[self.name]
        lacks = [
            name for name in (formulas.kind, *formulas.columns) if name not in backend.abilities.all
        ]
        if lacks:
            raise ModelError(
                f"{backend.card.name} cannot answer {self.name}. "
                f"{WHY[lacks[0]]}. {INSTEAD[lacks[0]]}."
            )
        released = variant == "paper"
        manner = Manner(
            formulas.causal,
            hidden_prior=not released and not formulas.causal,
            synonyms=released,
            by_position=released and types.WORD_MASSES in formulas.columns,
        )
        reader = BlankReader(backend.encode, manner)
        return TraitAssociation(self.label(), formulas, variant, reader)


WHY = {
    types.MaskedBlank.kind: "It needs a model that fills in masks",
    types.NextTokens.kind: "It needs a model that reads from left to right",
    types.WORD_MASSES: "Its tokenizer does not mark which tokens begin a word",
    types.SET_DISTANCES: "No last layer was found whose weight and bias give its logits",
}
INSTEAD = {
    types.MaskedBlank.kind: "Causal models have causal-set and causal-ilps",
    types.NextTokens.kind: "Masked models have set, ilps-star and ilps",
    types.WORD_MASSES: "Choose ilps or set",
    types.SET_DISTANCES: "Choose ilps or ilps-star",
}


def _method(name: str, source: str) -> TraitMethod:
    formulas = METHODS[name]
    needs, variants = {"trait": [formulas.needs]}, tuple(formulas.formulas)
    return TraitMethod(name, needs=needs, variants=variants, source=source)


SENSITIVITY = "SeT, Cao et al. 2022"
SET = _method("set", f"{SENSITIVITY}, Tables 5 and 6")
ILPS = _method("ilps", f"ILPS, Kurita et al. 2019; {SENSITIVITY}, Table 6")
ILPS_STAR = _method("ilps-star", f"{SENSITIVITY}, Table 6")
CAUSAL_SET = _method("causal-set", f"{OURS}: SeT for causal models")
CAUSAL_ILPS = _method("causal-ilps", f"{OURS}: ILPS for causal models")


SHOWN = 40
"""Letters of an adjective that an error quotes."""


def check_window(items: Sequence[TraitCell], reader: BlankReader) -> None:
    """Raises for an adjective that exceeds the model's window even in the shortest sentence."""
    frames = sorted(
        dict.fromkeys(item.frame for item in items), key=lambda frame: len(frame.sentence("").text)
    )
    vocabularies = {item.vocabulary for item in items}
    for word in dict.fromkeys(word for each in vocabularies for word in reader.words(each)):
        if not _fits(word, frames, reader):
            quoted = word if len(word) <= SHOWN else f"{word[:SHOWN]}..."
            raise ModelError(
                f"The adjective '{quoted}' is longer than the model's window in every sentence. "
                "It cannot be scored for any group. Shorten it, or leave its trait out."
            )


def _fits(word: str, frames: Iterable[TemplateFrame], reader: BlankReader) -> bool:
    for frame in frames:
        try:
            reader.encode(frame.sentence(word).text)
            return True
        except types.Skip as skip:
            if skip.reason != types.TOO_LONG:
                return True
    return False
