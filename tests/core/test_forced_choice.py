"""Forced choice: both orders, the position cancelled, non-answers counted, and no score where the
position decides."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core import catalog
from stereometer.core.asking.forced_choice import ChoiceOptions
from stereometer.core.asking.habits import first_position
from stereometer.core.asking.reading import read
from stereometer.core.asking.wordings import wording
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import (
    FILTERED,
    Abilities,
    Answer,
    Asking,
    CausalTokens,
    Encoding,
    Generate,
    Request,
    Score,
)
from stereometer.kinds.cats.forced_choice import METHOD as CAT
from stereometer.wings.asking.jobs import jobs_in_words
from stereometer.wings.relations import calibrate as calibration
from tests.builders.commands import call
from tests.builders.sure import all_of
from tests.builders.talkers import SETTINGS, Talker, by_content, measured


def test_a_model_that_prefers_stereotypes_and_knows_its_language(tmp_path: Path) -> None:
    result = measured(Talker(by_content), "cat", tmp_path).result
    assert result.measure == "cat-forced-choice@1"
    values = {"ss": 100, "lms": 100, "icat": 0, "first_position": 50, "order_agreement": 100}
    assert {name: result.estimate(name).value for name in values} == pytest.approx(values)


@pytest.mark.parametrize("shape", ["cat", "pair"])
def test_a_model_that_always_takes_the_first_has_no_score(tmp_path: Path, shape: str) -> None:
    result = measured(Talker(lambda *_: "A."), shape, tmp_path).result
    one = result.estimate("ss" if shape == "cat" else "pair_preference")
    assert one.value is None
    assert "follow the position" in str(one.why)
    assert result.estimate("first_position").value == 100
    assert result.estimate("first_position").verdict == "prefers the first option"
    assert result.estimate("order_agreement").value == 0


def test_a_bias_for_a_position_cancels(tmp_path: Path) -> None:
    """Content decides for most items, the first place for the others: their ties are halves."""

    def leaning(asked: str, first: str, second: str) -> str:
        return "A" if len(first + second) % 4 == 0 else by_content(asked, first, second)

    result = measured(Talker(leaning), "cat", tmp_path).result
    ss, first = result.estimate("ss"), result.estimate("first_position")
    assert first.value > 50
    assert ss.ties > 0
    assert 50 < ss.value < 100


def test_a_slice_that_follows_the_position_has_no_score(tmp_path: Path) -> None:
    """Overall most comparisons are decided, in one domain none: only that domain, and what lies in
    it, is withheld."""
    items = open_benchmark("starter").items("cat")
    domain = min(item.slices["domain"] for item in items)
    of_it = [item for item in items if item.slices["domain"] == domain]
    texts = {text for item in of_it for text in CAT.shown.texts(item).values()}

    def say(asked: str, first: str, second: str) -> str:
        return "A" if first in texts else by_content(asked, first, second)

    result = measured(Talker(say), "cat", tmp_path).result
    assert result.estimate("order_agreement").value > 50
    assert result.estimate("ss").value is not None
    for one in result.estimates:
        if one.name == "ss":
            assert (one.value is None) == (one.slice.get("domain") == domain)
            assert result.estimate("order_agreement", **one.slice).value == (
                0 if one.value is None else pytest.approx(100, abs=50)
            )
    assert "follow the position" in str(result.estimate("ss", domain=domain).why)


def chose(item: str, positions: str) -> Score:
    answers = tuple({"text": "", "position": one, "asked": "x>y"} for one in positions)
    return Score(item, {}, {}, answers=answers)


def test_the_answers_about_one_item_count_once_in_the_test_of_positions() -> None:
    scores = [chose(str(at), "111111") for at in range(4)] + [chose("tie", "121212")]
    found: Any = first_position(scores, SETTINGS)
    assert found.value == pytest.approx(100 * 27 / 30)
    assert found.p == pytest.approx(2 * 0.5**4)
    assert found.low < 50 < found.high == 100
    assert found.verdict.startswith("undecided: ")
    assert found.verdict.endswith("; too few items lean to a position (4 of 5)")
    tied = [chose(str(at), "112122") for at in range(50)]
    more = first_position(tied + [chose(f"more-{at}", "221222") for at in range(8)], SETTINGS)
    assert more.p == pytest.approx(2 * 0.5**8)
    assert more.verdict == "prefers the second option"


@given(st.lists(st.text("12", min_size=1, max_size=6), min_size=1, max_size=40))
def test_interval_test_and_words_about_positions_are_one_procedure(answers: list[str]) -> None:
    """Four items that nearly always take the first are undecided, however narrow a bootstrap."""
    scores = [chose(str(at), positions) for at, positions in enumerate(answers)]
    found: Any = first_position(scores, replace(SETTINGS, resamples=100))
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9
    leaves_out = not found.low <= 50 <= found.high
    assert leaves_out == (found.p < 0.05) == found.beyond_noise
    assert leaves_out == found.verdict.startswith("prefers the ")


def test_what_is_not_answered_is_counted(tmp_path: Path) -> None:
    def moody(asked: str, first: str, second: str) -> str:
        return ["I'm sorry, I can't say.", "", "Both.", "B"][min(len(first), len(second)) % 4]

    result = measured(Talker(moody), "pair", tmp_path).result
    one = result.estimate("pair_preference")
    assert one.value is None
    assert set(one.skipped) == {"refused", "empty", "unparsed"}
    assert one.n + sum(one.skipped.values()) == one.asked == 400


WORDED = wording("sentence", "1")
ANIMALS = ["A cat sat.", "The dog ran."]
PEOPLE = ["It is hers.", "A man is not busy today."]
SKILLS = ["I can't swim well.", "I can't read well."]


@pytest.mark.parametrize(
    ("options", "end", "found", "texts"),
    [
        (ANIMALS, "stop", "1", ["A", "a", "the answer is: a", "A. The baker", "A cat sat"]),
        (ANIMALS, "stop", "2", [" B.", "(b)", "Option b.", "Answer: B", "**B**"]),
        (ANIMALS, "stop", "2", ["The dog ran. A cat", "The dog ran"]),
        (ANIMALS, "stop", "unparsed", ["a dog", "A cat sat. The dog ran.", "A dog", "AB"]),
        (ANIMALS, "stop", "empty", [""]),
        (ANIMALS, "stop", "refused", ["I cannot answer that"]),
        (ANIMALS, FILTERED, "filtered", ["A"]),
        # Letters are told from articles, and refusals from choices.
        (PEOPLE, "length", "1", ["A is more likely.", "The answer is A because it"]),
        (PEOPLE, "length", "1", ["Sentence A is more likely", "A feels right", "It is hers."]),
        (PEOPLE, "length", "2", ["B is more likely.", "B. I can't say more", "B. A man is"]),
        (PEOPLE, "length", "2", ["A man is", "A man is not bu", "A man is not"]),
        (PEOPLE, "length", "unparsed", ["Neither B nor A", "A or B", "B, not A", "Not A"]),
        (PEOPLE, "length", "unparsed", ["It isn't B", "I", "It", "It is her", "A man", "A's"]),
        (PEOPLE, "length", "unparsed", ["A man is never"]),
        (PEOPLE, "length", "refused", ["I can't choose B or A", "I can\u2019t choose B"]),
        # An option that sounds like a refusal can be quoted.
        (SKILLS, "stop", "1", ["I can't swim"]),
        (SKILLS, "stop", "refused", ["I can't"]),
        (["I can't swim.", "He can swim."], "stop", "refused", ["I can't"]),
    ],
)
def test_reading_a_choice(options: list[str], end: str, found: str, texts: list[str]) -> None:
    given_ = [read(Answer((), text, end), options, WORDED) for text in texts]
    assert [one.get("position", one.get("skipped")) for one in given_] == [found] * len(texts)


@pytest.mark.long
@given(st.text(max_size=40), st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_every_answer_is_a_position_or_a_reason(text: str, first: str, second: str) -> None:
    found = read(Answer((), text, "stop"), [first, second], WORDED)
    assert ("position" in found) != ("skipped" in found)
    assert first in WORDED.question({"first": first, "second": second})


def conversing(template: str) -> Talker:
    talker = Talker(by_content)
    talker.abilities = replace(talker.abilities, chat_template=template)
    return talker


def test_conversations_are_recorded_and_models_without_them_refuse(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no chat template"):
        CAT.bind(Talker(by_content), "sound", ChoiceOptions(chat=True))
    talker = conversing("the tokenizer's own, sha256 1234")
    measure = CAT.bind(talker, "sound", ChoiceOptions(system="Be brief."))
    assert measure.recorded["chat_template"] == talker.abilities.chat_template
    plan = measure.plan(open_benchmark("starter").items("cat")[0])
    request, *_ = all_of(Generate, plan["stereotype>anti-stereotype"])
    assert [role for role, _ in request.messages] == ["system", "user"]
    assert measured(talker, "pair", tmp_path).result.settings["chat"] is True


def test_models_that_cannot_write_are_refused() -> None:
    with pytest.raises(ModelError, match="needs generate"):
        CAT.bind(catalog.find("backend", "random")(), "sound", ChoiceOptions())


# -------------------------------------------------------------------------------------- calibration


class Both(Talker):
    """Likelihoods of words, and choices that follow them but for some."""

    def __init__(self, wrong: Callable[[str, str], bool]) -> None:
        super().__init__(
            lambda asked, first, second: "AB"[
                (self.sure(first) < self.sure(second)) != wrong(first, second)
            ],
            "both",
        )
        self.abilities = Abilities(frozenset({Generate.kind, CausalTokens.kind}))

    @staticmethod
    def sure(text: str) -> float:
        return -float(sum(map(ord, text)) % 97) - len(text) / 1000

    def encode(self, text: str, second: str | None = None) -> Encoding:
        self.last = getattr(self, "last", {})
        ids = (0, *(ord(one) for one in text))
        self.last[ids] = text
        return Encoding(
            ids, ((0, 0), *((at, at + 1) for at in range(len(text)))), (None, *range(len(text)))
        )

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            if isinstance(request, CausalTokens):
                row = [self.sure(self.last[request.ids])] + [0.0] * (
                    len(request.ids) - request.start - 1
                )
                yield key, Answer(({"logprob": array("d", row)},))
            else:
                yield from super().answer({key: request})


def likely(model: Talker, folder: Path) -> Path:
    names = ["pair-sentence-likelihood"]
    job = job_for(open_benchmark("starter"), "pair", names, model, SETTINGS)
    with opened_cache(False) as cache:
        return execute(job, folder, cache).folder


def held_together(model: Talker, tmp_path: Path) -> calibration.Calibration:
    choice = measured(model, "pair", tmp_path / "choice")
    return calibration.calibrate(likely(model, tmp_path / "likely"), choice.folder)


@pytest.mark.parametrize(
    ("wrong", "rate", "verdict"),
    [
        (lambda *_: False, 100, "the two readings agree more often than not"),
        (lambda *_: True, 0, "the two readings contradict each other"),
        (
            lambda first, second: sum(map(ord, first + second)) % 2 == 0,
            pytest.approx(50, abs=10),
            "agree no more often than not",
        ),
    ],
)
def test_choices_are_held_against_likelihoods(
    tmp_path: Path, wrong: Callable[[str, str], bool], rate: float, verdict: str
) -> None:
    found = held_together(Both(wrong), tmp_path)
    assert found.rows[0].rate == rate
    assert (found.kappa == pytest.approx(1)) == (rate == 100)
    assert verdict in found.verdict
    assert sum(row.n for row in found.rows[1:]) == found.rows[0].n


def test_runs_of_two_models_are_not_held_against_each_other(tmp_path: Path) -> None:
    one = likely(Both(lambda *_: False), tmp_path / "likely")
    other = measured(Talker(by_content, "another"), "pair", tmp_path / "choice").folder
    with pytest.raises(UsageError, match="The runs are of both and another"):
        calibration.calibrate(one, other)


def test_choices_that_cannot_be_read_leave_the_likelihoods_and_say_so(tmp_path: Path) -> None:
    model = Both(lambda *_: False)
    model.say = lambda *_: "banana"
    found = held_together(model, tmp_path)
    assert (list(found.rows), found.kappa, found.p) == ([], None, 1.0)
    assert "nothing can be said" in found.verdict
    ran = call("calibrate", tmp_path / "likely", tmp_path / "choice")
    assert (ran.code, "nothing can be said" in ran.out) == (0, True)


def test_a_system_prompt_goes_with_a_choice_that_is_a_conversation_by_itself() -> None:
    talker = conversing("a template")
    job, *_ = jobs_in_words(
        open_benchmark("starter"), [], talker, SETTINGS, {"system": "Be brief."}
    )
    assert isinstance(job.source, Asking)
    plan = job.source.measure.plan(next(iter(job.source.items)))
    request, *_ = all_of(Generate, next(iter(plan.values())))
    assert request.messages[0] == ("system", "Be brief.")


def test_runs_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    held_together(Both(lambda *_: False), tmp_path)
    with pytest.raises(UsageError, match="Swap them"):
        calibration.calibrate(tmp_path / "choice", tmp_path / "likely")
    ran = call("calibrate", tmp_path / "likely", tmp_path / "choice", "--json")
    assert ran.json["schema"] == "calibration@1"
    assert call("calibrate", tmp_path / "likely", tmp_path / "choice").code == 0
    assert call("calibrate", tmp_path / "nowhere", tmp_path / "choice").code == 4


def test_ask_on_a_set_of_cats_and_pairs(tmp_path: Path) -> None:
    line = "ask starter --model fake --limit 20 --resamples 100"
    ran = call(f"{line} --likelihood --json --out", tmp_path / "runs")
    assert ran.code == 0, ran.err
    assert [one["measure"] for one in ran.json["results"]] == [
        "cat-forced-choice@1",
        "cat-pseudo-likelihood@1",
        "pair-forced-choice@1",
        "pair-likelihood@1",
    ]
    assert len(ran.json["calibration"]) == 2
    assert call(f"{line} --out", tmp_path / "tables").code == 0
