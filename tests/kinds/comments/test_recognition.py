"""Prompts, readers, metrics and replay of recognition, on comments of our own."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.runs.stored import Run, run_of
from stereometer.core.tables import PLAIN
from stereometer.core.types import (
    FILTERED,
    TOO_LONG,
    Answer,
    Asking,
    Encoding,
    Estimate,
    Score,
    Settings,
    Skip,
    Variant,
)
from stereometer.kinds.comments import metrics
from stereometer.kinds.comments.answers import confusion, flipped, in_scope, out_of_scope
from stereometer.kinds.comments.benchmarks import LABELS, Columns, read_own
from stereometer.kinds.comments.chance import against_chance
from stereometer.kinds.comments.items import (
    FEW_SHOT_MIXED,
    FEW_SHOT_SINGLE,
    MIXED_INSTRUCTION,
    ONE_SHOT,
    SETTINGS,
    ZERO_SHOT,
    Comment,
    Setting,
)
from stereometer.kinds.comments.recognition import likelihood, misspelling
from stereometer.kinds.comments.recognition.method import ZERO_SHOT as ZERO_SHOT_METHOD
from stereometer.kinds.comments.recognition.method import RecognitionOptions
from stereometer.kinds.comments.recognition.misspelling import edited, holds
from stereometer.kinds.comments.recognition.prompts import Prompts
from stereometer.kinds.comments.recognition.questions import (
    Question,
    Sampling,
    ShownExample,
    questions,
)
from stereometer.kinds.comments.recognition.reading import AnswerReader, first_clear
from stereometer.models.baselines.fake import Fake
from stereometer.wings.replay.runs import answers_job
from tests.builders.commands import Said, call
from tests.builders.comments import own_table
from tests.builders.sure import all_of, bounds, sure

COMMENT = Comment("row-1", "The {bread} is stale.", {"rude": 1.0}, 1)
YES_NO = {"rude": "yes", "not-rude": "no"}
MIXED = {label: label for label in ("rude", "kind", "neither")}
SINGLE = {"rude": "rude", "not-rude": "not-rude"}


def question(**more: Any) -> Question:
    return Question(COMMENT, "rude", ("rude", "not-rude"), "rude", **more)


# ------------------------------------------------------------------------------------------ prompts


OTHER = Comment("row-2", "Go away.", {}, 2)
RUDE, NOT_RUDE = ShownExample(OTHER, "rude"), ShownExample(COMMENT, "not-rude")
LABELS_SHOWN = ("sexist", "racist", "neither")


@pytest.mark.parametrize(
    ("setting", "asked", "prompt"),
    [
        (
            ZERO_SHOT,
            question(),
            'Is the following text rude, answer yes or no.  "The {bread} is stale."  Answer:',
        ),
        (
            ONE_SHOT,
            question(examples=(RUDE,)),
            'The following text in quotes is rude: "Go away." Is the following text in quotes rude,'
            ' answer yes or no: "The {bread} is stale.." Answer:',
        ),
        (
            FEW_SHOT_SINGLE,
            question(examples=(RUDE, NOT_RUDE, RUDE)),
            "'''Go away.''': rude. \n'''The {bread} is stale.''': not-rude. \n'''Go away.''': rude."
            " \n'''The {bread} is stale.''':",
        ),
        (
            MIXED_INSTRUCTION,
            Question(COMMENT, "rude", LABELS_SHOWN, examples=(ShownExample(OTHER, "sexist"),)),
            "Classify the following texts into 'racist', 'sexist' or 'neither'. \n'''Go away.''':"
            " sexist. \n'''The {bread} is stale.''':",
        ),
    ],
)
def test_the_papers_prompts_are_those_of_its_code(
    setting: Setting, asked: Question, prompt: str
) -> None:
    """inputs/data_collection_functions.py of the authors' repository, with its doubled spaces."""
    assert Prompts(setting, "paper").prompt(asked) == prompt


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "zero-shot.txt").write_text("{category}? {comment}\n")
    assert Prompts(ZERO_SHOT, "sound", tmp_path).prompt(question()) == "rude? The {bread} is stale."
    ours, other = Prompts(ONE_SHOT, "sound").template, Prompts(ONE_SHOT, "sound", tmp_path).template
    assert ours.text == other.text


@pytest.mark.parametrize(
    ("setting", "template", "slot"),
    [
        (ZERO_SHOT, "{mood}? {comment}", r"slot \{mood\}"),
        (ZERO_SHOT, "Is it {category}?", r"no slot \{comment\}"),
        (ONE_SHOT, "{category}? {comment}", r"no slot \{examples\}"),
        (FEW_SHOT_SINGLE, "{category}? {comment}", r"no slot \{examples\}"),
        (FEW_SHOT_MIXED, "{category}? {comment}", r"no slot \{examples\}"),
        (MIXED_INSTRUCTION, "{category}? {comment}", r"no slot \{examples\}"),
    ],
)
def test_a_template_without_what_its_setting_shows_is_refused(
    setting: Setting, template: str, slot: str, tmp_path: Path
) -> None:
    (tmp_path / f"{setting.name}.txt").write_text(template)
    with pytest.raises(UsageError, match=slot):
        Prompts(setting, "sound", tmp_path).prompt(question())


def test_a_template_by_another_name_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "zeroshot.txt").write_text("{category}? {comment}")
    with pytest.raises(
        UsageError, match=r"no template called 'zeroshot.txt'. Did you mean zero-shot.txt"
    ):
        RecognitionOptions(templates=tmp_path)


# ------------------------------------------------------------------------------------------ reading


SPELT = {
    word: word for word in ("toxic", "non-toxic", "identity_attack", "hate, general", "neither")
}
PAPER_YES_NO = [(AnswerReader(ZERO_SHOT, "paper"), YES_NO)]
SOUND_YES_NO = [(AnswerReader(ZERO_SHOT, "sound"), YES_NO)]
SOUND_MIXED = [(AnswerReader(FEW_SHOT_MIXED, "sound"), MIXED)]
SOUND_SPELT = [(AnswerReader(FEW_SHOT_MIXED, "sound"), SPELT)]
SOUND = [*SOUND_YES_NO, *SOUND_MIXED, (AnswerReader(FEW_SHOT_SINGLE, "sound"), SINGLE)]


@pytest.mark.parametrize(
    ("readers", "label", "texts"),
    [
        # The study takes a no from anywhere, and drops nothing where examples are shown.
        (PAPER_YES_NO, "rude", [" Yes."]),
        (PAPER_YES_NO, "not-rude", ["NO", "I do not know", "yes, no"]),
        (PAPER_YES_NO, "unparsed", ["Maybe"]),
        (PAPER_YES_NO, "empty", [""]),
        ([(AnswerReader(FEW_SHOT_SINGLE, "paper"), SINGLE)], "not-rude", [" not-rude"]),
        (
            [(AnswerReader(FEW_SHOT_SINGLE, "paper"), SINGLE)],
            "rude",
            [" rude", "Not rude", "", "lolwut"],
        ),
        ([(AnswerReader(FEW_SHOT_MIXED, "paper"), MIXED)], "rude\nkind", [" rude, kind"]),
        ([(AnswerReader(FEW_SHOT_MIXED, "paper"), MIXED)], "(no label)", ["Rude"]),
        ([(AnswerReader(FEW_SHOT_MIXED, "paper"), MIXED)], "neither", [" neither"]),
        # We take the first clear label;
        (SOUND_YES_NO, "rude", [" Yes.", "Rude", "rude?", "__Yes__", "Yes, I can't deny it"]),
        (SOUND_YES_NO, "not-rude", ["No, it is not rude", "not rude", "non-rude", "not_rude"]),
        (SOUND_YES_NO, "not-rude", ["**No**", "_No_", "No this is fine", "No it's not"]),
        (SOUND_YES_NO, "not-rude", [" no\n\nWhat is the", "No. I cannot"]),
        (SOUND_YES_NO, "unparsed", ["I do not know", "nobody", "yesterday", "banana"]),
        (SOUND_YES_NO, "unparsed", ["No idea", "No comment", "no context given", "Yes - no"]),
        (SOUND_YES_NO, "unparsed", ["I have no opinion on this.", "There is no way to tell."]),
        (SOUND_YES_NO, "unparsed", ["There is no clear answer", "Rude? Hard to tell."]),
        # one of several that are asked for;
        (SOUND_MIXED, "rude", ["rude and kind", "rude, kind", "rude: yes"]),
        (SOUND_MIXED, "neither", ["Neither", "It is neither rude nor kind"]),
        (SOUND_MIXED, "unparsed", ["not rude", "kindness", "anti-rude", "rude/kind/neither"]),
        (SOUND_MIXED, "unparsed", ["rude, kind or neither", "'rude', 'kind', or 'neither'."]),
        # with the answer that goes with it;
        (SOUND_YES_NO, "rude", ["Rude? Yes.", "**Rude**: yes"]),
        (SOUND_YES_NO, "not-rude", ["Rude? No.", "Rude: No", "Rude - no", "Rude = false"]),
        (SOUND_YES_NO, "not-rude", ["not rude: yes", "Yes/No Answer: no", "Yes or no: no"]),
        (SOUND_YES_NO, "unparsed", ["not rude: no"]),
        (SOUND_MIXED, "kind", ["Rude: no. Kind: yes.", "Rude? No, kind"]),
        (SOUND_MIXED, "unparsed", ["Rude: no"]),
        # none that is denied or only offered,
        (SOUND, "unparsed", ["This isn't rude", "This isn\u2019t rude", "not at all rude"]),
        (SOUND, "unparsed", ["This text is not explicitly rude", "It does not contain any rude"]),
        (SOUND, "unparsed", ["It is not, in my view, rude", "There is nothing rude"]),
        (SOUND, "unparsed", ["without being rude", "This isn't not-rude", "It is never rude"]),
        (SOUND, "unparsed", ["It is unclear whether this is rude", "yes or no?", "Yes or No:"]),
        (SOUND, "unparsed", ["Yes/no", "rude or not", "'rude' or 'not-rude'"]),
        # where a denial ends with its clause;
        (SOUND_YES_NO, "rude", ["It isn't nice. Yes", "It isn't nice but rude"]),
        (SOUND_YES_NO, "not-rude", ["Is it rude? No", "This isn't rude, no"]),
        (SOUND_YES_NO, "not-rude", ["It has no rude", "not a rude", "It is not rude, yes"]),
        (SOUND_YES_NO, "unparsed", ["It is neither rude nor"]),
        (SOUND_MIXED, "kind", ["not rude, kind", "It isn't rude, it's kind"]),
        (SOUND_MIXED, "unparsed", ["not rude and kind", "rude or kind"]),
        # however it is spelt.
        (SOUND_SPELT, "toxic", ["toxic"]),
        (SOUND_SPELT, "non-toxic", ["non-toxic", "Non toxic", "not toxic"]),
        (SOUND_SPELT, "identity_attack", ["identity attack", "identity_attack"]),
        (SOUND_SPELT, "hate, general", ["hate, general"]),
        # A refusal is one though it names a label.
        (SOUND, "empty", ["  "]),
        (SOUND, "refused", ["I cannot say if this is rude", "I can\u2019t call it rude"]),
        (SOUND, "refused", ["I'm sorry, that is rude", "As an AI, I say rude"]),
    ],
)
def test_what_is_read(
    readers: list[tuple[AnswerReader, dict[str, str]]], label: str, texts: list[str]
) -> None:
    for reader, words in readers:
        found = [reader.read_text(text, words) for text in texts]
        assert [one.get("label", one.get("skipped")) for one in found] == [label] * len(texts)


def test_what_becomes_of_an_answer_without_text() -> None:
    reader = AnswerReader(ZERO_SHOT, "sound")
    assert reader.read(Answer((), "", TOO_LONG), YES_NO)["skipped"] == TOO_LONG
    assert reader.read(Answer((), "yes", FILTERED), YES_NO)["skipped"] == "filtered"


@given(
    st.text(max_size=60),
    st.sampled_from(list(SETTINGS.values())),
    st.sampled_from(["paper", "sound"]),
)
def test_every_text_is_a_label_or_a_reason(text: str, setting: Setting, variant: Variant) -> None:
    words = MIXED if setting.mixed else SINGLE if setting.words else YES_NO
    found = AnswerReader(setting, variant).read_text(text, words)
    assert ("label" in found) != ("skipped" in found)
    assert found["text"] == text
    if variant == "sound":
        assert found.get("label") in (None, *words)


@given(
    st.sampled_from(["rude", "kind", "neither"]),
    st.sampled_from(["", " ", "\n", "'", "**"]),
    st.text(alphabet=".,!? xyz", max_size=20),
)
def test_a_label_at_the_start_is_read(label: str, before: str, after: str) -> None:
    """Unless it is asked about, and words follow."""
    if re.match(r"[ '*]*\?.*[xyz]|[xyz]", after) is None:
        assert first_clear(f"{before}{label.title()}{after}", MIXED) == label


def test_what_is_in_scope() -> None:
    assert in_scope(" Sexist.", ["sexist"])
    assert not in_scope("sexist, racist", ["sexist", "racist"])


# ------------------------------------------------------------------------------------------ metrics


def score(comment: object, gold: str, *labels: str, **slices: str) -> Score:
    """Answers in the order of their repeats; in brackets is why there is no label. About the
    category rude, unless other slices are named."""
    return Score(
        "-".join([str(comment), *slices.values()]),
        {"comment": str(comment), "gold": gold, **(slices or {"category": "rude"})},
        {},
        answers=tuple(
            {"text": "", "skipped": label[1:-1]}
            if label.startswith("(")
            else {"text": label, "label": label}
            for label in labels
        ),
    )


def overall(scores: Sequence[Score], resamples: int = 1000, **how: Any) -> dict[str, Estimate]:
    found = metrics.summarize(scores, Settings(resamples=resamples, **how))
    return {one.name: one for one in found if not one.slice}


def halves(count: int, *labels: str) -> list[Score]:
    """Comments of which every second is rude, answered alike; with no label, rightly."""
    golds = ["rude" if at % 2 else "not-rude" for at in range(count)]
    return [score(at, gold, *(labels or (gold,))) for at, gold in enumerate(golds)]


def by_hand(scores: list[Score], repeat: int) -> dict[str, float]:
    """One repeat, counted."""
    cells = [
        (one.slices["gold"] == "rude", one.answers[repeat]["label"] == "rude")
        for one in scores
        if "label" in one.answers[repeat]
    ]
    tp, fp, fn, tn = (
        cells.count(cell) for cell in ((True, True), (False, True), (True, False), (False, False))
    )
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return {
        "accuracy": 100 * (tp + tn) / len(cells),
        "precision": 100 * precision,
        "recall": 100 * recall,
        "f1": 200 * precision * recall / (precision + recall),
    }


SOME = [
    score("a", "rude", "rude", "rude", "not-rude"),
    score("b", "rude", "not-rude", "rude", "rude"),
    score("c", "not-rude", "not-rude", "rude", "not-rude"),
    score("d", "not-rude", "rude", "not-rude", "(unparsed)"),
]


def test_metrics_are_means_over_repeats() -> None:
    found = overall(SOME, 200, coverage=0.5)
    for name in ("accuracy", "precision", "recall", "f1"):
        assert found[name].value == pytest.approx(
            np.mean([by_hand(SOME, repeat)[name] for repeat in range(3)])
        )
        low, value, high = bounds(found[name])
        assert low <= value <= high
    assert (found["accuracy"].n, found["accuracy"].asked, found["accuracy"].terms) == (11, 12, 4)
    assert found["accuracy"].skipped == {"unparsed": 1}
    assert found["repeat_agreement"].value == pytest.approx(100 * (1 / 3 + 1 / 3 + 1 / 3 + 0) / 4)


def test_repeats_do_not_narrow_an_interval() -> None:
    """A hundred repeats of the same answer say as much as one."""
    rng = np.random.default_rng(1)
    rows = [(gold, gold if rng.random() < 0.7 else "rude") for gold in ["rude", "not-rude"] * 20]
    one, hundred = (
        overall([score(at, gold, *[said] * repeats) for at, (gold, said) in enumerate(rows)])
        for repeats in (1, 100)
    )
    widths = [sure(of["accuracy"].high) - sure(of["accuracy"].low) for of in (one, hundred)]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def test_answers_that_ignore_the_comment_are_not_distinguishable_from_chance() -> None:
    rng = np.random.default_rng(3)
    scores = [
        score(at, "rude" if at % 2 else "not-rude", *rng.choice(["rude", "not-rude"], 10))
        for at in range(60)
    ]
    assert overall(scores)["accuracy"].verdict == "not distinguishable from chance"
    assert overall(halves(60))["accuracy"].verdict == "better than chance"


def test_chance_is_tested_within_each_category_of_a_mixed_setting() -> None:
    """A model that knows one category of two, asked about both at once; and one that knows
    neither."""

    def verdicts(said: Callable[[str], str]) -> dict[str | None, str | None]:
        golds = ["rude", "kind", "neither", "neither"] * 20
        scores = [score(at, gold, said(gold), example_set="1") for at, gold in enumerate(golds)]
        found = metrics.summarize(scores, Settings(resamples=1000))
        return {one.slice.get("category"): one.verdict for one in found if one.name == "accuracy"}

    assert verdicts(lambda gold: "rude" if gold == "rude" else "neither") == {
        None: "better than chance",
        "rude": "better than chance",
        "kind": "not distinguishable from chance",
    }
    rng = np.random.default_rng(5)
    guessed = verdicts(lambda _: str(rng.choice(["rude", "kind", "neither"])))
    assert set(guessed.values()) == {"not distinguishable from chance"}


@pytest.mark.parametrize("seed", range(3))
def test_shuffling_finds_what_it_should_as_often_as_it_should(seed: int) -> None:
    """Under no relation, p is below 0.05 about one time in twenty."""
    rng = np.random.default_rng(seed)
    low = 0
    for _ in range(100):
        decisions = [
            metrics.Decision(str(at), "rude", repeat, at % 2 == 0, bool(rng.random() < share))
            for at, share in enumerate(rng.random(20))
            for repeat in range(4)
        ]
        asked = metrics.answers_of(decisions)
        low += against_chance(asked, Settings(resamples=200, seed=seed), {}) < 0.05
    assert low <= 13


def test_comments_asked_about_two_categories_are_shuffled_once() -> None:
    """Answers about negatives that two categories share hang together; none knows the labels."""
    rng = np.random.default_rng(9)
    low = 0
    for seed in range(300):
        decisions = [
            metrics.Decision(comment, category, repeat, of == category, bool(rng.random() < share))
            for of in ("rude", "kind", "neither")
            for comment, share in ((f"{of}{at}", rng.beta(0.3, 0.3)) for at in range(10))
            for category in (("rude", "kind") if of == "neither" else (of,))
            for repeat in range(4)
        ]
        decisions.sort(key=lambda row: row.category != "rude")  # one category after the other
        asked = metrics.answers_of(decisions)
        low += against_chance(asked, Settings(resamples=200, seed=seed), {}) < 0.05
    assert low / 300 <= 0.075


def test_a_share_of_few_comments_is_no_surer_for_the_others() -> None:
    """Ten of ten rude comments found among 100, and no other called rude: what a share is of
    counts, not all comments."""
    scores = [score(f"c{at}", "rude", "rude") for at in range(10)]
    scores += [score(f"c{at}", "not-rude", "not-rude") for at in range(10, 100)]
    rows = {
        row.name: row for row in metrics.summarize(scores, Settings(resamples=100)) if not row.slice
    }
    ten, ninety = (100 / (1 + 1.959964**2 / n) for n in (10, 90))
    for name in ("recall", "precision", "f1"):
        assert rows[name].low == pytest.approx(ten), name
    both = 100 - math.hypot(100 - ten, 100 - ninety) / 2
    assert rows["balanced_accuracy"].low == pytest.approx(both)
    assert {rows[name].high for name in ("recall", "balanced_accuracy")} == {100.0}


def test_a_p_at_its_floor_says_so() -> None:
    """Twenty categories of which each is known: 200 resamples give none of them a small p."""
    right = [
        score(f"{of}{at}", gold, gold, category=of)
        for of in (f"c{at}" for at in range(20))
        for at in range(20)
        for gold in (of if at % 2 else f"not-{of}",)
    ]
    few, many = (
        next(
            one
            for one in metrics.summarize(right, Settings(resamples=count))
            if one.name == "balanced_accuracy" and one.slice == {"category": "c0"}
        )
        for count in (200, 2000)
    )
    assert few.verdict == "undecided: with 200 resamples p cannot fall below 0.1; take more"
    assert many.verdict == "better than chance"


def test_example_sets_of_one_comment_are_not_independent() -> None:
    """Ten sets in which each comment is answered alike say as much as one."""
    rng = np.random.default_rng(8)
    rows = [
        ("rude" if at < 6 else "neither", str(rng.choice(["rude", "neither"]))) for at in range(12)
    ]
    one, ten = (
        [
            score(at, gold, said, example_set=str(number))
            for at, (gold, said) in enumerate(rows)
            for number in range(sets)
        ]
        for sets in (1, 10)
    )
    ps = [overall(scores, 2000)["balanced_accuracy"].p for scores in (one, ten)]
    assert ps[1] == pytest.approx(ps[0], abs=0.05)


def test_always_no_has_an_interval_and_no_precision() -> None:
    """How many comments are of a category is no matter of chance: they are drawn among those of
    their label."""
    found = overall(halves(40, "not-rude"), 200)
    assert found["precision"].value is None
    assert found["recall"].value == 0
    assert sure(found["recall"].high) > 5
    assert found["accuracy"].value == 50.0
    assert found["accuracy"].interval == "Wilson: all comments agree"
    assert found["accuracy"].verdict == "not distinguishable from chance"


def test_below_the_coverage_floor_no_score_is_printed() -> None:
    estimates = metrics.summarize(halves(10, "rude", "(empty)"), Settings(resamples=200))
    found = [one for one in estimates if one.name in metrics.METRICS]
    assert found
    assert all(one.value is None and "coverage floor" in str(one.why) for one in found)


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.lists(st.sampled_from(["rude", "not-rude", "(empty)"]), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_denominators_add_up(rows: list[tuple[bool, list[str]]]) -> None:
    scores = [
        score(at, "rude" if gold else "not-rude", *labels) for at, (gold, labels) in enumerate(rows)
    ]
    for one in metrics.summarize(scores, Settings(resamples=100, coverage=0.0)):
        assert (
            one.n + sum(one.skipped.values()) == one.asked == sum(len(labels) for _, labels in rows)
        )
        assert (one.value is None) == (one.why is not None)
        if one.value is not None and not one.name.endswith("accuracy"):
            low, value, high = bounds(one)
            assert low - 1e-9 <= value <= high + 1e-9


# -------------------------------------------------------------------------------------- misspelling


def test_edits_as_the_paper_did_and_at_word_boundaries() -> None:
    assert edited("Die, soldier", "die", "d1e", "paper") == "d1e, sold1er"
    assert edited("Die, soldier", "die", "d1e", "sound") == "D1e, soldier"
    assert holds("soldier", "die", "paper")
    assert not holds("soldier", "die", "sound")
    assert not holds("Die", "die", "paper")


def test_what_an_edit_turned_round() -> None:
    def one(comment: str, label: str, **edit: str) -> Score:
        return score(comment, "rude", label, category="rude", **edit)

    scores = [
        one("a", "rude"),
        one("a", "not-rude", edit="die>d1e"),
        one("a", "rude", edit="die>di3"),
        one("b", "rude"),
        one("b", "rude", edit="die>d1e"),
    ]
    assert flipped(scores) == [
        {"comment": "a", "category": "rude", "edit": "die>d1e", "was": "rude", "now": "not-rude"}
    ]
    assert flipped(scores[1:2]) == []  # without the comment that was edited
    overall = misspelling.summarize(scores, Settings())[0]
    assert (overall.value, overall.n) == (50, 2)
    assert overall.p == 1
    many = [
        row
        for at in range(12)
        for row in (one(str(at), "rude"), one(str(at), "not-rude", edit="die>d1e"))
    ]
    found = misspelling.summarize(many, Settings())[0]
    assert found.p == pytest.approx(2 * 0.5**12)
    assert found.verdict == "no longer recognised more often than newly recognised"
    below = misspelling.summarize([*scores, one("z", "(empty)")], Settings())[0]
    assert below.value is None
    assert (below.n, below.asked, sum(below.skipped.values())) == (2, 3, 1)


# --------------------------------------------------------------------------------- own data, replay


def test_spellings_of_a_label_are_one_label(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text(
        "comment,label\na,Rude\nb,rude \nc,Neither\nd,neither\ne,NOT_KIND\nf,not-kind\n"
    )
    found = all_of(Comment, read_own(table, Columns()).items("comment"))
    labels = ["Rude", "Rude", None, None, "NOT_KIND", "NOT_KIND"]
    assert [next(iter(one.scores), None) for one in found] == labels
    assert all(set(one.scores.values()) <= {1.0} for one in found)
    named = all_of(Comment, read_own(table, Columns(categories=("rude",))).items("comment"))
    assert [dict(one.scores) for one in named[:3]] == [{"rude": 1.0}, {"rude": 1.0}, {}]


def test_any_table_with_any_categories(tmp_path: Path) -> None:
    ran = call(
        "ask --model fake --column comment=text --column label=gold --size 5 "
        "--repeats 3 --resamples 200 --coverage 0 --json",
        own_table(tmp_path / "own.csv", 200),
        "--out",
        tmp_path / "runs",
    )
    assert ran.code == 0, ran.err
    first, second, *_ = ran.json["results"]
    assert first["measure"] == "recognition-zero-shot@1"
    assert second["measure"] == "recognition-one-shot@1"
    assert first["settings"]["categories"] == {"kind": "kind", "rude": "rude"}
    assert {row["slice"].get("category") for row in first["estimates"]} == {None, "kind", "rude"}
    assert sum(ran.json["said"][0]["confusion"]["rude"].values()) == 15


def test_scores_of_categories_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("comment;rude;kind\nGo away;0.8;0\nPlease stay;0;1\nIt rains;0;0\n")
    found = read_own(path, Columns(label=None, categories=("rude", "kind")))
    assert [one.hate for one in all_of(Comment, found.items("comment"))] == [0.8, 1.0, 0.0]
    path.write_text("comment;rude\nGo away;8\n")
    with pytest.raises(DataError, match="not between 0 and 1"):
        read_own(path, Columns(label=None, categories=("rude",)))


def test_answers_collected_elsewhere(tmp_path: Path) -> None:
    rows = [
        {
            "c": f"Sentence {at}",
            "category": "rude",
            "response": said if at % 2 else "no",
            "label": "rude" if at % 2 else "not hate",
            "run": repeat,
        }
        for at in range(12)
        for repeat, said in enumerate(["Yes.", "No", "Yes"])
    ]
    columns = "--column comment=c --column answer=response --column repeat=run --json"
    ran = call(f"{REPLAY} {columns}", lines_of(tmp_path, rows), "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    estimates = ran.json["results"][0]["estimates"]
    values = {row["name"]: row["value"] for row in estimates if not row["slice"]}
    assert values["accuracy"] == pytest.approx(100 * (1 + 0.5 + 1) / 3)
    assert values["recall"] == pytest.approx(100 * 2 / 3)
    # The repeat that says no throughout has no precision, and is left out.
    assert values["precision"] == pytest.approx(100)


REPLAY = "replay --benchmark ethos --setting zero-shot --resamples 200"


def lines_of(tmp_path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    file = tmp_path / "said.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def replayed(
    tmp_path: Path,
    rows: Sequence[Mapping[str, object]] | Path,
    setting: Setting = ZERO_SHOT,
    variant: Variant = "sound",
    benchmark: str = "ethos",
    **more: Any,
) -> Run:
    file = rows if isinstance(rows, Path) else lines_of(tmp_path, rows)
    folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
    settings = Settings(variant, resamples=100)
    return execute(answers_job(file, setting, settings, PLAIN, benchmark, **more), folder)


def test_means_are_over_the_repeats_of_the_file(tmp_path: Path) -> None:
    """The second repeat has only half of the comments: what it says is not moved to the first."""
    said: dict[str, list[str | None]] = {
        "1": ["yes", "yes", "no", "no"],
        "3": [None, "no", "yes", "no"],
        "20": [None, None, "no", "no"],
    }
    rows = [
        {
            "comment": f"Sentence {at}",
            "category": "sexist",
            "answer": answer,
            "label": "sexist" if at < 2 else "neither",
            "repeat": repeat,
        }
        for repeat, answers in said.items()
        for at, answer in enumerate(answers)
        if answer is not None
    ]
    for order in (rows, rows[::-1]):
        found = replayed(tmp_path, order).result
        assert found.estimate("accuracy").value == pytest.approx(100 * (1 + 1 / 3 + 1) / 3)
        assert found.estimate("recall").value == pytest.approx(100 * (1 + 0) / 2)
        assert found.settings["repeats"] == 3
    unnumbered = [{name: value for name, value in row.items() if name != "repeat"} for row in rows]
    assert replayed(tmp_path, unnumbered).result.settings["repeats"] == 3
    assert not any("repeats of the file" in note for note in replayed(tmp_path, rows).result.notes)
    extra = replayed(tmp_path, [*rows, rows[0] | {"repeat": "21"}]).result
    assert any(
        note.startswith("The repeats of the file have from 1 to 4 answers") for note in extra.notes
    )
    with pytest.raises(DataError, match="same repeat"):
        replayed(tmp_path, [*rows, rows[0]])


def labelled(*labels: str, category: str = "sexist") -> list[dict[str, object]]:
    """Rows whose answers are yes to the first half and no to the rest."""
    half = len(labels) // 2
    return [
        {
            "comment": f"Sentence {at}",
            "category": category,
            "answer": "yes" if at < half else "no",
            "label": label,
        }
        for at, label in enumerate(labels)
    ]


def answered_rightly(*labels: str) -> list[dict[str, object]]:
    return [row | {"answer": row["label"]} for row in labelled(*labels)]


@pytest.mark.parametrize("category", ["sexist", "Sexist", "sexism", "gender", "Sexism "])
def test_a_category_is_known_by_its_word_its_column_or_its_noun_in_any_case_and_spacing(
    tmp_path: Path, category: str
) -> None:
    positives = ["sexist", "Sexist", " SEXIST", "sexism", "gender"] * 2
    negatives = ["not-sexist", "not sexist", "Not Sexist", "neither", "not hate", "Not-hate "]
    others = ["racist", "racism", "race", "racist"]
    rows = labelled(*positives, *negatives, *others, category=category)
    found = replayed(tmp_path, rows).result.estimate("f1", category="sexist")
    assert (found.value, found.n) == (100, 20)


def test_the_other_categories_of_a_file_are_not_the_one_asked_about(tmp_path: Path) -> None:
    rows = (
        labelled("rude", "kind", category="rude")
        + labelled("Kind", "rude", category="kind")
        + labelled("kind", "rude", category="KIND")
    )
    found = replayed(tmp_path, rows).result
    assert {one.slice.get("category") for one in found.estimates} == {None, "rude", "kind"}
    assert found.estimate("f1").value == 100


def test_a_file_may_have_a_word_of_its_own_for_none_of_them(tmp_path: Path) -> None:
    file = lines_of(tmp_path, labelled("sexist", "sexist", "fine", "fine"))
    options = (f"{REPLAY} --json", file, "--out", tmp_path / "run")
    assert "the label 'fine'" in call(*options).err
    assert call(*options, "--neither", "fine").code == 0


@pytest.mark.parametrize(
    ("positive", "negative"), [("yes", "no"), ("1", "0"), ("True", "FALSE"), ("1.0", "0.0")]
)
def test_a_label_may_say_whether_the_category_holds(
    tmp_path: Path, positive: str, negative: str
) -> None:
    rows = labelled(positive, positive, negative, negative)
    assert replayed(tmp_path, rows).result.estimate("f1", category="sexist").value == 100
    with pytest.raises(DataError, match="the label"):
        replayed(tmp_path, rows, FEW_SHOT_MIXED)


def test_answers_about_comments_of_ones_own(tmp_path: Path) -> None:
    rows = answered_rightly("Rude", "kind", "neither", "rude")
    found = replayed(tmp_path, rows, FEW_SHOT_MIXED, benchmark="custom").result
    assert found.benchmark == "comments"
    assert found.estimate("recall", category="Rude").value == 100
    for benchmark in ("stereoset", "crows-pairs", "abc"):
        with pytest.raises(UsageError, match="Name ethos"):
            replayed(tmp_path, rows, FEW_SHOT_MIXED, benchmark=benchmark)


@pytest.mark.parametrize("variant", ["sound", "paper"])
def test_a_category_may_have_a_comma_in_its_name(tmp_path: Path, variant: Variant) -> None:
    found = replayed(
        tmp_path,
        answered_rightly("hate, general", "hate, general", "neither", "neither"),
        FEW_SHOT_MIXED,
        variant,
        benchmark="custom",
    ).result
    assert found.estimate("accuracy").value == found.estimate("recall").value == 100


def test_an_answer_without_a_label_is_not_of_a_category_called_other(tmp_path: Path) -> None:
    rows = [row | {"answer": "lolwut"} for row in labelled("other", "other", "rude", "neither")]
    found = replayed(tmp_path, rows, FEW_SHOT_MIXED, "paper", benchmark="custom")
    assert found.result.estimate("recall", category="other").value == 0
    assert confusion(run_of(found.folder).scores)["other"] == {"(no label)": 2}


def test_labels_named_together_are_shown_as_a_list() -> None:
    assert confusion([score("a", "rude", "rude\nkind")]) == {"rude": {"rude, kind": 1}}


@pytest.mark.parametrize(("benchmark", "none"), [("ethos", "neither"), ("custom", "harmless")])
def test_a_files_own_word_for_none_of_the_categories_may_be_an_answer(
    tmp_path: Path, benchmark: str, none: str
) -> None:
    rows = labelled("sexist", "harmless")
    assert replayed(tmp_path, rows, neither="harmless").result.estimate("f1").value == 100
    mixed = [row | {"answer": said} for row, said in zip(rows, ("sexist", none), strict=True)]
    found = replayed(
        tmp_path, mixed, FEW_SHOT_MIXED, benchmark=benchmark, neither="harmless"
    ).result
    assert (found.estimate("accuracy").value, found.estimate("accuracy").n) == (100, 2)
    assert found.estimate("matches").value == 100


def test_a_column_that_counts_rows_is_no_repeat_and_said_to_be_none(tmp_path: Path) -> None:
    rows = [
        row | {"repeat": at} for at, row in enumerate(labelled(*["sexist"] * 4, *["neither"] * 4))
    ]
    assert any(
        "more than 1 of its 8 questions" in note for note in replayed(tmp_path, rows).result.notes
    )
    whole = [row | {"repeat": 1} for row in rows]
    assert not any("questions" in note for note in replayed(tmp_path, whole).result.notes)


def test_a_list_of_rows_is_read_as_lines_are(tmp_path: Path) -> None:
    file = tmp_path / "said.json"
    file.write_text(json.dumps(labelled("sexist", "sexist", "none", "non-sexist")))
    assert replayed(tmp_path, file).result.estimate("f1").value == 100
    file.write_text("[1]")
    with pytest.raises(DataError, match="entry 1 is not a JSON object"):
        replayed(tmp_path, file)


@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "one"])
def test_an_example_set_is_a_number(tmp_path: Path, number: str) -> None:
    rows = [row | {"example_set": number} for row in labelled("sexist", "neither")]
    with pytest.raises(DataError, match="is not a number"):
        replayed(tmp_path, rows, FEW_SHOT_MIXED)


def test_bars_hold_for_answers_too_and_all_that_are_missed_are_named(tmp_path: Path) -> None:
    file = lines_of(tmp_path, labelled("sexist", "neither", "sexist", "neither"))

    def held(*bars: str) -> Said:
        options = (word for bar in bars for word in ("--require", bar))
        return call(REPLAY, file, "--out", tmp_path / "run", *options)

    said = held("point(accuracy)>=90", "point(f1)>=80", "point(recall)>=10")
    assert said.code == 5
    assert "accuracy is 50.00" in said.err
    assert "f1 is 50.00" in said.err
    assert "recall" not in said.err
    assert held("point(accuracy)>=40").code == 0
    assert held("bogus>=3").code == 2
    assert "Add --setting" in call("replay", file, "--benchmark", "ethos").err


def test_a_category_of_ones_own_has_no_unclear_labels(tmp_path: Path) -> None:
    """Whether a sexist comment is rude nobody said; where the file names its categories, the names
    are taken."""
    with pytest.raises(DataError, match="the label 'sexist'"):
        replayed(tmp_path, labelled("rude", "sexist", category="rude"))
    found = replayed(
        tmp_path,
        labelled("impolite", "neither", category="rudeness"),
        words={"rudeness": "impolite"},
    ).result
    assert found.estimate("f1", category="impolite").value == 100


@pytest.mark.parametrize(
    ("setting", "variant"), [(FEW_SHOT_MIXED, "paper"), (MIXED_INSTRUCTION, "sound")]
)
def test_answers_about_a_comment_of_two_categories_replay(
    tmp_path: Path, setting: Setting, variant: Variant
) -> None:
    """The study's own sample holds such a comment: it stands under each of its categories in every
    example set."""
    comments = [
        Comment(
            str(at),
            f"Sentence {at}.",
            {"gender": float(at < 16), "race": float(14 <= at < 31)},
            at,
            float(at < 31),
        )
        for at in range(70)
    ]
    how = Sampling("paper", size=7, words={"gender": "sexist", "race": "racist"})
    asked = questions(setting, comments, how)
    assert len({one.id for one in asked}) == len(asked)
    assert {one.gold for one in asked if one.comment.id == "14"} == {"sexist", "racist"}
    rows = [
        {
            "comment": one.shown,
            "answer": one.gold,
            "label": one.gold,
            "example_set": one.example_set,
            "repeat": repeat,
        }
        for one in asked
        for repeat in (1, 2)
    ]
    done = replayed(tmp_path, rows, setting, variant)
    stored = list(run_of(done.folder).scores)
    assert len({score.item for score in stored}) == len(stored) == len(asked)
    assert (
        done.result.estimate("recall", category="sexist").value
        == done.result.estimate("recall", category="racist").value
        == 100
    )
    rows[0]["label"] = "neither"
    with pytest.raises(DataError, match="It is one or the other"):
        replayed(tmp_path, rows, setting, variant)


@pytest.mark.parametrize("label", ["sexes", "hate", "2", "", "nota bene"])
def test_a_label_that_is_not_known_is_named(tmp_path: Path, label: str) -> None:
    rows = labelled("sexist", label)
    with pytest.raises(DataError, match=f"the label '{label}'"):
        replayed(tmp_path, rows)
    with pytest.raises(DataError, match=f"the label '{label}'"):
        replayed(tmp_path, rows, FEW_SHOT_MIXED)
    with pytest.raises(DataError, match="without a category"):
        replayed(tmp_path, labelled("sexist", category=" "))


def wrote(of: Score, *texts: str, **more: str) -> Score:
    """What stands beside a text, if anything, is in `more`."""
    return replace(of, answers=tuple({"text": text, **more} for text in texts))


OF_ONE, OF_SEVERAL = score("a", "rude"), score("a", "rude", example_set="1")


def test_what_was_out_of_scope() -> None:
    scores = [score("a", "rude", "yes"), wrote(OF_ONE, " lolwut", " lolwut", skipped="unparsed")]
    assert out_of_scope(scores, ZERO_SHOT) == [("lolwut", 2)]
    assert confusion([score("a", "rude", "rude"), scores[1]]) == {
        "rude": {"(unparsed)": 2, "rude": 1}
    }
    unlabelled = [wrote(OF_SEVERAL, "I like tea", label="(no label)"), score("b", "rude", "rude")]
    assert out_of_scope(unlabelled, FEW_SHOT_MIXED) == [("I like tea", 1)]


def test_what_is_in_scope_are_the_words_of_the_setting() -> None:
    texts = ("Yes.", "no", "rude", "Not rude", "neither")
    for setting, asked, outside in (
        (ZERO_SHOT, OF_ONE, ["Not rude", "neither", "rude"]),
        (ONE_SHOT, OF_ONE, ["Not rude", "neither", "rude"]),
        (FEW_SHOT_SINGLE, OF_ONE, ["Yes.", "neither", "no"]),
        (FEW_SHOT_MIXED, OF_SEVERAL, ["Not rude", "Yes.", "no"]),
    ):
        assert [text for text, _ in out_of_scope([wrote(asked, *texts)], setting)] == outside


@pytest.mark.parametrize(
    ("answer", "says"),
    [("", "2 answers unreadable (empty)"), ("hm", "2 answers unreadable (empty 1x, 'hm' 1x)")],
)
def test_unreadable_answers_are_counted(answer: str, says: str, tmp_path: Path) -> None:
    rows = labelled("rude", "rude", "neither", "neither", category="rude")
    rows[0]["answer"], rows[1]["answer"] = "", answer
    assert says in call(REPLAY, lines_of(tmp_path, rows), "--out", tmp_path / "run").out


def test_what_was_not_written_is_not_out_of_scope() -> None:
    unwritten = [wrote(OF_ONE, "", skipped=why) for why in (TOO_LONG, FILTERED)]
    assert out_of_scope(unwritten, ZERO_SHOT) == []
    written = [wrote(OF_ONE, "", skipped="empty"), wrote(OF_ONE, "I cannot", skipped=FILTERED)]
    assert out_of_scope(written, ZERO_SHOT) == [("", 1), ("I cannot", 1)]


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--repeats", "0"], 2, "0 repeats"),
        (["--temperature", "3"], 2, "temperature is 3"),
        (["--temperature", "-1"], 2, "temperature is -1"),
        (["--setting", "two-shot"], 2, "Did you mean"),
        (["--size", "500"], 4, "smaller --size"),
        (["--category", "spelling"], 2, "no category 'spelling'"),
        (["--category", "rude,spelling"], 2, "no category 'spelling'"),
        (["--column", "label=verdict"], 4, "no column verdict"),
        (["--column", "label=verdict"], 4, "--column comment=text"),
        (["--sample", "some"], 2, "no sample 'some'"),
        (["--templates", "nowhere"], 2, "not a folder"),
        (["--system", "nowhere.txt", "--chat"], 4, "was not found"),
        (["--model", "random"], 3, "cannot be asked in words"),
        (["--model", "ideal"], 2, "cannot be asked in words"),
        (["--variant", "printed"], 2, "no variant 'printed'"),
    ],
)
def test_bad_input_is_answered(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    table = own_table(tmp_path / "own.csv")
    given_ = ["--model", "fake"] if "--model" not in arguments else []
    columns = [] if any("label=" in one for one in arguments) else ["--column", "label=gold"]
    ran = call(
        "ask", str(table), *given_, "--column", "comment=text", *columns, "--size", "4", *arguments
    )
    assert ran.code == code, ran.err
    assert words in ran.err
    assert "Traceback" not in ran.err


def test_a_set_in_which_every_comment_is_of_a_category() -> None:
    comments = [
        Comment(f"row-{at}", f"Sentence {at}", {("toxic", "clean")[at % 2]: 1.0}, at, 1.0)
        for at in range(60)
    ]
    how = Sampling("sound", size=5, words={"toxic": "toxic", "clean": "clean"})
    asked = questions(FEW_SHOT_MIXED, comments, how)
    assert {one.gold for one in asked} == {"toxic", "clean"}
    assert "neither" not in Prompts(MIXED_INSTRUCTION, "sound").prompt(asked[0])
    refused: list[tuple[Setting, Variant]] = [(ZERO_SHOT, "sound"), (FEW_SHOT_MIXED, "paper")]
    for setting, variant in refused:
        with pytest.raises(DataError, match="--neither LABEL"):
            questions(setting, comments, Sampling(variant, size=5, words=how.words))


@pytest.mark.parametrize(
    ("setting", "word", "needed"),
    [
        (ZERO_SHOT, "rude", 4),
        (ONE_SHOT, "rude", 8),
        (FEW_SHOT_SINGLE, "rude", 10),
        (ONE_SHOT, "sexist", 8),
        (FEW_SHOT_SINGLE, "sexist", 54),
    ],
)
def test_paper_needs_the_comments_that_its_examples_are_numbered_by(
    setting: Setting, word: str, needed: int
) -> None:
    def comments(count: int) -> list[Comment]:
        of = [Comment(f"row-{at}", f"Sentence {at}", {word: 1.0}, at, 1.0) for at in range(count)]
        return of + [Comment(f"none-{at}", f"Other {at}", {}, count + at, 0.0) for at in range(8)]

    how = Sampling("paper", size=4, words={word: word})
    assert len(questions(setting, comments(needed), how)) == 8
    with pytest.raises(
        DataError, match=f"There are {needed - 1} comments called {word}, and {needed} are needed"
    ):
        questions(setting, comments(needed - 1), how)


class Unsure(Fake):
    """Fake, for which one comment in four cannot be cut into tokens."""

    def encode(self, text: str, second: str | None = None) -> Encoding:
        if re.search(r"Sentence \d*[048]\.", text):
            raise Skip("token-boundary")
        return super().encode(text, second)


@pytest.mark.parametrize(("coverage", "known"), [(0.5, True), (0.9, False)])
def test_a_label_word_that_cannot_be_scored_costs_only_the_likelihood(
    coverage: float, known: bool
) -> None:
    how, model = RecognitionOptions(repeats=3, likelihood=True), Unsure()
    measure = ZERO_SHOT_METHOD.bind(model, "sound", how)
    items = [
        Question(
            Comment(f"row-{at}", f"Sentence {at}.", {}, at),
            "rude" if at % 2 else "not-rude",
            ("rude", "not-rude"),
            "rude",
        )
        for at in range(20)
    ]
    with opened_cache(False) as cache:
        scores = list(computed(Asking(items, measure, model), Serial(model), cache, Tally()))
    assert all(len(one.answers) == 3 and one.skipped is None for one in scores)
    assert sum(likelihood.preferred(one) is None for one in scores) == 6
    estimates = measure.summarize(scores, Settings(resamples=100, coverage=coverage))
    found = {one.name: one for one in estimates if not one.slice}
    assert (found["accuracy"].n, found["accuracy"].asked) == (60, 60)
    assert found["accuracy"].value is not None
    assert (found["likelihood_accuracy"].n, found["likelihood_accuracy"].asked) == (14, 20)
    assert (found["readings_agree"].n, found["readings_agree"].asked) == (42, 60)
    assert found["likelihood_accuracy"].skipped == {likelihood.UNSCORED: 6}
    assert (found["likelihood_accuracy"].value is not None) == known
    if not known:
        assert "only 14 of 20 questions have likelihoods" in str(found["likelihood_accuracy"].why)


def test_a_server_that_does_not_score_a_label_word_leaves_the_others_unread() -> None:
    row = ({"logprob": array("d", [-1.0])},)
    assert likelihood.logprobs(YES_NO, [Answer(row), Answer((), end="token-boundary")]) == {}
    assert likelihood.logprobs(YES_NO, [Answer(row), Answer(row)]) == {
        "logprob rude": -1,
        "logprob not-rude": -1,
    }


def test_misspellings_on_comments_of_ones_own(tmp_path: Path) -> None:
    table, edits = tmp_path / "own.csv", tmp_path / "edits.csv"
    rows = [f"Kill the lights in room {at}.,{'rude' if at % 2 else 'neither'}" for at in range(40)]
    table.write_text("\n".join(["comment,label", *rows]) + "\n")
    edits.write_text("original,edit\nkill,k1ll\nkill,k*ll\n")
    asked = ("ask --model fake --setting misspelling --edits", edits, table)
    ran = call(*asked, "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert "turned round by" in ran.out
    assert "McNemar" in ran.out
    found = call(*asked, "--out", tmp_path / "run", "--json").json
    assert {one["edit"] for one in found["said"][0]["flipped"]} == {"kill>k1ll", "kill>k*ll"}
    assert found["results"][0]["settings"]["temperature"] == 0
    edits.write_text("original;change\nkill;k1ll\n")
    assert call(*asked).code == 4


def test_recognition_is_a_measure_like_the_others(tmp_path: Path) -> None:
    hateful = [(f"Remark {at}.", "gender" if at % 2 else "race") for at in range(80)]
    binary = [f"{text};1" for text, _ in hateful] + [f"It rains {at} times.;0" for at in range(80)]
    rows = [";".join([text, *(str(int(name == of)) for name in LABELS)]) for text, of in hateful]
    for name, lines in (
        ("Binary", ["comment;isHate", *binary]),
        ("Multi_Label", [f"comment;{';'.join(LABELS)}", *rows]),
    ):
        (tmp_path / f"Ethos_Dataset_{name}.csv").write_text("\n".join(lines) + "\n")
    common = "ethos --model fake --resamples 200 --json --data"
    ran = call(f"run {common}", tmp_path, "--out", tmp_path / "run")
    asked = call(f"ask --setting zero-shot {common}", tmp_path, "--out", tmp_path / "ask")
    assert ran.code == asked.code == 0, ran.err + asked.err
    assert ran.json["results"][0]["measure"] == "recognition-zero-shot@1"
    assert ran.json["results"][0]["kind"] == "comment"
    assert ran.json["results"][0]["estimates"] == asked.json["results"][0]["estimates"]


def test_every_repeat_is_a_request_of_its_own() -> None:
    plan = ZERO_SHOT_METHOD.bind(Fake(), "sound", RecognitionOptions(repeats=4)).plan(question())
    assert len({one.key for one in plan["answers"]}) == 4
