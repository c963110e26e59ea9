"""A survey put to a model as participant: what it says of groups comes out, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import stereometer
from stereometer.core.asking.conversation import Conversation
from stereometer.core.errors import StereometerError
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.stored import Run, run_of
from stereometer.core.types import Answer, Settings, digest_of
from stereometer.kinds.traits.abc import survey
from stereometer.kinds.traits.metrics import summarize_ratings as summarize
from stereometer.kinds.traits.survey.method import (
    ModelSurvey,
    ShownScales,
    SurveyOptions,
    read,
)
from stereometer.wings.asking.jobs import jobs_in_words
from stereometer.wings.people.new import new_study
from tests.builders.commands import call
from tests.builders.ratings import TRAITS
from tests.builders.studies import set_toml
from tests.builders.talkers import Talker
from tests.builders.trait_runs import stored_run

GROUPS = ("man", "woman", "non-binary", "trans", "cis", "Black")
SETTINGS = Settings(resamples=200)


@pytest.mark.parametrize(
    ("text", "count", "ratings"),
    [
        ("1: 40\n2: 70", 2, {1: 40, 2: 70}),
        ("1. 40\n2) 70\n", 2, {1: 40, 2: 70}),
        ("**1**: 40/100", 1, {1: 40}),
        ("Scale 1: 40 out of 100", 1, {1: 40}),
        ("About 65.", 1, {1: 65}),
        ("40\n70", 2, {1: 40, 2: 70}),
        ("1: 40\n1: 60", 1, {}),
        ("1: 140", 1, {}),
        ("3: 40", 2, {}),
        ("between 20 and 40", 1, {}),
        ("-5", 1, {}),
        ("1: It depends.", 1, {}),
        ("1: about 60.", 1, {1: 60}),
        ("", 1, {}),
    ],
)
def test_ratings_are_read_from_what_a_model_writes(
    text: str, count: int, ratings: dict[int, float]
) -> None:
    assert read(Answer((), text, "stop"), count)[0] == ratings


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "empty"), ("I cannot answer that.", "refused"), ("It depends.", "unparsed")],
)
def test_why_nothing_could_be_read_is_said(text: str, why: str) -> None:
    assert read(Answer((), text, "stop"), 3) == ({}, why)


def view(group: str, pole: str) -> float:
    """How near a group is to a pole; the two poles of a trait add up to 100."""
    left, right = next(trait.split(" - ") for trait in TRAITS if pole in trait.split(" - "))
    number = (7 * len(group) + 5 * len(left + right) + ord(group[0])) % 16
    return 20 + 4 * number if pole == right else 80 - 4 * number


def believer(asked: str, *options: str) -> str:
    """Rates as `view` has it, whatever the order and whichever pole comes first."""
    group = re.search(r"Rate (.*?) on each scale", asked)
    lines = re.findall(r"(?m)^(\d+)\. 0 means (.*?), 100 means (.*)\.$", asked)
    assert group is not None
    said = [f"{number}: {view(group[1], high):.0f}" for number, _, high in lines]
    return "\n".join(said).removeprefix("1:")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey of six groups and all traits, in a study's folder."""
    folder = new_study("survey", tmp_path_factory.mktemp("asked") / "study").folder
    rows = "".join(f"{group},{group},\n" for group in GROUPS)
    (folder / "groups.csv").write_text(f"name,label,domain\n{rows}", encoding="utf-8")
    return folder


def asked(folder: Path, talker: Talker, out: Path, **options: object) -> Run:
    (job,) = jobs_in_words(survey.of_study(folder), (), talker, SETTINGS, {"repeats": 2, **options})
    with opened_cache(False) as cache:
        return execute(job, out, cache)


@pytest.mark.parametrize("scales", [0, 1])
def test_what_a_model_says_comes_out_whatever_the_order_and_poles(
    folder: Path, tmp_path: Path, scales: int
) -> None:
    finished = asked(folder, Talker(believer), tmp_path / "run", scales=scales)
    for trait in TRAITS[:4]:
        value = finished.result.estimate("association", group="Black", trait=trait).value
        assert value == pytest.approx(view("Black", trait.split(" - ")[1]) - 50)
    assert finished.result.estimate("group_spread").n == 2 * 6 * 16


@pytest.mark.parametrize("repeats", [2, 4])
def test_a_liking_for_one_end_cancels_and_is_shown(
    folder: Path, tmp_path: Path, repeats: int
) -> None:
    """Every two repeats exchange all poles, so that always 90 is a view of nothing."""

    def ninety(text: str, *options: str) -> str:
        count = len(re.findall(r"0 means", text))
        return "\n".join(f"{at}: 90" for at in range(1, count + 1)).removeprefix("1:")

    result = asked(folder, Talker(ninety), tmp_path / "run", repeats=repeats).result
    assert result.estimate("answered_mean").value == 90
    assert "Mean answer before poles are turned back: 90.0" in str(result)
    assert not [row for row in result.estimates if row.beyond_noise]
    assert all(row.value == 0 for row in result.estimates if row.name != "answered_mean")


def test_an_answer_without_its_counterpart_has_no_say(folder: Path, tmp_path: Path) -> None:
    def always(text: str, *options: str) -> str:
        return " 90" if "100 means powerful" in text else "It depends."

    finished = asked(folder, Talker(always), tmp_path / "run", scales=1)
    found = summarize(run_of(finished.folder).scores, replace(SETTINGS, coverage=0.0))
    powerful = next(one for one in found if one.slice.get("trait") == TRAITS[0])
    assert (powerful.value, powerful.n, powerful.why) == (None, 1, "no whole repeat pair")


def test_an_odd_number_of_repeats_is_refused() -> None:
    with pytest.raises(StereometerError, match=r"3 repeats are an odd number\..*Take 4"):
        SurveyOptions(repeats=3)


def test_answers_that_never_differ_prove_nothing(folder: Path, tmp_path: Path) -> None:
    result = asked(folder, Talker(believer), tmp_path / "run", repeats=4).result
    row = result.estimate("association", group="Black", trait=TRAITS[0])
    assert (row.low, row.p, row.verdict) == (None, None, None)
    assert row.interval == "none: all repeat pairs agree, which is not certainty"


def test_unreadable_answers_are_counted_by_reason(folder: Path, tmp_path: Path) -> None:
    def moody(text: str, *options: str) -> str:
        return "As an AI I cannot say." if "Rate trans" in text else believer(text)

    result = asked(folder, Talker(moody), tmp_path / "run").result
    spread = result.estimate("group_spread")
    assert spread.skipped == {"refused": 2 * 16}
    assert (spread.n, spread.asked) == (2 * 5 * 16, 2 * 6 * 16)
    assert result.estimate("association", group="trans", trait=TRAITS[0]).value is None


def people(path: Path) -> Path:
    rows = [
        f"p{person},{group},{trait},{view(group, trait.split(' - ')[1]) + person - 3:.0f}"
        for person in range(6)
        for group in GROUPS
        for trait in TRAITS
    ]
    path.write_text("participant,group,trait,rating\n" + "\n".join(rows), encoding="utf-8")
    return path


@pytest.mark.long
def test_ratings_of_a_model_stand_beside_people_and_beside_scores(
    folder: Path, tmp_path: Path
) -> None:
    run = asked(folder, Talker(believer), tmp_path / "run").folder
    ratings = people(tmp_path / "people.csv")
    beside = stereometer.align(run, ratings=ratings, resamples=200, out=tmp_path / "a").result
    assert beside.estimate("tau").value == pytest.approx(1.0)
    assert any("2 repeats of the survey" in note for note in beside.notes)
    other = stored_run(
        tmp_path / "set", lambda _, group, trait: -view(group, trait.split(" - ")[1]), groups=GROUPS
    )
    against = stereometer.align(other, ratings=run, resamples=200, out=tmp_path / "b").result
    assert against.estimate("tau").value == pytest.approx(-1.0)
    with pytest.raises(StereometerError, match="Leave out --pilot"):
        stereometer.align(run, ratings=ratings, pilot=True)
    with pytest.raises(StereometerError, match="is not a survey"):
        stereometer.align(run, ratings=other)


def test_repeats_differ_in_order_and_poles_and_a_seed_repeats_them() -> None:
    scales = survey.SOURCE.benchmark(survey.read(survey.packaged())[0], "").items("survey")
    pages: dict[int, list[list[tuple[ShownScales, ...]]]] = {}
    for seed in (0, 0, 1):
        measure = ModelSurvey("survey@1", SurveyOptions(repeats=4, seed=seed), Conversation(False))
        questions, _ = measure.items(scales)
        pages.setdefault(seed, []).append([question.page for question in questions])
    first, again = pages[0]
    assert first == again
    assert first != pages[1][0]
    whole, exchanged, other = (first[at * len(first) // 4] for at in range(3))
    assert sum(shown.turned for shown in whole) == len(whole) / 2
    # Two repeats have one order, so that a liking for a place on the page cancels too.
    assert exchanged == tuple(ShownScales(shown.scale, not shown.turned) for shown in whole)
    assert [shown.scale for shown in other] != [shown.scale for shown in whole]


def test_the_command_takes_the_survey_or_a_studys_folder(folder: Path, tmp_path: Path) -> None:
    options = ("--model", "fake", "--repeats", 2, "--coverage", 0, "--resamples", 100)
    said = call("ask", folder, *options, "--limit", 32, "--out", tmp_path / "own", "--json")
    assert said.json["results"][0]["kind"] == "survey"
    said = call("ask", "survey", *options, "--limit", 16, "--out", tmp_path / "ours")
    assert said.code == 0, said.err
    writing = new_study("write-cats", tmp_path / "w").folder
    assert "Name the folder of a survey" in call("ask", writing, "--model", "fake").err


def test_a_study_asks_a_model_in_its_own_words_about_the_groups_that_people_rate(
    tmp_path: Path,
) -> None:
    folder = new_study("survey", tmp_path / "s", languages=("de",)).folder
    set_toml(folder, society="Swiss society")
    toml = folder / "study.toml"
    written = toml.read_text(encoding="utf-8").replace("groups = []", 'groups = ["non-binary"]')
    toml.write_text(written, encoding="utf-8")
    words = folder / "texts" / "de" / "words.toml"
    named = '[names]\n"Swiss society" = "die Schweiz"\n'
    text = words.read_text(encoding="utf-8").replace("[names]\n", named)
    words.write_text(text, encoding="utf-8")
    heard: list[str] = []

    def listen(asked: str, *options: str) -> str:
        heard.append(asked)
        return ""

    finished = asked(folder, Talker(listen), tmp_path / "run", repeats=2)
    assert len(heard) == 2
    assert "wie die Schweiz nichtbinäre Menschen sieht" in heard[0]
    assert "bedeutet mächtig" in heard[0]
    assert "\u00ad" not in heard[0]  # where a page may break a word
    assert heard[0].endswith("Einschätzungen:\n1:")
    assert "means" not in heard[0]
    recorded = (finished.folder / "run.json").read_text(encoding="utf-8")
    assert digest_of(f"{SurveyOptions().template}\n")[:16] not in recorded
