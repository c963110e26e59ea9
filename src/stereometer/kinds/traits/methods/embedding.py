"""CEAT (Guo and Caliskan 2021; Cao et al. 2022, section 3.1): vectors of group and trait words in
natural sentences.

`ceat` is the form for one group, `ceat-two-group` the original. Each of a thousand draws takes one
sentence a word; the effects are combined by a random-effects model, whose p is left out: it falls
with the number of draws. `paper` takes a word's first piece, `sound` the mean of its pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from zlib import crc32

import numpy as np

from stereometer.core import types
from stereometer.core.errors import ModelError
from stereometer.core.methods.declared import Bound
from stereometer.core.methods.spans import check_known, tokens_in, unknown_token
from stereometer.core.stats.intervals import Floats, percentile
from stereometer.kinds.traits import metrics
from stereometer.kinds.traits.abc.sentences import Occurrence, Usage

LEAST = 20
DRAWS = 1000
LEAST_WORDS = 3
"""Two values have the same spread as difference: their ratio says nothing."""
FEW_SENTENCES = f"the group has fewer than {LEAST} sentences that the model can read"
FEW_WORDS = f"fewer than {LEAST_WORDS} words have {LEAST} sentences that the model can read"
NO_POLE = f"a pole has no word with {LEAST} sentences that the model can read"


Vectors = Mapping[str, Floats]
"""By word: sentences x dimensions."""


class EmbeddingAssociation(Bound):
    """CEAT bound to a model."""

    summarize = staticmethod(metrics.summarize_sentences)

    def __init__(self, name: str, encode: types.Encode, variant: types.Variant) -> None:
        self.name, self.encode, self.variant = name, encode, variant
        self.unknown = unknown_token(encode)
        self._request = cache(self._read)

    def plan(self, item: Usage) -> types.Requests:
        asked = {f"{role}/{word}": requests for role, word, requests in self._asked(item)}
        self._check(item, asked)
        return asked

    def _asked(self, item: Usage) -> Iterator[tuple[str, str, list[types.SpanVectors]]]:
        """Words with enough sentences that the model can read."""
        for role, words in (*item.targets.items(), *item.poles.items()):
            for word, pool in words.items():
                if len(pool) >= LEAST:
                    requests = [request for each in pool if (request := self._request(each))]
                    if len(requests) >= LEAST:
                        yield role, word, requests

    def _read(self, mention: Occurrence) -> types.SpanVectors | None:
        """None for a sentence that the model cannot read, whose word it does not know, or in which
        a token crosses the word's edge."""
        try:
            encoding = self.encode(mention.text)
            check_known(encoding, [mention.span], self.unknown)
            positions = tuple(tokens_in(mention.text, encoding, [mention.span]))
        except types.Skip:
            return None
        return types.SpanVectors(encoding.ids, positions, encoding.segments) if positions else None

    def _check(self, item: Usage, asked: Mapping[str, object]) -> None:
        roles = [name.partition("/")[0] for name in asked]
        if any(role not in roles for role in item.targets):
            raise types.Skip(FEW_SENTENCES)
        if any(role not in roles for role in item.poles):
            raise types.Skip(NO_POLE)
        spread_over = item.poles if len(item.targets) == 1 else item.targets
        if sum(role in spread_over for role in roles) < LEAST_WORDS:
            raise types.Skip(FEW_WORDS)

    def score(self, item: Usage, exchanged: types.Exchanged) -> types.Score:
        vectors: dict[str, dict[str, Floats]] = {}
        for name, asked in exchanged.items():
            role, _, word = name.partition("/")
            vectors.setdefault(role, {})[word] = np.array(
                [self._vector(answer) for _, answer in asked]
            )
        rng = np.random.default_rng([item.seed, crc32(item.id.encode())])
        targets = [vectors[role] for role in item.targets]
        effects, combined = ceat(*targets, left=vectors["left"], right=vectors["right"], rng=rng)
        low, high = percentile(effects, 0.95)
        spread = {"error": combined.error, "between": combined.between}
        words: dict[str, float] = {}
        for pole in item.poles:
            near = nearness(vectors[pole], *targets)
            words |= {f"{pole}/{word}": value for word, value in near.items()}
        derived, values = {"low": low, "high": high, **spread, **words}, {"effect": combined.effect}
        return types.Score(item.id, item.slices, values, None, item.texts, derived)

    def _vector(self, answer: types.Answer) -> Floats:
        rows = [np.array(row["vector"]) for row in answer.rows]
        return rows[0] if self.variant == "paper" else np.mean(rows, axis=0)


def ceat(
    *targets: Vectors, left: Vectors, right: Vectors, rng: np.random.Generator, draws: int = DRAWS
) -> tuple[Floats, Combined]:
    """Effects towards the right pole, per draw of one sentence per word, and combined."""
    drawn = [_drawn(words, draws, rng) for words in targets]
    near, far = _drawn(right, draws, rng), _drawn(left, draws, rng)
    if len(drawn) == 1:
        group = drawn[0][:, :1]
        effects = effect(cosines(group, near), cosines(group, far))
        sizes = near.shape[1], far.shape[1]
    else:
        first, second = (_leaning(words, near, far) for words in drawn)
        effects, sizes = effect(first, second), (first.shape[1], second.shape[1])
    return effects, random_effects(effects, within_variance(effects, sizes))


def nearness(pole: Vectors, *targets: Vectors) -> dict[str, float]:
    """Of each word of a pole, its mean cosine with a group, or with the first less the second. Over
    all sentences of both: whatever was drawn."""
    groups = [np.mean([_direction(pool) for pool in words.values()], axis=0) for words in targets]
    towards = groups[0] - groups[1] if len(groups) > 1 else groups[0]
    return {word: float(_direction(pool) @ towards) for word, pool in pole.items()}


def _direction(pool: Floats) -> Floats:
    """The mean of a word's vectors, each of length 1."""
    size = np.linalg.norm(pool, axis=-1, keepdims=True)
    mean: Floats = (pool / np.where(size > 0, size, 1.0)).mean(axis=0)
    return mean


def _drawn(words: Vectors, draws: int, rng: np.random.Generator) -> Floats:
    """One sentence a word in each draw: draws x words x dimensions."""
    return np.stack([pool[rng.integers(0, len(pool), draws)] for pool in words.values()], axis=1)


def _leaning(words: Floats, near: Floats, far: Floats) -> Floats:
    """Of each word, how much nearer it is to one pole than to the other: draws x words."""
    nearness, farness = (
        cosines(words[:, :, None], pole[:, None]).mean(axis=-1) for pole in (near, far)
    )
    difference: Floats = nearness - farness
    return difference


# ------------------------------------------------------------------- effect sizes and their mean


def cosines(first: Floats, second: Floats) -> Floats:
    """Between vectors along the last axis."""
    size = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    cosine: Floats = (first * second).sum(axis=-1) / np.where(size > 0, size, 1.0)
    return cosine


def effect(near: Floats, far: Floats) -> Floats:
    """The difference of means over the spread of all; the last axis runs over words. Of one group,
    from its cosines with the words of two poles; of two groups, from how much nearer each of their
    words is to one pole."""
    spread = np.concatenate([near, far], axis=-1).std(axis=-1, ddof=1)
    difference = near.mean(axis=-1) - far.mean(axis=-1)
    return np.where(spread > 0, difference / np.where(spread > 0, spread, 1.0), 0.0)


@dataclass(frozen=True)
class Combined:
    """The effects of many draws as one."""

    effect: float
    error: float
    between: float
    """Variance between draws beyond that within them."""


def within_variance(effects: Floats, sizes: tuple[int, int]) -> Floats:
    """The sampling variance of a standardised difference of two means (Hedges and Olkin 1985)."""
    a, b = sizes
    variances: Floats = (a + b) / (a * b) + effects**2 / (2 * (a + b))
    return variances


def random_effects(effects: Floats, variances: Floats) -> Combined:
    """DerSimonian and Laird. Draws are weighted by the inverse of the variance within and between
    them."""
    weights = 1 / variances
    total = weights.sum()
    fixed = (weights * effects).sum() / total
    q = float((weights * (effects - fixed) ** 2).sum())
    scale = float(total - (weights**2).sum() / total)
    between = max(0.0, (q - (effects.size - 1)) / scale) if scale > 0 else 0.0
    weights = 1 / (variances + between)
    effect, error = float((weights * effects).sum() / weights.sum()), sqrt(1 / float(weights.sum()))
    return Combined(effect, error, between)


@dataclass(frozen=True)
class EmbeddingMethod(types.Method):
    """CEAT in one of its two forms."""

    def bind(
        self, backend: types.Backend, variant: types.Variant, options: types.NoOptions
    ) -> EmbeddingAssociation:
        if self.way(backend, self.reads) is None:
            raise ModelError(
                f"{backend.card.name} cannot answer {self.name}. It gives no vectors of words. "
                "Choose a language model."
            )
        return EmbeddingAssociation(self.label(), backend.encode, variant)


VECTORS = [frozenset({types.SpanVectors.kind})]
CEAT = "CEAT, Guo and Caliskan 2021"
SINGLE = EmbeddingMethod(
    "ceat", "sentences", {"sentences": VECTORS}, source=f"{CEAT}; SeT, Cao et al. 2022, Table 6"
)
TWO_GROUP = EmbeddingMethod(
    "ceat-two-group", "sentence-pairs", {"sentence-pairs": VECTORS}, source=CEAT
)
