"""The joint test over readings: what it is, its size under no preference, and its power."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from stereometer.stats.intervals import Floats
from stereometer.stats.joint import joint_test, t_values
from stereometer.stats.means import StudentMean

READINGS = 12


def table(
    rng: np.random.Generator, terms: int, shift: float = 0.0, spread: float = 0.15
) -> tuple[Floats, Floats]:
    """Twelve correlated readings of the same items: six ways of asking, by term and by item.

    A term leans by its own amount, and every item is lost or won; two ways of asking agree on
    about four of five items.
    """
    counts = rng.integers(3, 60, terms)
    lean = rng.normal(shift, spread, terms)
    sums, sizes = np.zeros((terms, READINGS)), np.ones((terms, READINGS))
    for term, (count, mean) in enumerate(zip(counts, lean, strict=True)):
        likes = rng.normal(mean, 1.0, count)[:, None] + rng.normal(0, 0.7, (count, READINGS // 2))
        sides = np.sign(likes).sum(axis=0)
        sums[term] = np.concatenate([sides / count, sides])
        sizes[term, READINGS // 2 :] = count
    return sums, sizes


def rejected(runs: int, flips: int, terms: int, shift: float = 0.0) -> dict[str, float]:
    """How often each of the three tests rejects at 5 %."""
    rng = np.random.default_rng([terms, int(1000 * shift)])
    counts = dict.fromkeys(("median", "share", "any"), 0)
    for _ in range(runs):
        joint = joint_test(*table(rng, terms, shift), flips, rng)
        counts["median"] += joint.p_median < 0.05
        counts["share"] += joint.p_share < 0.05
        counts["any"] += joint.p_adjusted.min() < 0.05
    return {name: count / runs for name, count in counts.items()}


def test_unflipped_it_is_the_t_of_a_clustered_mean() -> None:
    sums, sizes = table(np.random.default_rng(1), 20)
    t = t_values(sums, sizes, np.ones((1, 20)))[0]
    for at in range(READINGS):
        mean = StudentMean.clustered(sums[:, at], sizes[:, at])
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
    """The same flips for all: copies of a reading add nothing, to the last digit."""
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


def test_without_a_preference_it_rejects_as_often_as_it_should() -> None:
    """At 5 % of 400 sets of 30 terms: within three standard errors of it, or below."""
    rates = rejected(400, 199, 30)
    assert max(rates.values()) <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.long
@pytest.mark.parametrize("terms", [10, 24, 79])
def test_size(terms: int) -> None:
    """2,000 null sets; the figures in docs/uncertainty.md are these."""
    rates = rejected(2000, 499, terms)
    assert max(rates.values()) <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5


@pytest.mark.long
def test_power() -> None:
    """79 terms that lean by 0.12 on average, and 0.06."""
    large, small = rejected(300, 499, 79, 0.12), rejected(300, 499, 79, 0.06)
    assert large["median"] > 0.95
    assert 0.35 < small["median"] < large["median"]
