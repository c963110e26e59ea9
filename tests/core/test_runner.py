"""Plan, dedupe, cache, ask, score: every distinct request once, a window at a time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stereometer
from stereometer.core.errors import ModelError
from stereometer.core.methods.declared import Bound, scored
from stereometer.core.runs import runner
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.job import limited
from stereometer.core.runs.runner import (
    Planned,
    Serial,
    Tally,
    computed,
    distinct,
    planned,
    windows,
)
from stereometer.core.types import (
    Answer,
    Asking,
    Estimate,
    Exchanged,
    Request,
    Score,
    Settings,
    Skip,
    WholeText,
)
from stereometer.kinds.pairs.items import Pair
from stereometer.models.baselines import fake
from tests.builders.by_hand import bound
from tests.builders.little import QUICK, Counting, little_stereoset
from tests.builders.sure import all_of
from tests.strategies import MODERATE


def pairs(count: int, different: int) -> list[Pair]:
    """`count` pairs made of `different` pairs of sentences."""
    return [
        Pair(
            f"p{n}",
            f"The old cook number {n % different} sang.",
            f"The young cook number {n % different} sang.",
            "age",
        )
        for n in range(count)
    ]


def scores(
    backend: Counting, items: Sequence[Pair], cache: Cache, tally: Tally | None = None
) -> list[Score]:
    return list(
        computed(
            Asking(items, bound("pair-likelihood", backend), backend),
            Serial(backend),
            cache,
            tally or Tally(),
        )
    )


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "windows", partial(windows, size=6))


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """Stands in for `--model fake`."""
    model = Counting()
    monkeypatch.setattr(fake, "Fake", lambda seed=0: model)
    return model


# ------------------------------------------------------------------------------------------ windows

ITEM, REQUEST = Pair("p", "Old.", "Young.", "age"), WholeText("a")
PLANS = st.lists(st.integers(0, 7).map(lambda n: Planned(ITEM, {"x": [REQUEST] * n})), max_size=30)


@MODERATE
@given(PLANS, st.integers(1, 12))
def test_windows_keep_every_item_in_order_and_are_as_large_as_they_must_be(
    plans: list[Planned], size: int
) -> None:
    found = list(windows(plans, size))
    assert [plan for window in found for plan in window] == plans
    counts = [[max(1, len(plan.requests["x"])) for plan in window] for window in found]
    assert all(sum(one[:-1]) < size for one in counts)
    assert all(sum(one) >= size for one in counts[:-1])


def test_long_texts_make_small_windows() -> None:
    plans = [
        Planned(ITEM, {"x": [WholeText("one two three")] * count}) for count in (1, 1, 5, 1, 1)
    ]
    each = WholeText("one two three").tokens
    assert [len(window) for window in windows(plans, read=2 * each)] == [2, 1, 2]


def test_skipped_items_fill_a_window_too() -> None:
    assert max(map(len, windows([Planned(ITEM, skipped="why")] * 100, 10))) <= 10


@MODERATE
@given(st.lists(st.lists(st.text(max_size=1), max_size=4), max_size=6))
def test_distinct_holds_every_request_once_by_its_key(texts: list[list[str]]) -> None:
    found = distinct([Planned(ITEM, {"x": [WholeText(text) for text in row]}) for row in texts])
    held = [request.text for request in all_of(WholeText, found.values())]
    assert sorted(held) == sorted({text for row in texts for text in row})
    assert all(request.key == key for key, request in found.items())


def test_planning_waits_for_the_answers_of_the_window_before(
    tmp_path: Path, small_windows: None
) -> None:
    """Memory does not grow with the number of items: nothing is planned further ahead than one
    window."""
    diary: list[str] = []

    class Noting(Counting):
        def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
            diary.append("asked")
            return super().answer(requests)

    def items() -> Iterator[Pair]:
        for pair in pairs(9, 9):
            diary.append("planned")
            yield pair

    backend = Noting()
    stream = type(
        "Stream", (list,), {"__iter__": lambda self: items(), "__len__": lambda self: 9}
    )()
    with Cache(tmp_path / "c") as cache:
        scores(backend, stream, cache)
    assert diary == ["planned"] * 3 + ["asked"] + ["planned"] * 3 + ["asked"] + ["planned"] * 3 + [
        "asked"
    ]


def test_progress_is_told_answer_by_answer(tmp_path: Path, small_windows: None) -> None:
    told: list[tuple[int, int]] = []
    backend = Counting()
    with Cache(tmp_path / "c") as cache:
        list(
            computed(
                Asking(pairs(8, 8), bound("pair-likelihood", backend), backend),
                Serial(backend),
                cache,
                Tally(),
                lambda *one: told.append(one),
            )
        )
    assert told == sorted(told)
    assert {(1, 8), (2, 8), (3, 8), (6, 8), (8, 8)} <= set(told)
    assert told[-1] == (8, 8)


# ------------------------------------------------------------------------------------------ asking


def test_every_distinct_request_is_asked_once_across_windows(
    tmp_path: Path, small_windows: None
) -> None:
    backend, tally = Counting(), Tally()
    with Cache(tmp_path / "c") as cache:
        found = scores(backend, pairs(40, 10), cache, tally)
    assert len(backend.asked) == len(set(backend.asked)) == 20
    assert (tally.items, tally.requests) == (40, 80)
    assert found[0].values == found[10].values == found[30].values


def test_every_distinct_request_is_asked_once_across_benchmarks_and_measures(
    tmp_path: Path, counting: Counting
) -> None:
    """The second file holds the first one's items; the pairs of the third ask for sentences of
    their own."""
    little_stereoset(tmp_path / "one.json", 3)
    little_stereoset(tmp_path / "two.json", 6)
    stereometer.run(
        str(tmp_path / "one.json"),
        model="fake",
        measure=["cat-likelihood"],
        out=tmp_path / "r1",
        **QUICK,
    )
    before = set(counting.asked)
    stereometer.run(
        str(tmp_path / "one.json"),
        str(tmp_path / "two.json"),
        model="fake",
        measure=["cat-likelihood", "cat-pseudo-likelihood"],
        cache=True,
        **QUICK,
    )
    assert len(counting.asked) == len(set(counting.asked)) > len(before)


def test_without_a_kept_cache_requests_are_still_asked_once_in_a_run(
    tmp_path: Path, counting: Counting, small_windows: None
) -> None:
    path = little_stereoset(tmp_path / "one.json")
    for attempt in (1, 2):
        stereometer.run(
            str(path),
            str(path),
            model="fake",
            cache=False,
            seed=attempt,
            measure=["cat-likelihood"],
            **QUICK,
        )
    assert len(counting.asked) == 2 * len(set(counting.asked))


def test_a_second_run_asks_nothing(tmp_path: Path, counting: Counting) -> None:
    first, second = (
        stereometer.run("starter", model="fake", out=tmp_path / name, **QUICK)
        for name in ("a", "b")
    )
    assert len(counting.asked) == len(set(counting.asked))
    assert first == second


def test_scores_from_the_cache_equal_scores_from_the_model(tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        assert scores(Counting(), pairs(9, 9), cache) == scores(Counting(), pairs(9, 9), cache)


def test_what_was_asked_is_counted(tmp_path: Path) -> None:
    tally = Tally()
    with Cache(tmp_path / "c") as cache:
        scores(Counting(), pairs(6, 3), cache)
        scores(Counting(), pairs(6, 6), cache, tally)
    assert (tally.items, tally.requests, tally.distinct, tally.from_cache) == (6, 12, 12, 6)


# ----------------------------------------------------------------------------------------- skipping


class Picky(Bound):
    """Skips some items when planning and others when scoring."""

    name = "picky@1"

    def plan(self, item: Pair) -> Mapping[str, Sequence[Request]]:
        if item.id == "p1":
            raise Skip("cannot be asked")
        return {"sent_more": [WholeText(item.sent_more)]}

    def score(self, item: Pair, exchanged: Exchanged) -> Score:
        if item.id == "p2":
            raise Skip("cannot be scored")
        ((_, answer),) = exchanged["sent_more"]
        return scored(item, {"sent_more": sum(answer.column("logprob"))})

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return []


def test_an_item_that_is_skipped_keeps_its_place_and_says_why(tmp_path: Path) -> None:
    from stereometer.models.text_scores import Random

    with Cache(tmp_path / "c") as cache:
        found = list(
            computed(Asking(pairs(4, 4), Picky(), Random()), Serial(Random()), cache, Tally())
        )
    assert [one.item for one in found] == ["p0", "p1", "p2", "p3"]
    assert [one.skipped for one in found] == [None, "cannot be asked", "cannot be scored", None]
    assert [bool(one.values) for one in found] == [True, False, False, True]


def test_planning_a_skipped_item_asks_nothing() -> None:
    (one,) = planned(pairs(2, 2)[1:], Picky())
    assert (one.skipped, one.requests) == ("cannot be asked", {})


# ------------------------------------------------------------------------------ faults of a backend


class Faulty(Counting):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        found = list(super().answer(requests))
        yield from (
            found[1:]
            if self.fault == "forgets"
            else [*found, found[0]]
            if self.fault == "repeats"
            else [*found, ("x", found[0][1])]
        )


@pytest.mark.parametrize(
    ("fault", "says"),
    [("forgets", "left 1 of 8 requests"), ("repeats", "twice"), ("invents", "not asked")],
)
def test_a_backend_that_miscounts_is_refused(tmp_path: Path, fault: str, says: str) -> None:
    with Cache(tmp_path / "c") as cache, pytest.raises(ModelError, match=says):
        scores(Faulty(fault), pairs(4, 4), cache)


# ------------------------------------------------------------------------------------------- limits


@MODERATE
@given(
    st.integers(1, 60), st.integers(1, 70), st.integers(0, 70), st.randoms(use_true_random=False)
)
def test_a_limit_draws_the_same_lot_every_time_and_a_larger_one_holds_it(
    count: int, limit: int, more: int, shuffler: random.Random
) -> None:
    items = pairs(count, count)
    found = limited(items, limit)
    assert len(found) == min(count, limit)
    assert found == [item for item in items if item in found]
    assert all(item in limited(items, limit + more) for item in found)
    shuffled = list(items)
    shuffler.shuffle(shuffled)
    assert {item.id for item in limited(shuffled, limit)} == {item.id for item in found}


def test_a_limit_does_not_favour_one_end_of_the_file() -> None:
    places = [int(item.id[1:]) for item in limited(pairs(1000, 1000), 200)]
    assert 400 < sum(places) / len(places) < 600


def test_no_limit_is_everything() -> None:
    items = pairs(3, 3)
    assert limited(items, None) is items
