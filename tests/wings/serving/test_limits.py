"""How often somebody may come."""

from __future__ import annotations

from stereometer.wings.serving import limits
from tests.builders.clock import Clock


def test_a_bucket_is_emptied_by_requests_and_filled_by_time() -> None:
    clock = Clock()
    rate = limits.RateLimit(per_second=2, burst=3, clock=clock)
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]
    assert rate.allows("b")
    clock.now += 0.5
    assert [rate.allows("a"), rate.allows("a")] == [True, False]
    clock.now += 100
    assert [rate.allows("a") for _ in range(4)] == [True, True, True, False]


def test_the_oldest_keys_are_forgotten_so_that_memory_does_not_grow() -> None:
    rate = limits.RateLimit(1, 1, Clock())
    for number in range(limits.MOST_KEYS + 10):
        rate.allows(str(number))
    assert len(rate.buckets) == limits.MOST_KEYS
