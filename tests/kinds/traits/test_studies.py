"""The studies from Python give what the commands give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import UsageError
from tests.builders.commands import assert_refused, call
from tests.builders.comments import own_table
from tests.builders.ratings import two_sided
from tests.builders.trait_runs import stored_run, synthetic_ratings


@pytest.mark.long
def test_align(tmp_path: Path) -> None:
    run = stored_run(
        tmp_path / "run", lambda template, group, trait: float(len(group) * len(trait))
    )
    ratings = synthetic_ratings(tmp_path / "ratings.json", two_sided())
    said = call(
        "align", run, "--ratings", ratings, "--resamples", 200, "--out", tmp_path / "told", "--json"
    )
    found = stereometer.align(run, ratings=ratings, resamples=200, out=tmp_path / "found")
    assert list(found.result.as_json()["estimates"]) == said.json["estimates"]


def test_a_pilot_chooses_the_templates_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Give one of them"):
        stereometer.align(tmp_path, ratings=tmp_path, pilot=True, templates=["that"])


def test_intersect(tmp_path: Path) -> None:
    few: dict[str, Any] = {
        "groups": ["man", "woman", "Black", "White", "teenager"],
        "templates": ["the", "that"],
    }
    options = [part for name, values in few.items() for part in (f"--{name}", ",".join(values))]
    said = call(
        "intersect --model fake --resamples 200 --json", *options, "--out", tmp_path / "told"
    )
    found = stereometer.intersect("fake", **few, resamples=200, out=tmp_path / "found")
    assert list(found.result.as_json()["estimates"]) == said.json["estimates"]
    assert stereometer.load(found.asked.folder).benchmark == "abc"


def test_ask(tmp_path: Path) -> None:
    table = own_table(tmp_path / "own.csv", 60)
    options = (
        "--column",
        "comment=text",
        "--column",
        "label=gold",
        "--size",
        "5",
        "--repeats",
        "3",
        "--setting",
        "zero-shot",
    )
    said = call(
        "ask --model fake --resamples 200 --coverage 0 --json",
        table,
        *options,
        "--out",
        tmp_path / "told",
    )
    (found,) = stereometer.ask(
        str(table),
        model="fake",
        setting="zero-shot",
        repeats=3,
        size=5,
        column={"comment": "text", "label": "gold"},
        resamples=200,
        coverage=0,
        out=tmp_path / "found",
    )
    assert list(found.as_json()["estimates"]) == said.json["results"][0]["estimates"]


def test_ask_about_sets_for_forced_choice(tmp_path: Path) -> None:
    found = stereometer.ask("starter", model="fake", limit=5, resamples=100, out=tmp_path)
    assert [one.measure for one in found] == ["cat-forced-choice@1", "pair-forced-choice@1"]


@pytest.mark.long
def test_another_lot_of_items_or_other_synonyms_are_another_run(tmp_path: Path) -> None:
    """Neither an alignment nor a run is taken for an older one that differs in what was asked."""
    ratings = synthetic_ratings(tmp_path / "ratings.json", two_sided())
    some = stored_run(
        tmp_path / "some",
        lambda template, group, trait: float(len(group)) if template == "that" else None,
    )
    every = stored_run(
        tmp_path / "every", lambda template, group, trait: float(len(group) * len(trait))
    )
    first, second = (
        stereometer.align(run, ratings=ratings, resamples=100) for run in (some, every)
    )
    assert first.folder != second.folder
    options = (
        "run",
        "abc",
        "--model",
        "fake",
        "--variant",
        "paper",
        "--groups",
        "man",
        "--templates",
        "that",
        "--resamples",
        100,
    )
    assert call(*options, "--out", tmp_path).code == 0
    assert call(*options, "--no-synonyms", "--out", tmp_path).code == 0
    names = [folder.name for folder in tmp_path.iterdir() if folder.name.startswith("abc-")]
    assert len(names) == 2
    again = call(*options, "--no-synonyms", "--seed", 2, "--out", tmp_path)
    assert_refused(again, 2, "other settings")


def test_two_groups_are_too_few_for_an_interval(tmp_path: Path) -> None:
    found = stereometer.intersect(
        "fake", groups=["woman", "Black"], templates=["the", "that"], resamples=100, out=tmp_path
    )
    first = found.result.estimate("tau_first_part")
    assert (first.low, first.high) == (None, None)
    assert "fewer than 5 groups" in str(first.interval)


def test_a_handful_of_groups_or_traits_gets_no_interval_and_no_verdict(tmp_path: Path) -> None:
    run = stored_run(
        tmp_path / "run",
        lambda template, group, trait: float(len(group) * len(trait)),
        ("man", "woman", "Asian"),
    )
    ratings = synthetic_ratings(tmp_path / "ratings.json", two_sided())
    found = stereometer.align(
        run, ratings=ratings, resamples=100, out=tmp_path / "found"
    ).result.estimate("tau")
    assert found.value is not None
    assert (found.low, found.p, found.verdict) == (None, None, None)
    assert found.interval == "none: fewer than 5 groups"
