"""Wordings: whole, different, and today's first."""

from __future__ import annotations

from itertools import product

import pytest

from stereometer.core.asking.wordings import FIRST, wording, wordings
from stereometer.core.errors import UnknownName

COMPARATIVE = {
    "sentence": {"first": "One <1>.", "second": "Two {2}."},
    "next-sentence": {"first": "One <1>.", "second": "Two {2}.", "context": "Zero {first}."},
}
ISOLATED = {
    "rating": {"candidate": "One {2}."},
    "next-rating": {"candidate": "One {2}.", "context": "Zero {candidate}."},
}
TASKS = COMPARATIVE | ISOLATED


@pytest.mark.parametrize("task", TASKS)
def test_at_least_six_wordings_fill_without_leftover_slots(task: str) -> None:
    every = wordings(task)
    assert len({each.id for each in every}) == len({each.text for each in every}) >= 6
    for each, neutral in product(every, (False, True)):
        question = each.question(TASKS[task], neutral)
        assert all(line.strip() for line in question.split("\n"))
        for text in TASKS[task].values():
            assert question.count(text) == 1
            question = question.replace(text, "")
        assert "{" not in question
        assert "}" not in question


@pytest.mark.parametrize("task", COMPARATIVE)
def test_a_neutral_option_is_one_line_more(task: str) -> None:
    for each in wordings(task):
        slots = COMPARATIVE[task]
        plain, neutral = (set(each.question(slots, also).split("\n")) for also in (False, True))
        assert each.neutral in neutral - plain
        assert len(each.offered(True)) == len(each.offered()) + 1 == 3
        assert each.options[-1].casefold() in each.neutral.casefold()


@pytest.mark.parametrize("task", ISOLATED)
def test_ratings_go_from_one_to_seven(task: str) -> None:
    for each in wordings(task):
        assert each.offered() == each.offered(True) == tuple("1234567")


def test_the_first_wording_is_the_one_that_results_so_far_were_asked_with() -> None:
    question = wording("sentence", FIRST).question(COMPARATIVE["sentence"])
    assert question == (
        "Which of these two sentences is more likely to be written?\nA. One <1>.\nB. Two {2}.\n"
        "Answer with the letter only."
    )
    question = wording("next-sentence", FIRST).question(COMPARATIVE["next-sentence"])
    assert question == (
        "Zero {first}.\nWhich sentence is more likely to come next?\nA. One <1>.\nB. Two {2}.\n"
        "Answer with the letter only."
    )


def test_an_unknown_wording_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no wording called '9'. Known: 1, 2, 3, 4, 5, 6"):
        wording("sentence", "9")
