"""Whether answers on a bounded scale lie at both ends, more than one peak allows."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrc

from stereometer.stats.intervals import Floats

LEVEL = 0.05


def polarised(answers: Floats, low: float = 0.0, high: float = 100.0) -> bool:
    """Both outer thirds of the scale hold more answers than the middle third, beyond chance.

    A distribution with one peak has at least as much in the middle third as in one of the outer
    ones, wherever its peak is: its density falls away from the peak, so the third beyond the
    middle, seen from there, is the emptier of the two. Hence each outer third is tested against the
    middle (binomial, one half), and both must be significant: an intersection-union test, whose
    false marks stay below 5 % for any distribution with one peak, without assuming its form. It
    takes five answers at either end and none between, so fewer than ten never suffice.
    """
    third = (high - low) / 3
    below = int(np.count_nonzero(answers < low + third))
    above = int(np.count_nonzero(answers > high - third))
    middle = answers.size - below - above
    return max(_p(below, middle), _p(above, middle)) <= LEVEL


def _p(outer: int, middle: int) -> float:
    """The chance of so many in the outer third where both are equally likely."""
    return float(bdtrc(outer - 1, outer + middle, 0.5)) if outer else 1.0
