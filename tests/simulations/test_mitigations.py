"""A mitigation is called an improvement where it is one, and hardly ever where it is not.

Shares are held to their bars within three standard errors.
"""

from __future__ import annotations

from math import sqrt

import pytest

from tests.simulations.mitigations import BEFORE, Truth, coverage, perplexity_coverage, verdicts

SETS = 1000


def slack(share: float) -> float:
    return 3 * sqrt(share * (1 - share) / SETS)


def test_without_a_preference_nothing_is_beyond_noise() -> None:
    none = Truth(50.0)
    assert verdicts(SETS, none, none, before=none).get("not beyond noise", 0.0) >= 0.95


def test_without_an_effect_a_preference_is_beyond_noise_in_one_set_of_twenty() -> None:
    shares = verdicts(SETS, BEFORE)
    assert shares.get("not beyond noise", 0.0) >= 0.95 - slack(0.95)
    claimed = shares.get("improved", 0.0) + shares.get("worse", 0.0)
    assert claimed <= 0.05 + slack(0.05)


@pytest.mark.parametrize(
    ("says", "after", "control"),
    [
        ("improved", Truth(53.0), BEFORE),
        ("not beyond control", Truth(53.0), Truth(53.0)),
        ("worse", Truth(67.0), BEFORE),
        ("damaged", Truth(53.0, lms=77.0), BEFORE),
        ("damage not excluded", Truth(53.0, lms=79.0), BEFORE),
    ],
)
def test_what_is_planted_is_said(says: str, after: Truth, control: Truth) -> None:
    assert verdicts(300, after, control).get(says, 0.0) >= 0.9


@pytest.mark.parametrize("after", [60.0, 55.0, 40.0])
def test_the_interval_of_the_distance_from_50_is_right(after: float) -> None:
    """At 40 a model that was at 60 has gone past 50 and is as far from it as before."""
    assert coverage(SETS, after) >= 0.95 - slack(0.95)


@pytest.mark.parametrize(
    ("spread", "shared", "loss"), [(0.1, 0.0, 0.0), (0.3, 0.05, 0.1), (2.0, 0.5, 1.0)]
)
def test_the_interval_of_a_ratio_of_perplexities_covers(
    spread: float, shared: float, loss: float
) -> None:
    sets = 8000
    covered = perplexity_coverage(sets, spread, shared, loss, seed=sets)
    assert abs(covered - 0.95) <= 0.005 + 3 * sqrt(0.95 * 0.05 / sets)
