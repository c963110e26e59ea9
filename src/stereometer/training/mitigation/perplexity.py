"""What a mitigation costs: perplexity of held-out sentences before and after, paired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from stereometer.backends.local.language_model import LanguageModel
from stereometer.measures.spans import one_at_a_time, scored_positions
from stereometer.mitigations.card import Measured, Perplexity
from stereometer.stats.intervals import Floats
from stereometer.stats.means import PerUnit, effective
from stereometer.types import CausalTokens, MaskedTokens, Request, Skip

LEVEL = 0.95
FEWEST = 2
"""Passages of equal length, or as many as unequal ones count for."""


def likelihoods(backend: LanguageModel, sentences: Iterable[str]) -> Floats:
    """For each sentence its log-likelihood and the number of its tokens; a masked model's is that
    of each token with all others visible."""
    requests = {str(number): _request(backend, text) for number, text in enumerate(sentences)}
    asked = {key: request for key, request in requests.items() if request is not None}
    answers = {key: answer.column("logprob") for key, answer in backend.answer(asked)}
    rows = [
        (sum(answers[key]), len(answers[key])) if key in answers else (0, 0) for key in requests
    ]
    return np.array(rows, dtype=float)


def is_pseudo(backend: LanguageModel) -> bool:
    """Whether a token is asked with all others visible."""
    return MaskedTokens.kind in backend.answers


def _request(backend: LanguageModel, text: str) -> Request | None:
    try:
        encoding = backend.encode(text)
        if is_pseudo(backend):
            return one_at_a_time(encoding, scored_positions(encoding))
    except Skip:
        return None
    return CausalTokens(encoding.ids, 1)


def compared(
    before: Floats, after: Floats, passages: Sequence[int], pseudo: bool
) -> Perplexity | None:
    """The ratio of perplexities of the sentences that fit both models. Its interval is Student's
    over passages, whose numbers are given; of a single one, or of one that has nearly all tokens,
    there is none."""
    usable = (before[:, 1] > 0) & (after[:, 1] > 0)
    _, places = np.unique(np.array(passages)[usable], return_inverse=True)
    before, after = before[usable], after[usable]
    lost, tokens = before[:, 0] - after[:, 0], before[:, 1]
    sums, sizes = (np.bincount(places, part).astype(float) for part in (lost, tokens))
    if not places.any() or effective(sizes) < FEWEST:
        return None
    mean = PerUnit(sums, sizes).mean
    value, low, high = map(float, np.exp([mean.value, *mean.interval(LEVEL)]))
    ratio = Measured(value, low, high, len(tokens))
    return Perplexity(_perplexity(before), _perplexity(after), ratio, pseudo)


def _perplexity(rows: Floats) -> float:
    return float(np.exp(-rows[:, 0].sum() / rows[:, 1].sum()))
