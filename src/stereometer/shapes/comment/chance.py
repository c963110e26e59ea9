"""Whether answers have anything to do with the labels, tested by shuffling labels over comments.

What is compared is the share of positive answers among comments that are of a category less that
among those that are not, summed over categories. A comment that was asked about several categories
is shuffled once, for all of them: its answers are not independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from stereometer.stats.intervals import Floats, generator
from stereometer.types import Settings, Slice

PERMUTABLE = 2000
"""Comments whose labels are shuffled in earnest; more are taken as normal."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said of a comment when it was asked about a category."""

    share: float
    """Of its answers, those that say that it is of the category."""
    gold: bool
    """Whether it is."""


@dataclass(frozen=True)
class Category:
    """The comments asked about a category that some are of and some are not."""

    at: NDArray[np.intp]
    """Their places among all comments."""
    share: Floats
    gold: NDArray[np.bool_]

    @property
    def weights(self) -> Floats:
        """What each comment counts in the difference of the two means."""
        weights: Floats = np.where(self.gold, 1 / self.gold.sum(), -1 / (~self.gold).sum())
        return weights


def against_chance(
    asked: Mapping[str, Mapping[str, Asked]], settings: Settings, slice_: Slice
) -> float:
    """p that answers have nothing to do with the labels. `asked` is by category and comment."""
    everybody = list(dict.fromkeys(comment for of in asked.values() for comment in of))
    categories = [_category(of, everybody) for of in asked.values()]
    known = [of for of in categories if of.gold.any() and not of.gold.all()]
    parts = np.zeros(len(everybody))
    for of in known:
        parts[of.at] += of.weights * (of.share - of.share.mean())
    seen, variance = float(parts.sum()), float((parts**2).sum())
    if variance < 1e-24:
        return 1.0
    if len(everybody) > PERMUTABLE:
        return erfc(abs(seen) / sqrt(2 * variance))
    rng = generator(settings.seed, slice_, "chance")
    keys = rng.random((settings.resamples, len(everybody)))
    whole = all(of.at.size == len(everybody) for of in known)
    shuffled = sum((_shuffled(of, keys, whole) for of in known), np.zeros(settings.resamples))
    return float((1 + (np.abs(shuffled) >= abs(seen) - 1e-12).sum()) / (settings.resamples + 1))


def _category(of: Mapping[str, Asked], everybody: list[str]) -> Category:
    at = [place for place, comment in enumerate(everybody) if comment in of]
    rows = [of[everybody[place]] for place in at]
    shares, golds = np.array([row.share for row in rows]), np.array([row.gold for row in rows])
    return Category(np.array(at), shares, golds)


def _shuffled(of: Category, keys: Floats, whole: bool) -> Floats:
    """The difference in each shuffle: comments in the order of their keys, for every category.

    Where all comments were asked about all categories, whole rows of labels change places. Else the
    comments that come first by their key are those of the category.
    """
    order = np.argsort(keys[:, of.at], axis=1)
    weights = of.weights if whole else np.sort(of.weights)[::-1]
    differences: Floats = of.share[order] @ weights
    return differences
