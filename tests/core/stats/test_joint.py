"""The joint test over readings: what it is. Its size and power are in tests/simulations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from stereometer.core.stats.joint import joint_test, t_values
from stereometer.core.stats.means import PerUnit
from tests.simulations.readings import READINGS, table


def test_unflipped_it_is_the_t_of_a_clustered_mean() -> None:
    sums, sizes = table(np.random.default_rng(1), 20)
    t = t_values(sums, sizes, np.ones((1, 20)))[0]
    for at in range(READINGS):
        mean = PerUnit(sums[:, at], sizes[:, at]).mean
        assert t[at] == pytest.approx(mean.value / mean.error)


def test_units_that_a_reading_does_not_have_do_not_count() -> None:
    sums, sizes = table(np.random.default_rng(2), 20)
    sums[7:], sizes[7:] = 0.0, 0.0
    whole, part = (t_values(sums[:n], sizes[:n], np.ones((1, n)))[0] for n in (20, 7))
    assert whole == pytest.approx(part)


def test_few_clusters_are_flipped_in_every_way() -> None:
    """Against a plain loop over all signs."""
    rng = np.random.default_rng(3)
    sums, sizes = rng.normal(0.4, 1, (7, 3)), rng.integers(1, 9, (7, 3)).astype(float)
    every = np.array(list(product((-1.0, 1.0), repeat=7)))
    t = t_values(sums, sizes, every)
    observed = t_values(sums, sizes, np.ones((1, 7)))[0]
    joint = joint_test(sums, sizes, 100, rng)
    median = np.abs(np.median(t, axis=1)) >= abs(np.median(observed)) - 1e-9
    assert joint.p_median == pytest.approx(median.mean())
    largest = np.abs(t).max(axis=1)
    for at in range(3):
        expected = (largest >= abs(observed[at]) - 1e-9).mean()
        assert joint.p_adjusted[at] == pytest.approx(expected)
    assert (joint.flips, joint.least) == (128, 2 / 128)


def test_one_reading_said_twelve_times_is_one_reading() -> None:
    """All readings are flipped alike: copies of a reading add nothing, to the last digit."""
    sums, sizes = table(np.random.default_rng(4), 30, 0.1)
    alone = joint_test(sums[:, :1], sizes[:, :1], 500, np.random.default_rng(0))
    copies = joint_test(
        np.repeat(sums[:, :1], 12, 1), np.repeat(sizes[:, :1], 12, 1), 500, np.random.default_rng(0)
    )
    assert copies.p_median == alone.p_median == alone.p_adjusted[0]
    assert copies.p_adjusted == pytest.approx(alone.p_adjusted[0])


def test_swapping_all_labels_changes_the_sides_and_no_p() -> None:
    sums, sizes = table(np.random.default_rng(5), 10, 0.2)
    one, other = (joint_test(sign * sums, sizes, 100, np.random.default_rng(0)) for sign in (1, -1))
    assert one.median == pytest.approx(-other.median)
    assert (one.p_median, one.p_share) == (other.p_median, other.p_share)


def test_clusters_that_are_all_alike_are_as_sure_as_flips_can_be() -> None:
    joint = joint_test(np.ones((8, 2)), np.ones((8, 2)), 100, np.random.default_rng(0))
    assert joint.p_median == joint.least == 2 / 256
    nothing = joint_test(np.zeros((8, 2)), np.ones((8, 2)), 100, np.random.default_rng(0))
    assert nothing.p_median == 1.0
