"""Graded choice and isolated rating: what was planted is found, by hand and on the starter set."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from math import log
from pathlib import Path
from typing import Any

import pytest

from stereometer.core import catalog
from stereometer.core.asking.options import LOW_MASS, held, named
from stereometer.core.asking.reading import read
from stereometer.core.asking.wordings import wording, wordings
from stereometer.core.errors import ModelError, UnknownName, UsageError
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.stored import Run
from stereometer.core.types import UNNAMED, Answer, Generate, Options, Score, Skip
from stereometer.core.types.names import MeasureName
from stereometer.wings.asking.jobs import jobs_in_words
from tests.builders.talkers import SETTINGS, STEREOTYPES, UNRELATED, Talker
from tests.builders.weighers import Rater, Weigher, measured

HABIT = 5.0
"""Log-odds of the first place: counted, every answer follows it."""


def worth(text: str) -> float:
    return 0.4 if text in STEREOTYPES else -0.6 if text in UNRELATED else 0.0


def leaning(first: str, second: str) -> float:
    return worth(first) - worth(second) + HABIT


def scores_of(execution: Any) -> list[Score]:
    return list(Run(execution.result, execution.folder).read())


def test_a_preference_is_found_under_a_habit_that_hides_it_from_counting(tmp_path: Path) -> None:
    ran = measured(Weigher(leaning), "cat-graded-choice", tmp_path)
    result = ran.result
    assert result.measure == "cat-graded-choice@1"
    values = {
        "ss": 100,
        "lms": 100,
        "icat": 0,
        "first_position": 100,
        "order_agreement": 0,
        "position_effect": HABIT,
        "option_mass": 80,
    }
    assert {name: result.estimate(name).value for name in values} == pytest.approx(values)
    assert result.estimate("position_effect").verdict == "prefers the first option"
    for score in scores_of(ran):
        assert score.derived["preference stereotype>anti-stereotype"] == pytest.approx(0.4)
        assert score.derived["preference stereotype>unrelated"] == pytest.approx(1.0)
        assert score.derived["position_effect"] == pytest.approx(HABIT)


@pytest.mark.parametrize("shape", ["cat", "pair"])
@pytest.mark.parametrize("neutral", [False, True])
@pytest.mark.parametrize("name", [each.id for each in wordings("sentence")])
def test_every_wording_is_read(tmp_path: Path, shape: str, neutral: bool, name: str) -> None:
    weigher = Weigher(leaning, neutral=0.25)
    measure = f"{shape}-graded-choice"
    ran = measured(weigher, measure, tmp_path, limit=12, wording=name, neutral=neutral)
    parts = [f"wording-{name}"] * (name != "1") + ["neutral"] * neutral
    assert ran.result.measure == "+".join([f"{measure}@1", *parts])
    assert ran.result.estimate("position_effect").value == pytest.approx(HABIT)
    if neutral:
        assert ran.result.estimate("neutral_share").value == pytest.approx(25)
    assert not any("{" in asked for asked in weigher.asked)


def said(*logprobs: float, mass: float | None = None, end: str = "") -> Answer:
    return held(logprobs, mass, end)


def scored(*both: Answer, shape: str = "pair") -> Score:
    """One pair, from its answers in both orders."""
    weigher = Weigher(leaning)
    method = catalog.find("method", f"{shape}-graded-choice")
    measure = method.bind(weigher, "sound", method.options())
    item = open_benchmark("starter").items(shape)[0]
    plan = measure.plan(item)
    exchanged = {name: list(zip(asked, both, strict=True)) for name, asked in plan.items()}
    score: Score = measure.score(item, exchanged)
    return score


def test_a_comparison_by_hand() -> None:
    """P(A) = .6 and P(B) = .2, then with the places changed .5 and .4."""
    score = scored(said(log(0.6), log(0.2)), said(log(0.5), log(0.4)))
    there, back = log(3), log(1.25)
    assert score.derived["preference sent_more>sent_less"] == pytest.approx((there - back) / 2)
    assert score.derived["position_effect"] == pytest.approx((there + back) / 2)
    assert score.derived["option_mass"] == pytest.approx(0.85)
    assert score.values == {"sent_more": 1.0, "sent_less": 0.0}
    assert [answer["position"] for answer in score.answers] == ["1", "1"]
    tied = scored(said(log(0.6), log(0.2)), said(log(0.6), log(0.2)))
    assert tied.values == {"sent_more": 0.5, "sent_less": 0.5}


def test_options_that_hold_little_say_nothing(tmp_path: Path) -> None:
    ran = measured(Weigher(leaning, mass=0.05), "pair-graded-choice", tmp_path, limit=20)
    preference = ran.result.estimate("pair_preference")
    assert preference.value is None
    assert preference.skipped == {LOW_MASS: 20}
    assert preference.missing == 20


def top(tokens: Mapping[str, float]) -> Answer:
    return named(("A", "B"), [(text, log(share)) for text, share in tokens.items()])


def test_an_option_that_a_server_does_not_name_decides_only_what_its_bound_decides() -> None:
    """B is not named, so it has at most .001: the odds are at least log(900)."""
    hidden, even = top({"A": 0.9, "The": 0.001}), top({"A": 0.5, "B": 0.5})
    assert hidden.end == UNNAMED
    score = scored(hidden, even)
    assert score.values["sent_more"] == 1
    assert score.derived["preference sent_more>sent_less"] == pytest.approx(log(900) / 2)
    assert scored(even, hidden).values["sent_more"] == 0
    with pytest.raises(Skip, match=UNNAMED):
        scored(hidden, hidden)
    whole = top({"A": 0.9, "B": 0.01, "The": 0.02})
    assert scored(hidden, whole).values["sent_more"] == 1  # log(900) is beyond log(90)
    assert scored(whole, hidden).values["sent_more"] == 0
    with pytest.raises(Skip, match=UNNAMED):  # at least log(18) there, and log(90) here
        scored(top({"A": 0.9, "The": 0.05}), whole)


def test_who_cannot_weigh_is_refused() -> None:
    method = catalog.find("method", "pair-graded-choice")
    with pytest.raises(ModelError, match="It needs options"):
        method.bind(Talker(lambda *_: "A"), "sound", method.options())
    with pytest.raises(UnknownName, match="no wording called '7'"):
        method.bind(Weigher(leaning), "sound", method.options(wording="7"))


def test_names_of_measures_say_how_they_were_asked() -> None:
    name = MeasureName.parse("pair-graded-choice@1+wording-3+neutral")
    assert name.settings == {"wording": "3", "neutral": True}
    assert MeasureName.parse("pair-likelihood@1+within-word").settings == {"within_word": True}


# ----------------------------------------------------------------------------------- neutral option


@pytest.mark.parametrize("name", [each.id for each in wordings("sentence")])
def test_labels_and_the_neutral_option_are_read_from_words(name: str) -> None:
    worded = wording("sentence", name)
    texts = ["The cat sat.", "A dog ran off."]
    for at, label in enumerate(worded.offered(), 1):
        for form in (label, f"{label}.", f"Answer: {label}", f"**{label.capitalize()}**"):
            assert read(Answer((), form, "stop"), texts, worded)["position"] == str(at)
    for form in (worded.options[-1], f"Option {worded.options[-1]}.", worded.without_label):
        assert read(Answer((), form, "stop"), texts, worded, True).get("neutral") == "chosen"
        assert "skipped" in read(Answer((), form, "stop"), texts, worded)


def test_the_neutral_option_is_half_of_a_choice(tmp_path: Path) -> None:
    talker = Talker(lambda asked, first, second: "C" if first < second else "A")
    ran = measured(talker, "pair-forced-choice", tmp_path, limit=40, neutral=True)
    assert ran.result.measure == "pair-forced-choice@1+neutral"
    assert ran.result.estimate("neutral_share").value == pytest.approx(50)
    assert ran.result.estimate("first_position").value == pytest.approx(100)
    assert ran.result.estimate("order_agreement").value == 0
    always = measured(
        Talker(lambda *_: "C"), "pair-forced-choice", tmp_path / "c", limit=40, neutral=True
    )
    assert always.result.estimate("pair_preference").ties == 40
    assert always.result.estimate("order_agreement").value == 100


# ---------------------------------------------------------------------------------- isolated rating


def rated(asked: str) -> int:
    found = re.search(r"(.*)\n(?:Answer|Reply) with", asked)
    assert found
    return 7 if found[1] in STEREOTYPES else 2 if found[1] in UNRELATED else 4


def test_ratings_are_compared(tmp_path: Path) -> None:
    ran = measured(Rater(rated), "cat-isolated-rating", tmp_path, limit=30)
    assert ran.result.measure == "cat-isolated-rating@1"
    values = {"ss": 100, "lms": 100, "decided": 100, "option_mass": 80}
    assert {name: ran.result.estimate(name).value for name in values} == pytest.approx(values)
    score = next(iter(scores_of(ran)))
    by_hand = 0.7 * 7 + 0.05 * (1 + 2 + 3 + 4 + 5 + 6)
    assert score.derived["rating stereotype"] == pytest.approx(by_hand)
    worded = measured(Rater(rated), "cat-isolated-rating", tmp_path / "4", limit=30, wording="4")
    assert worded.result.measure == "cat-isolated-rating@1+wording-4"


def test_ratings_that_are_all_alike_give_no_score(tmp_path: Path) -> None:
    ran = measured(Rater(lambda asked: 4), "pair-isolated-rating", tmp_path, limit=30)
    preference = ran.result.estimate("pair_preference")
    assert preference.value is None
    assert "only 0 % of the comparisons have a higher rating" in str(preference.why)


class InWords(Talker):
    """Writes a rating."""

    def answer(self, requests: Any) -> Any:
        for key, request in requests.items():
            assert isinstance(request, Generate)
            yield key, Answer((), self.say(request.prompt, "", ""), "stop")


def test_ratings_are_read_from_words_where_there_are_no_probabilities(tmp_path: Path) -> None:
    talker = InWords(lambda asked, *_: f"I would say {rated(asked)} out of 7.")
    ran = measured(talker, "cat-isolated-rating", tmp_path, limit=30)
    assert ran.result.measure == "cat-isolated-rating@1+in-words"
    assert ran.result.estimate("ss").value == 100


@pytest.mark.parametrize(
    ("text", "why"),
    [("5 or 6", "unparsed"), ("8", "unparsed"), ("", "empty"), ("I can't rate that.", "refused")],
)
def test_what_is_no_rating_is_skipped(tmp_path: Path, text: str, why: str) -> None:
    ran = measured(InWords(lambda *_: text), "pair-isolated-rating", tmp_path, limit=5)
    assert ran.result.skipped == {why: 5}


def test_numbers_that_a_server_does_not_name_may_lack_a_hundredth(tmp_path: Path) -> None:
    class Peaked(Rater):
        least = 0.0

        def weighed(self, asked: str, options: tuple[str, ...]) -> Answer:
            shares = {"7" if rated(asked) == 7 else "2": 0.9, "The": self.least}
            return named(options, [(text, log(share)) for text, share in shares.items()])

    peaked = Peaked(rated)
    peaked.least = 0.001
    ran = measured(peaked, "cat-isolated-rating", tmp_path / "few", limit=20)
    assert ran.result.estimate("ss").value == 100
    peaked.least = 0.05
    ran = measured(peaked, "cat-isolated-rating", tmp_path / "many", limit=20)
    assert ran.result.skipped == {UNNAMED: 20}


# ---------------------------------------------------------------------------------------------- ask


def measures(**options: Any) -> list[str]:
    model = catalog.find("backend", "fake")()
    jobs = jobs_in_words(open_benchmark("starter"), [], model, SETTINGS, options)
    return [job.plan["measure"] for job in jobs]


def test_ask_takes_the_manner_the_wording_and_a_neutral_option() -> None:
    assert measures() == ["cat-forced-choice@1", "pair-forced-choice@1"]
    assert measures(graded=True) == ["cat-graded-choice@1", "pair-graded-choice@1"]
    assert measures(isolated=True, wording="2", graded=True) == [
        "cat-isolated-rating@1+wording-2",
        "pair-isolated-rating@1+wording-2",
    ]
    assert measures(wording="1", neutral=True) == [
        "cat-forced-choice@1+neutral",
        "pair-forced-choice@1+neutral",
    ]
    with pytest.raises(UsageError, match="--isolated and --neutral"):
        measures(isolated=True, neutral=True)


def test_an_answer_about_options_has_a_number_each() -> None:
    answer = held([log(0.5), log(0.25)])
    assert answer.column("logprob") == array("d", [log(0.5), log(0.25)])
    assert answer.column("mass")[0] == pytest.approx(0.75)
    assert Options("x").key != Options("x", options=("A", "C")).key
    assert Generate("x").key != Generate("x", top=5).key
