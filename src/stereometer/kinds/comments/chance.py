"""Whether answers have anything to do with the labels, tested by shuffling labels over comments.

What is compared is the share of positive answers among comments that are of a category less that
among those that are not, summed over categories. A comment that was asked about several categories
is shuffled once, for all of them: its answers are not independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from stereometer.core.stats.intervals import Floats, Ints, generator
from stereometer.core.types import Settings, Slice

PERMUTABLE = 2000
"""Comments whose labels are shuffled in earnest; more are taken as normal."""
SHUFFLED = "gold labels shuffled over comments"


@dataclass(frozen=True)
class Category:
    """The comments asked about a category."""

    at: Ints
    """Their places among all comments."""
    share: Floats
    """Of the answers about each, those that say that it is of the category."""
    gold: NDArray[np.bool_]
    """Whether it is."""

    @property
    def weights(self) -> Floats:
        """What each comment counts in the difference of the two means."""
        weights: Floats = np.where(self.gold, 1 / self.gold.sum(), -1 / (~self.gold).sum())
        return weights


def asked_about(at: Ints, said: NDArray[np.bool_], gold: NDArray[np.bool_]) -> Category:
    """From the answers about one category: which comment, what was said and what is so."""
    places, answers = np.unique(at, return_inverse=True)
    golds = np.zeros(len(places), dtype=bool)
    golds[answers] = gold
    return Category(places, np.bincount(answers, said) / np.bincount(answers), golds)


def against_chance(asked: Sequence[Category], settings: Settings, slice_: Slice) -> float:
    """p that answers have nothing to do with the labels."""
    known = [of for of in asked if of.gold.any() and not of.gold.all()]
    everybody = 1 + max(int(of.at.max()) for of in asked)
    parts = np.zeros(everybody)
    for of in known:
        parts[of.at] += of.weights * (of.share - of.share.mean())
    seen, variance = float(parts.sum()), float((parts**2).sum())
    if variance < 1e-24:
        return 1.0
    if everybody > PERMUTABLE:
        return erfc(abs(seen) / sqrt(2 * variance))
    rng = generator(settings.seed, slice_, "chance")
    keys = rng.random((settings.resamples, everybody))
    whole = all(of.at.size == everybody for of in known)
    shuffled = sum((_shuffle(of, keys, whole) for of in known), np.zeros(settings.resamples))
    return float((1 + (np.abs(shuffled) >= abs(seen) - 1e-12).sum()) / (settings.resamples + 1))


def _shuffle(of: Category, keys: Floats, whole: bool) -> Floats:
    """The difference in each shuffle: comments in the order of their keys, for every category.
    Where all comments were asked about all categories, whole rows of labels change places. Else the
    comments that come first by their key are those of the category."""
    order = np.argsort(keys[:, of.at], axis=1)
    weights = of.weights if whole else np.sort(of.weights)[::-1]
    differences: Floats = of.share[order] @ weights
    return differences
