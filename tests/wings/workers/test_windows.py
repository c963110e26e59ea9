"""Requests are cut into windows that let workers finish together."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.types import Request, WholeText
from stereometer.wings.workers.crew import SMALLEST_WINDOW, Window, cut, window_tokens


def windows(
    tokens: Sequence[int], workers: int, begins: bool = True, ends: bool = True
) -> list[Window]:
    requests: dict[str, Request] = {
        f"{number}": WholeText("word " * count) for number, count in enumerate(tokens)
    }
    return list(cut(requests, workers, begins, ends))


@given(
    st.lists(st.integers(1, 3_000), max_size=60), st.integers(1, 9), st.booleans(), st.booleans()
)
def test_every_request_is_in_one_window_in_its_order(
    tokens: list[int], workers: int, begins: bool, ends: bool
) -> None:
    parts = windows(tokens, workers, begins, ends)
    assert [key for part in parts for key in part.requests] == [f"{n}" for n in range(len(tokens))]
    for part in parts:
        assert part.tokens == sum(request.tokens for request in part.requests.values())
        assert part.tokens < window_tokens(workers) + max(tokens)


def test_the_window_that_is_asked_twice_costs_little() -> None:
    for count in (500, 2_000, 20_000):
        first, *rest = windows([20] * count, 2)
        assert first.tokens <= max(SMALLEST_WINDOW + 20, 0.02 * 20 * count)
        assert rest


def test_workers_finish_together() -> None:
    """Each takes the next window when it has done one: the last to finish is hardly later."""
    for workers in (2, 4, 8):
        busy = [0] * workers
        for part in windows([20] * 4_000, workers):
            busy[busy.index(min(busy))] += part.tokens
        assert max(busy) <= 1.05 * sum(busy) / workers


def test_windows_are_large_until_the_last_are_drawn() -> None:
    for workers in (2, 8, 64):
        *whole, _ = windows([20] * 40_000, workers, begins=False, ends=False)
        assert {part.tokens // 20 for part in whole} == {-(-window_tokens(workers) // 20)}
