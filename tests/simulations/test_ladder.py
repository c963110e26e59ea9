"""Under 1,000 submissions the Ladder publishes what an honest first value would have said.

Figures of 2026-11-17 stand in docs/howto/board.md.
"""

from __future__ import annotations

import numpy as np
import pytest

from stereometer.core.stats.means import StudentMean
from stereometer.kinds.cats.metrics import Gap, side_values
from stereometer.wings.board.judge import climbs, level_of
from tests.simulations.ladder import SUBMISSIONS, anything, cats, icat_p, one_error, pairs


def test_levels_sum_to_one_percent_however_often_somebody_submits() -> None:
    total = sum(level_of(number) for number in range(2, 100_000))
    assert total == pytest.approx(0.01, rel=1e-4)
    assert total < 0.01
    with pytest.raises(ValueError, match="not tested"):
        level_of(1)


def test_only_what_is_nearer_and_tested_climbs() -> None:
    assert climbs(0.004, True, 2)
    assert not climbs(0.004, False, 2)
    assert not climbs(0.004, True, 3)
    assert not climbs(0.006, True, 2)


def test_the_published_value_stays_within_two_standard_errors() -> None:
    """As often as one honest value, which is 95.4 % if errors are normal. 200 simulations would
    tell 95 % from 93 or 97 by luck only, so there are 1,000."""
    sets = 1000
    offs = [_off(number) for number in range(sets)]
    assert sum(abs(off) <= 2 for off in offs) >= 0.95 * sets


def _off(number: int) -> float:
    world = pairs(np.random.default_rng([7, number]))
    assert world.values.size == SUBMISSIONS
    return world.off(world.published())


@pytest.mark.parametrize("rule", [anything, one_error])
def test_without_it_luck_is_published(rule: object) -> None:
    """Neither a board that shows the best of all, nor a bar of one standard error, holds."""
    sets = 20
    worlds = [pairs(np.random.default_rng([7, number])) for number in range(sets)]
    offs = [world.off(world.published(rule)) for world in worlds]  # type: ignore[arg-type]
    assert sum(abs(off) <= 2 for off in offs) <= sets / 3


def test_p_for_all_at_once_is_the_p_of_the_package() -> None:
    rng = np.random.default_rng(3)
    lms, ss = rng.normal(80, 5, (6, 30)), rng.normal(52, 5, (6, 30))
    each = [side_values(*row) for row in zip(lms, ss, strict=True)]
    sides = [np.array(rows) for rows in zip(*each, strict=True)]
    icat = lms.mean(axis=1) * np.minimum(ss.mean(axis=1), 100 - ss.mean(axis=1)) / 50
    for number in range(1, 6):
        if icat[number] > icat[0]:
            gap = Gap.of(StudentMean.of, each[0], each[number])
            assert icat_p(sides, 0)[number] == pytest.approx(gap.p())


def test_on_cats_it_adds_nothing_to_the_error_of_a_first_value() -> None:
    sets = 200
    worlds = (cats(np.random.default_rng([7, number])) for number in range(sets))
    offs = np.array([(world.off(world.published()), world.off(0)) for world in worlds])
    within = (np.abs(offs) <= 2).sum(axis=0)
    assert within[0] >= within[1] - 0.01 * sets
    assert within[0] >= 0.92 * sets  # 95 % less two standard errors of a share of 200
    assert (offs[:, 0] > 2).sum() <= 0.05 * sets
