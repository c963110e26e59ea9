"""Exports of survey programs: one column per question, on people's own scale."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stereometer
from stereometer.kinds.traits.abc.items import Grid, packaged
from stereometer.kinds.traits.align.names import Names
from stereometer.kinds.traits.align.ratings import Ratings, RatingsFormat, read_ratings, scale_of
from tests.builders.commands import assert_refused, call
from tests.builders.trait_runs import stored_run

GRID = Grid.of(*packaged())
NAMES = Names(GRID.groups, GRID.traits, ["teacher"])
GROUPS = ("teacher", "doctor", "woman", "wealthy")
TRAITS = ("powerless - powerful", "cold - warm", "poor - wealthy")
META = ("Status", "Finished", "ResponseId", "DistributionChannel")
TAKEN = ("IP Address", "True", "R_{}", "anonymous")
ASKED = "How do most Americans see {}s? - {}"
Answers = Mapping[tuple[str, str, str], int | None]
"""By participant, group and trait."""


def export(
    path: Path, answers: Answers, asked: str = ASKED, headers: int = 3, poles: str = ":"
) -> Path:
    """As Qualtrics writes it, or with fewer header rows."""
    cells = list(dict.fromkeys(key[1:] for key in answers))
    texts = [asked.format(group, trait.replace(" - ", poles)) for group, trait in cells]
    names = [f"Q{at}" for at, _ in enumerate(cells)] if headers > 1 else texts
    ids = [f'{{"ImportId":"{name}"}}' for name in (*META, *names)]
    extra = [[*META, *names], ["Response Type", "Finished", "Response ID", "x", *texts], ids]
    people = dict.fromkeys(key[0] for key in answers)
    rows = [
        [*(mark.format(person) for mark in TAKEN), *(answers.get((person, *c)) for c in cells)]
        for person in people
    ]
    return write(path, [*extra[:headers], *rows])


def write(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def long(path: Path, answers: Answers) -> Path:
    head = ("participant", "group", "trait", "rating")
    rows = [(f"R_{person}", *cell, answer) for (person, *cell), answer in answers.items()]
    return write(path, [head, *rows])


def cells_of(ratings: Ratings) -> dict[tuple[str, str, str], float]:
    return {
        (person, group, trait): value
        for group, people in ratings.raters.items()
        for person, row in zip(people, ratings.tables[group].tolist(), strict=True)
        for trait, value in zip(ratings.traits, row, strict=True)
        if value == value
    }


def some(people: int = 4) -> dict[tuple[str, str, str], int | None]:
    cells = [(group, trait) for group in GROUPS for trait in TRAITS]
    return {
        (str(person), *cell): 1 + (person + 2 * at) % 7
        for person in range(people)
        for at, cell in enumerate(cells)
    }


@given(
    st.lists(st.sampled_from(GROUPS), min_size=2, unique=True),
    st.lists(st.sampled_from(TRAITS), min_size=1, unique=True),
    st.sampled_from([3, 2, 1]),
    st.sampled_from([":", " - ", " to ", " or ", "/"]),
    st.data(),
)
def test_the_wide_form_holds_what_the_long_form_does(
    tmp_path_factory: pytest.TempPathFactory,
    groups: list[str],
    traits: list[str],
    headers: int,
    poles: str,
    data: st.DataObject,
) -> None:
    folder, full = tmp_path_factory.mktemp("forms"), st.integers(1, 7)
    answers = {
        (person, group, trait): data.draw(full if person in "ab" else st.none() | full)
        for person in "abc"
        for group in groups
        for trait in traits
    }
    reading = RatingsFormat(scale=scale_of("1-7"))
    wide = read_ratings(export(folder / "w.csv", answers, ASKED, headers, poles), NAMES, reading)
    assert cells_of(wide) == cells_of(read_ratings(long(folder / "l.csv", answers), NAMES, reading))
    assert cells_of(wide) == {
        (f"R_{person}", group, trait): (answer - 1) * (100 / 6)
        for (person, group, trait), answer in answers.items()
        if answer is not None
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    return stored_run(
        folder, lambda _, group, trait: float(len(group + trait)), ("doctor", "woman")
    )


def aligned(run: Path, file: Path, **options: Any) -> stereometer.Result:
    out = file.parent / "out"
    first, again = (
        stereometer.align(run, ratings=file, resamples=100, out=out, **options).result
        for _ in range(2)
    )
    assert first == again  # the second time it is read from its folder
    return first


def mean(result: stereometer.Result, group: str = "doctor", trait: str = TRAITS[1]) -> float:
    return result.estimate("human_mean", group=group, trait=trait).value or 0.0


def without(answers: Answers, group: str) -> Answers:
    return {key: answer for key, answer in answers.items() if key[1] != group}


SOME = without(some(), "teacher")
EXPECTED = sum(((SOME[str(p), "doctor", TRAITS[1]] or 0) - 1) * 100 / 6 for p in range(4)) / 4


@pytest.mark.parametrize(
    ("asked", "turned"),
    [("{0}_{1}", False), ("Teachers, again. How {1} are {0} people?", True), ("{0} - {1}", True)],
)
def test_poles_in_any_order_and_variables_that_say_it_all(
    tmp_path: Path, run: Path, asked: str, turned: bool
) -> None:
    given = {
        (p, g, " - ".join(t.split(" - ")[::-1]) if turned else t): a
        for (p, g, t), a in SOME.items()
    }
    found = aligned(run, export(tmp_path / "w.csv", given, asked, 1), scale="1-7")
    assert mean(found) == pytest.approx(100 - EXPECTED if turned else EXPECTED)
    assert any("the other way round" in note for note in found.notes) is turned, found.notes


@pytest.mark.parametrize("asked", ["{}s are {}.", "How do people see {}s? - {}", "{}_{}"])
def test_one_pole_is_the_scale_towards_it(tmp_path: Path, run: Path, asked: str) -> None:
    given = {(p, g, t.split(" - ")[0]): a for (p, g, t), a in SOME.items() if t == TRAITS[1]}
    found = aligned(run, export(tmp_path / "w.csv", given, asked, 3), scale="1-7")
    assert mean(found) == pytest.approx(100 - EXPECTED)


def test_trials_and_unfinished_rows_are_left_out_and_counted(tmp_path: Path, run: Path) -> None:
    file = export(tmp_path / "w.csv", SOME)
    rows = list(csv.reader(file.read_text("utf-8-sig").splitlines()))
    marks = [("Survey Preview", "True"), ("IP Address", "False"), ("2", "1")]
    rows += [[*mark, "R_x", "preview", *["7"] * (len(rows[0]) - 4)] for mark in marks]
    said = call("align", run, "--ratings", write(file, rows), "--scale", "1-7",
                "--out", tmp_path / "out", "--resamples", 100, "--json")  # fmt: skip
    notes = " ".join(said.json["notes"])
    assert "left out: 1 (Status Survey Preview), 1 (Finished False), 1 (Status 2)." in notes
    assert "Ratings from 1 to 7 became 0 to 100: 1 is 0, 4 is 50, 7 is 100." in notes
    assert "Q0 (doctor, powerless - powerful); Q1 (doctor, cold - warm)" in notes
    assert "Rated, but not in the run: wealthy." in notes
    assert "In the run, but not rated: low status - high status" in notes


def test_other_names_of_columns_other_scales_and_missing_answers(tmp_path: Path, run: Path) -> None:
    labels = "strongly disagree,disagree,neither,agree,strongly agree"
    rows = [("who", "target", "item, in words", "answer")]
    for person, (one, other) in enumerate([("Agree", "NA"), ("disagree", "-99"), ("neither", "")]):
        rows += [(str(person), "women", TRAITS[0], one), (str(person), "men", TRAITS[0], "agree")]
        rows += [(str(person), "doctors", TRAITS[0], one), (str(person), "women", TRAITS[1], other)]
    file = write(tmp_path / "r.csv", rows)
    named = "participant=who,group=target,trait=item, in words,rating=answer"
    said = call("align", run, "--ratings", file, "--column", named, "--scale", labels,
                "--out", tmp_path / "out", "--resamples", 100, "--json")  # fmt: skip
    means = {
        one["slice"]["group"]: one["value"]
        for one in said.json["estimates"]
        if one["name"] == "human_mean"
    }
    assert means == {"woman": 50.0, "doctor": 50.0}


def test_a_table_says_what_columns_ask(tmp_path: Path, run: Path) -> None:
    """The user's own file maps a column, turns another and leaves a third out."""
    rows = [("id", "a1", "a2", "How warm or cold are doctors to you?", "age")]
    rows += [(str(p), str(p), str(8 - p), "9", "30") for p in range(1, 6)]
    file = write(tmp_path / "w.csv", rows)
    table = [("column", "group", "trait"), ("a1", "doctor", TRAITS[1]), (rows[0][3], "", "")]
    table += [("a2", "women", "warm - cold")]
    questions = write(tmp_path / "q.csv", table)
    found = aligned(run, file, scale="1-7", questions=questions)
    assert [mean(found), mean(found, "woman")] == pytest.approx([100 / 3] * 2)
    wrong = write(tmp_path / "wrong.csv", [table[0], ("a3", "doctor", TRAITS[1])])
    said = call("align", run, "--ratings", file, "--scale", "1-7", "--questions", wrong)
    assert_refused(said, 4, "wrong.csv, line 2", "no column 'a3'. Did you mean a")


@pytest.mark.parametrize(
    ("asked", "options", "says"),
    [
        ("{}s - powerless:powerfull {}", (), "Q0 ('doctors - powerless:powerfull"),
        ("{}s are not {}", (), "does not name a trait, only 'warm'"),
        ("Pilots? - {1}", (), "does not name one group"),
        (ASKED, ("--scale", "1-5"), "a rating of 7. Ratings are from 1 to 5"),
        (ASKED, (), "no rating is above 7"),
        (ASKED, ("--scale", "seven"), "--scale seven is not a scale"),
        (ASKED, ("--scale", "no,yes"), "Ratings are from 1 to 2"),
        (ASKED, ("--column", "grup=Q0"), "--column names 'grup'"),
        (ASKED, ("--column", "participant=Who"), "has no column 'Who'"),
        (ASKED, ("--encoding", "klingon"), "no encoding 'klingon'"),
    ],
)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, run: Path, asked: str, options: tuple[str, ...], says: str
) -> None:
    one = {key: answer for key, answer in SOME.items() if key[2] == TRAITS[1]}
    item = {"full": "", "not": "warm"}
    given = {
        (p, g, next((item[word] for word in item if word in asked), t)): a
        for (p, g, t), a in one.items()
    }
    file = export(tmp_path / "w.csv", given, asked)
    said = call("align", run, "--ratings", file, "--out", tmp_path / "out", *options)
    assert said.code in (2, 4)
    assert_refused(said, said.code, says)


@pytest.mark.parametrize("name", ["r.xlsx", "r.sav"])
def test_workbooks_are_refused_with_the_way_out(tmp_path: Path, run: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04...." if name == "r.xlsx" else b"$FL2....")
    said = call("align", run, "--ratings", tmp_path / name)
    assert_refused(said, 4, "save it as CSV")
    assert_refused(
        call("run", "abc", "--model", "random", "--groups", tmp_path / name), 4, "save it as CSV"
    )
