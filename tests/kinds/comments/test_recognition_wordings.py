"""Recognition in other wordings, and graded: by the probability of the label words."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping
from math import log
from typing import Any

import pytest
import torch

from stereometer.core.asking.conversation import SLOT
from stereometer.core.asking.options import LOW_MASS
from stereometer.core.asking.wordings import wordings
from stereometer.core.errors import ModelError, UnknownName, UsageError
from stereometer.core.runs.execute import opened_cache
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import (
    Abilities,
    Answer,
    Asking,
    Generate,
    Options,
    Request,
    Score,
    Settings,
)
from stereometer.kinds.comments.items import MISSPELLING, SETTINGS, STUDY, Comment, Setting
from stereometer.kinds.comments.recognition import method as methods
from stereometer.kinds.comments.recognition.method import RecognitionOptions
from stereometer.kinds.comments.recognition.prompts import Prompts
from stereometer.kinds.comments.recognition.questions import Question, ShownExample
from stereometer.models.baselines.fake import Fake
from tests.builders.models.zoo import Zoo
from tests.builders.talkers import Talker

PACKAGE = "stereometer.kinds.comments.recognition"
IDS = tuple(str(number) for number in range(1, 7))
LABELS = ("rude", "kind", "neither")
COMMENT, OTHER = Comment("1", "It {rains}.", {"rude": 1.0}, 1), Comment("2", "Go away.", {}, 2)
METHODS = {
    "zero-shot": methods.ZERO_SHOT,
    "one-shot": methods.ONE_SHOT,
    "few-shot-single": methods.FEW_SHOT_SINGLE,
    "few-shot-mixed": methods.FEW_SHOT_MIXED,
    "few-shot-mixed-instruction": methods.MIXED_INSTRUCTION,
    "misspelling": methods.MISSPELT,
}


def question(setting: Setting, comment: Comment = COMMENT, gold: str = "rude") -> Question:
    labels = LABELS if setting.mixed else ("rude", "not-rude")
    examples = tuple(ShownExample(OTHER, label) for label in labels) if setting.shows else ()
    return Question(comment, gold, labels, "" if setting.mixed else "rude", examples)


@pytest.mark.parametrize("wording", IDS)
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.name)
def test_every_wording_says_all_that_is_asked(setting: Setting, wording: str) -> None:
    asked = question(setting)
    prompts = Prompts(setting, "sound", wording=wording)
    prompt = prompts.prompt(asked)
    assert "It {rains}." in prompt
    assert set(SLOT.findall(prompt)) <= {"rains"}
    assert prompt == prompt.rstrip()
    if setting.shows:
        assert "Go away." in prompt
    shown = [word for word in prompts.words(asked).values() if setting.shows]
    if setting.shows and setting.name != "one-shot":
        assert all(re.search(rf"\b{re.escape(word)}\b", prompt) for word in shown)
    if setting.name == "few-shot-mixed-instruction":
        assert all(label in prompt for label in LABELS)


@pytest.mark.parametrize("task", [*STUDY, "example"])
def test_there_are_six_wordings_of_each_task_and_no_two_are_alike(task: str) -> None:
    every = wordings(task, PACKAGE)
    assert tuple(each.id for each in every) == IDS
    assert len({re.sub(r"\W+", " ", each.text.lower()) for each in every}) == len(every)


@pytest.mark.parametrize(
    ("setting", "digest"),
    [
        ("zero-shot", "8db45cef4e86f3ca"),
        ("one-shot", "354622e3c929968b"),
        ("few-shot-single", "cf09277b6c38d4f7"),
        ("few-shot-mixed", "cf09277b6c38d4f7"),
        ("few-shot-mixed-instruction", "5444743dfa90fa23"),
        ("misspelling", "8db45cef4e86f3ca"),
    ],
)
def test_the_first_wording_is_the_one_there_always_was(setting: str, digest: str) -> None:
    bound = METHODS[setting].bind(Fake(), "sound", RecognitionOptions())
    assert bound.name == f"recognition-{setting}@1"
    assert bound.asking["prompts"] == digest


def test_the_name_says_what_makes_another_number() -> None:
    options = {
        "wording-3": RecognitionOptions(wording="3"),
        "graded": RecognitionOptions(graded=True),
        "wording-3+graded": RecognitionOptions(wording="3", graded=True),
    }
    for end, how in options.items():
        assert METHODS["one-shot"].bind(Fake(), "sound", how).name == (
            f"recognition-one-shot@1+{end}"
        )


def test_what_does_not_go_together_is_refused(tmp_path: Any) -> None:
    with pytest.raises(UnknownName, match="no wording called '7'"):
        RecognitionOptions(wording="7")
    with pytest.raises(UsageError, match="--wording was given with --templates"):
        RecognitionOptions(wording="2", templates=tmp_path)
    with pytest.raises(UsageError, match="--graded was asked for with --likelihood"):
        RecognitionOptions(graded=True, likelihood=True)
    with pytest.raises(UsageError, match="The paper has prompts of its own"):
        METHODS["zero-shot"].bind(Fake(), "paper", RecognitionOptions(wording="2"))
    with pytest.raises(ModelError, match="no probabilities of what it would write next"):
        METHODS["zero-shot"].bind(
            Talker(lambda *_: "yes"), "sound", RecognitionOptions(graded=True)
        )


def test_more_categories_than_numbers_are_refused() -> None:
    many = tuple(f"kind-{number}" for number in range(10))
    asked = Question(COMMENT, many[0], many, examples=(ShownExample(OTHER, many[0]),))
    with pytest.raises(UsageError, match="up to 9 of them"):
        Prompts(SETTINGS["few-shot-mixed"], "sound", wording="3").prompt(asked)


# ----------------------------------------------------------------------------------------- in words


@pytest.mark.parametrize("wording", IDS)
@pytest.mark.parametrize("setting", ["zero-shot", "few-shot-single", "few-shot-mixed-instruction"])
def test_answers_are_read_in_the_words_that_the_wording_asks_for(
    setting: str, wording: str
) -> None:
    """A model that always says the first label, in the words of the wording."""
    asked = question(SETTINGS[setting])
    prompts = Prompts(SETTINGS[setting], "sound", wording=wording)
    word = prompts.words(asked)["rude"]
    for said in (word, f" {word.capitalize()}.", f'"{word}"'):
        scored = scores_of(setting, Talker(lambda *_, said=said: said), wording=wording)
        assert [answer.get("label") for answer in scored[0].answers] == ["rude"]


def scores_of(setting: str, model: Any, **options: Any) -> list[Score]:
    how = RecognitionOptions(**{"repeats": 1, **options})
    measure = METHODS[setting].bind(model, "sound", how)
    items = [
        question(SETTINGS[setting], Comment(str(at), f"Text {at}.", {}, at), gold)
        for at, gold in enumerate(("rude", "not-rude") * 3)
    ]
    with opened_cache(False) as cache:
        return list(computed(Asking(items, measure, model), Serial(model), cache, Tally()))


# ------------------------------------------------------------------------------------------- graded


class Weigher(Fake):
    """Gives the options of a text what a table says, by its number."""

    abilities = Abilities(frozenset({Generate.kind, Options.kind}))

    def __init__(self, table: Mapping[str, Mapping[str, float]]) -> None:
        super().__init__()
        self.table = table

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            assert isinstance(request, Options)
            (number,) = re.findall(r"Text (\d)\.", request.prompt)
            held = [self.table[number].get(option, 1e-9) for option in request.options]
            row = {"logprob": array("d", map(log, held)), "mass": array("d", [sum(held)])}
            yield key, Answer((row,))


TABLE = {
    "0": {"yes": 0.2, "Yes": 0.3, "no": 0.3},  # rude: 0.5 of 0.8
    "1": {"yes": 0.4, "no": 0.1, "No": 0.1},  # not rude, and called so: 0.4 of 0.6
    "2": {"Yes": 0.01, "no": 0.01},  # too little
    "3": {"no": 0.9},
    "4": {"Yes": 0.9},
    "5": {"No": 0.9},
}


def test_the_likelier_label_is_the_answer_and_a_capital_counts() -> None:
    scored = scores_of("zero-shot", Weigher(TABLE), graded=True)
    assert [score.answers[0].get("label") for score in scored] == [
        "rude", "rude", None, "not-rude", "rude", "not-rude",
    ]  # fmt: skip
    first, second, third = (score.derived for score in scored[:3])
    assert first["probability rude"] == pytest.approx(0.5 / 0.8)
    assert first["mass"] == pytest.approx(0.8)
    assert second["probability not-rude"] == pytest.approx(0.2 / 0.6)
    assert third == {}
    assert scored[2].answers == ({"text": "", "skipped": LOW_MASS},)
    how = RecognitionOptions(graded=True)
    bound = METHODS["zero-shot"].bind(Weigher(TABLE), "sound", how)
    found = {
        row.name: row
        for row in bound.summarize(scored, Settings(resamples=100, coverage=0.5))
        if not row.slice
    }
    assert found["accuracy"].value == pytest.approx(80.0)
    assert found["accuracy"].n == 5


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("wording", ["1", "3"])
def test_every_setting_can_be_graded(setting: str, wording: str) -> None:
    for score in scores_of(setting, Fake(), graded=True, wording=wording):
        shares = [of for name, of in score.derived.items() if name.startswith("probability ")]
        assert sum(shares) == pytest.approx(1)
        (answer,) = score.answers
        assert score.derived[f"probability {answer['label']}"] == max(shares)


def test_a_real_model_is_graded_by_its_own_probabilities(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one forward pass of the whole prompt, token by token of the vocabulary."""
    monkeypatch.setattr("stereometer.core.asking.options.MASS_FLOOR", 0.0)  # it is untrained
    backend: Any = zoo.backend("gpt2")
    prompts = Prompts(SETTINGS["zero-shot"], "sound", wording="3")
    (first, *_) = scores_of("zero-shot", backend, graded=True, wording="3", chat=False)
    asked = question(SETTINGS["zero-shot"], Comment("0", "Text 0.", {}, 0))
    ids = torch.tensor([backend.tokens.encode(prompts.prompt(asked)).ids])
    with torch.inference_mode():
        chances = backend.model(input_ids=ids).logits[0, -1].double().softmax(0)
    decode = backend.tokens.tokenizer.decode
    held = {
        word: sum(
            float(chances[token])
            for token in range(len(chances))
            if decode([token]).strip() == word
        )
        for word in ("1", "2")
    }
    share = held["1"] / sum(held.values())
    assert first.derived["probability rude"] == pytest.approx(share, rel=1e-4)
    assert first.derived["mass"] == pytest.approx(sum(held.values()), rel=1e-4)


def test_misspellings_are_graded_too() -> None:
    bound = METHODS["misspelling"].bind(Fake(), "sound", RecognitionOptions(graded=True))
    plain = Question(COMMENT, "rude", ("rude", "not-rude"), "rude")
    assert bound.setting is MISSPELLING
    assert [type(one) for one in bound.plan(plain)["options"]] == [Options]
    assert bound.asking["temperature"] == 0
