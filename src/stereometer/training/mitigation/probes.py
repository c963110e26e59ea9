"""What a linear classifier still reads from states: on articles and words that nothing was fitted
on."""

from __future__ import annotations

import torch
from torch import Tensor

from stereometer.mitigations.card import Measured
from stereometer.stats.clusters import clustered_percent
from stereometer.stats.intervals import generator
from stereometer.training.mitigation.linear import classifiers, predicted
from stereometer.training.mitigation.states import States

LEVEL = 0.95
RESAMPLES = 10_000
SPREAD = 1e-9
"""Below this, a share of the largest, a direction of the states has no spread: it was erased."""


def accuracy(training: States, test: States, seed: int) -> Measured:
    """In per cent, with an interval over sentences."""
    mean, scale = training.rows.mean(0), training.rows.std(0)
    scale = scale.clamp_min(SPREAD * float(scale.max()))
    weights = classifiers((training.rows - mean) / scale, training.labels, 1 / len(training.rows))
    correct = predicted((test.rows - mean) / scale, weights) == test.labels
    return share(correct, test.sentences, seed)


def share(correct: Tensor, sentences: Tensor, seed: int) -> Measured:
    """Of what is correct, in per cent, with an interval over sentences."""
    parts = [correct[sentences == number].tolist() for number in torch.unique(sentences)]
    rng = generator(seed, {}, "probe")
    counted = clustered_percent(parts, RESAMPLES, LEVEL, rng, "sentences")
    return Measured(counted["value"], counted["low"], counted["high"], len(parts))
