"""What a mitigation changes: what a linear classifier still reads from states, and perplexity."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from stereometer.core.methods.spans import one_at_a_time, scored_positions
from stereometer.core.stats.clusters import clustered_percent
from stereometer.core.stats.intervals import Floats, generator
from stereometer.core.stats.means import PerUnit, effective
from stereometer.core.types import CausalTokens, MaskedTokens, Request, Skip
from stereometer.models.local.language_model import LanguageModel
from stereometer.wings.mitigation import card as cards
from stereometer.wings.mitigation.forms.apply import Projection
from stereometer.wings.mitigation.methods.linear import classifiers, predicted
from stereometer.wings.mitigation.methods.method import MitigationFit, MitigationOrder
from stereometer.wings.mitigation.methods.states import States

LEVEL = 0.95
RESAMPLES = 10_000
SPREAD = 1e-9
"""Below this, a share of the largest, a direction of the states has no spread: it was erased."""


def accuracy(training: States, test: States, seed: int) -> cards.Measured:
    """In per cent, with an interval over sentences."""
    mean, scale = training.rows.mean(0), training.rows.std(0)
    scale = scale.clamp_min(SPREAD * float(scale.max()))
    weights = classifiers((training.rows - mean) / scale, training.labels, 1 / len(training.rows))
    correct = predicted((test.rows - mean) / scale, weights) == test.labels
    return share(correct, test.sentences, seed)


def share(correct: Tensor, sentences: Tensor, seed: int) -> cards.Measured:
    """Of what is correct, in per cent, with an interval over sentences."""
    parts = [correct[sentences == number].tolist() for number in torch.unique(sentences)]
    rng = generator(seed, {}, "probe")
    counted = clustered_percent(parts, RESAMPLES, LEVEL, rng, "sentences")
    return cards.Measured(counted["value"], counted["low"], counted["high"], len(parts))


Parts = tuple[States, States]
"""What a probe is trained on, and what it is tested on."""


class Probing:
    def __init__(self, order: MitigationOrder) -> None:
        self.order = order
        config = order.backend.model.config
        self.halfway = max(1, int(getattr(config, "num_hidden_layers", 2)) // 2)

    def noted(
        self, card: cards.MitigationCard, fitted: MitigationFit, opened: LanguageModel
    ) -> cards.MitigationCard:
        """The card with probes of the last states as the head reads them, and of those halfway up.

        A projection changes the last states alone, a prompt none; an adapter may change all.
        """
        last, earlier = self._before
        if card.form == cards.PROJECTION:
            projection = Projection(**fitted.tensors)
            training, test = (replace(part, rows=projection(part.rows)) for part in last)
            last = training, test
        elif card.form == cards.ADAPTER:
            last, earlier = self._states(opened, 0), self._states(opened, self.halfway)
        probe = self._probe(self._before[0], last, 0)
        halfway = self._probe(self._before[1], earlier, self.halfway)
        return replace(card, probe=probe, earlier=halfway)

    @cached_property
    def _before(self) -> tuple[Parts, Parts]:
        backend = self.order.backend
        return self._states(backend, 0), self._states(backend, self.halfway)

    def _states(self, backend: LanguageModel, layer: int) -> Parts:
        order, where = self.order, f", layer {layer}" if layer else ""
        reader = order.reader(backend, layer)
        training = reader.scored(order.sentences.probe, f"probe{where}")
        return training, reader.scored(order.sentences.test, f"held out{where}")

    def _probe(self, before: Parts, after: Parts, layer: int) -> cards.Probe:
        first = accuracy(*before, self.order.seed)
        second = first if after is before else accuracy(*after, self.order.seed)
        return cards.Probe(first, second, 100 / len(self.order.attribute.classes), layer)


# --------------------------------------------------------------------------------------- perplexity

FEWEST = 2
"""Passages of equal length, or as many as unequal ones count for."""


def likelihoods(backend: LanguageModel, sentences: Iterable[str]) -> Floats:
    """For each sentence its log-likelihood and the number of its tokens; a masked model's is that
    of each token with all others visible."""
    requests = {str(number): _request(backend, text) for number, text in enumerate(sentences)}
    asked = {key: request for key, request in requests.items() if request is not None}
    answers = {key: answer.column("logprob") for key, answer in backend.answer(asked)}
    columns = (answers.get(key, ()) for key in requests)
    return np.array([(sum(column), len(column)) for column in columns], dtype=float)


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
) -> cards.Perplexity | None:
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
    ratio = cards.Measured(value, low, high, len(tokens))
    return cards.Perplexity(_perplexity(before), _perplexity(after), ratio, pseudo)


def _perplexity(rows: Floats) -> float:
    return float(np.exp(-rows[:, 0].sum() / rows[:, 1].sum()))
