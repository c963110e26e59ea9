"""The driver's loop with workers that follow a script: whom it blames, and that it always ends."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from random import Random

import pytest

from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.runs.open import open_model
from stereometer.core.types import Answer, Backend, CausalTokens, Request
from stereometer.wings.workers.crew import TRIES, Answers, Event, Failed, Gone, Hello
from stereometer.wings.workers.driver import Pool

Script = Callable[[int, Mapping[str, Request]], Event]
"""What a worker says to what it is asked."""
LOOKS = 2000
"""After so many looks without an end a test fails."""


class Scripted:
    """Workers in this process, the first of them number 1."""

    def __init__(self, sizes: Sequence[int], script: Script, strangers: int = 0) -> None:
        self.sizes, self.script, self.strangers = deque(sizes), script, strangers
        self.numbers, self.said = count(1), deque[tuple[int, Event]]()
        self.stopped: list[int] = []
        self.looks = 0

    def size(self) -> int:
        return self.sizes[0]

    def start(self) -> int:
        number = next(self.numbers)
        identity = "another" if number <= self.strangers else backend().card.identity
        self.said.append((number, Hello(identity, {})))
        return number

    def send(self, worker: int, requests: Mapping[str, Request]) -> None:
        self.said.append((worker, self.script(worker, requests)))

    def events(self, seconds: float) -> Iterator[tuple[int, Event]]:
        self.looks += 1
        assert self.looks < LOOKS, "the driver does not end"
        if len(self.sizes) > 1:
            self.sizes.popleft()
        heard, self.said = self.said, deque()
        yield from (event for event in heard if event[0] not in self.stopped)

    def stop(self, worker: int) -> None:
        self.stopped.append(worker)

    def close(self) -> None:
        return None


def backend() -> Backend:
    opened = open_model("fake")
    assert isinstance(opened, Backend)
    return opened


def requests(number: int) -> dict[str, Request]:
    return {f"{at:03}": CausalTokens((at, at + 1, at + 2), 1) for at in range(number)}


def answer(value: float = -1.0) -> Answer:
    return Answer(({"logprob": array("d", [value, value])},))


def right(number: int, asked: Mapping[str, Request]) -> Event:
    return Answers({key: answer() for key in asked})


def breaking(faults: Mapping[int, Sequence[str]]) -> Script:
    """Workers that answer NaN to some requests, the others rightly."""

    def script(number: int, asked: Mapping[str, Request]) -> Event:
        broken = faults.get(number, ())
        return Answers({key: answer(float("nan") if key in broken else -1.0) for key in asked})

    return script


def pooled(crew: Scripted, asked: Mapping[str, Request]) -> tuple[dict[str, Answer], Pool]:
    pool = Pool(backend(), crew, {}, patience=60)
    answers: dict[str, Answer] = {}
    for part in pool.stream(iter([asked])):
        answers |= part
    return answers, pool


def unanswered(answers: Mapping[str, Answer]) -> list[str]:
    return sorted(key for key, each in answers.items() if not each.rows)


@pytest.mark.parametrize("bad", [1, 2])
def test_a_worker_that_breaks_the_contract_is_replaced_whenever_it_is_asked(bad: int) -> None:
    """The first window is asked of both: the bad worker may be the first or the second."""
    crew = Scripted([2], breaking({bad: ["002"]}))
    answers, pool = pooled(crew, requests(6))
    assert answers.keys() == requests(6).keys()
    assert unanswered(answers) == []
    assert pool.happened.refused == 1
    assert crew.stopped == [bad]


def test_a_good_worker_is_not_blamed_for_being_asked_before() -> None:
    crew = Scripted([3], breaking({2: ["001"]}))
    answers, _ = pooled(crew, requests(6))
    assert unanswered(answers) == []
    assert crew.stopped == [2]


def test_an_answer_that_one_worker_gave_is_not_lost_to_two_that_cannot() -> None:
    answers, pool = pooled(Scripted([3], breaking({2: ["001"], 3: ["001"]})), requests(6))
    assert unanswered(answers) == []
    assert pool.happened.skipped == 0


def test_workers_that_break_different_requests_are_both_replaced() -> None:
    crew = Scripted([2], breaking({1: ["001"], 2: ["002"]}))
    answers, _ = pooled(crew, requests(6))
    assert unanswered(answers) == []
    assert sorted(crew.stopped) == [1, 2]


def test_what_every_worker_breaks_has_no_answer() -> None:
    faults = {number: ["003"] for number in range(1, 50)}
    for size in (1, 2, 3):
        answers, pool = pooled(Scripted([size], breaking(faults)), requests(6))
        assert unanswered(answers) == ["003"]
        assert (pool.happened.skipped, pool.happened.refused) == (1, 0)


def test_checkers_that_all_break_the_contract_end_the_check_and_not_the_run() -> None:
    faults = {number: ["000"] for number in range(2, 50)}
    answers, pool = pooled(Scripted([2], breaking(faults)), requests(6))
    assert unanswered(answers) == []
    assert pool.happened.refused == TRIES


def test_one_worker_that_breaks_something_else_each_time_is_asked_twice() -> None:
    asked: list[int] = []

    def script(number: int, part: Mapping[str, Request]) -> Event:
        asked.append(number)
        broken = sorted(part)[len(asked) % 2]
        return Answers({key: answer(1.0 if key == broken else -1.0) for key in part})

    answers, _ = pooled(Scripted([1], script), requests(6))
    assert unanswered(answers) == []
    assert len(asked) == 2


def test_many_neighbours_that_kill_are_all_skipped() -> None:
    poison = {f"{at:03}" for at in range(20, 40)}

    def script(number: int, asked: Mapping[str, Request]) -> Event:
        return Gone("is gone") if poison & asked.keys() else right(number, asked)

    answers, pool = pooled(Scripted([2], script), requests(60))
    assert set(unanswered(answers)) == poison
    assert pool.happened.skipped == len(poison)


def test_workers_that_die_without_any_answer_end_the_run() -> None:
    with pytest.raises(StereometerError, match="lost one after the other"):
        pooled(Scripted([2], lambda number, asked: Gone("is gone")), requests(4000))


def test_a_good_worker_goes_on_where_machines_with_refused_ones_leave() -> None:
    crew = Scripted([3, 3, 3, 2, 1], right, strangers=2)
    answers, pool = pooled(crew, requests(6))
    assert unanswered(answers) == []
    assert pool.happened.refused == 2


def test_where_every_worker_is_refused_the_run_ends_with_the_reason() -> None:
    with pytest.raises(ModelError, match="No worker can answer"):
        pooled(Scripted([2], right, strangers=2), requests(6))


def test_a_window_that_fails_is_asked_again_in_halves() -> None:
    def script(number: int, asked: Mapping[str, Request]) -> Event:
        return Failed("no memory", "window") if len(asked) > 4 else right(number, asked)

    answers, _ = pooled(Scripted([2], script), requests(30))
    assert unanswered(answers) == []


def test_every_window_is_checked_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that turns wrong after a while is found by the next window that it answers."""
    monkeypatch.setattr("stereometer.wings.workers.crew.LARGEST_WINDOW", 6)
    monkeypatch.setattr("stereometer.wings.workers.crew.SMALLEST_WINDOW", 6)
    asked: list[int] = []

    def script(number: int, part: Mapping[str, Request]) -> Event:
        asked.append(number)
        wrong = number == 2 and len(asked) > 8
        return Answers({key: answer(-2.0 if wrong else -1.0) for key in part})

    with pytest.raises(ModelError, match="different answers"):
        pooled(Scripted([2], script), requests(60))


@pytest.mark.long
@pytest.mark.parametrize(("share", "least"), [(0.1, 18), (0.01, 15)])
def test_a_worker_that_errs_now_and_then_is_noticed(share: float, least: int) -> None:
    """In so many of 20 runs of 4,000 requests: 20 and 19 are found, where one window in 50 asked
    twice found next to none."""
    found = 0
    for seed in range(20):
        draw = Random(seed)

        def script(number: int, part: Mapping[str, Request], draw: Random = draw) -> Event:
            wrong = {key for key in part if number == 2 and draw.random() < share}
            return Answers({key: answer(-2.0 if key in wrong else -1.0) for key in part})

        pool = Pool(backend(), Scripted([3], script), {}, patience=60)
        pool.draw = Random(seed)
        try:
            list(pool.stream(iter([requests(4000)])))
        except ModelError:
            found += 1
    assert found >= least, found


def test_a_check_is_counted_when_it_is_answered() -> None:
    """Not where it was sent, and a second worker never came."""
    _, both = pooled(Scripted([2], right), requests(4000))
    assert both.happened.checked > 0.02 * 4000
    assert 0 < both.record["share_of_wrong_answers_noticed"] < 0.05
    _, alone = pooled(Scripted([2, 1], right, strangers=1), requests(60))
    assert (alone.happened.checked, alone.record["share_of_wrong_answers_noticed"]) == (0, None)
