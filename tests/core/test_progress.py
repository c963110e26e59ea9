"""Progress: without a terminal a line every thirty seconds, by a clock that the test winds; in a
notebook a bar."""

from __future__ import annotations

import sys

import pytest

from stereometer.core.runs.progress import lines, watched_by
from stereometer.core.show.numbers import duration


def written(moments: list[tuple[float, int]], total: int = 100) -> list[str]:
    """The lines that calls at these seconds, with so many items done, write."""
    said: list[str] = []
    seconds = iter([0.0, *(second for second, _ in moments)])
    with lines("starter set", said.append, lambda: next(seconds)) as progress:
        for _, done in moments:
            progress(done, total)
    return said


def test_a_short_job_writes_nothing() -> None:
    assert written([(5.0, 20), (29.0, 99), (29.9, 100)]) == []


def test_a_long_one_writes_a_line_every_thirty_seconds() -> None:
    assert written([(30.0, 10), (45.0, 15), (61.0, 20), (300.0, 80), (310.0, 82)]) == [
        "starter set: 10 of 100 items, about 4 min left",
        "starter set: 20 of 100 items, about 4 min left",
        "starter set: 80 of 100 items, about 75 s left",
    ]


def test_what_is_done_or_not_begun_says_no_time_left() -> None:
    assert written([(40.0, 0), (80.0, 100)]) == ["starter set: 0 of 100 items"]


@pytest.mark.parametrize(("choice", "drawn"), [(True, True), (False, False)])
def test_a_notebook_gets_a_bar_unless_it_wants_none(
    choice: bool, drawn: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with watched_by(choice)("starter set") as progress:
        progress(3, 7)
    said = capsys.readouterr()
    assert ("3/7" in said.err) is drawn
    assert said.out == ""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (89.4, "89 s"), (95, "2 min"), (3540, "59 min"), (6272.0, "1 h 44 min")],
)
def test_a_duration_is_said_as_a_person_would(seconds: float, said: str) -> None:
    assert duration(seconds) == said
