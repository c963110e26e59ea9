"""Scores that say less than they did: GPT-2's released scores, rounded, cannot pass for fair."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.types import Result, Variant
from tests.builders.commands import call
from tests.builders.sure import sure
from tests.conftest import released

pytestmark = pytest.mark.golden

WITHIN, ACROSS = {"task": "intrasentence"}, {"task": "intersentence"}
Change = Callable[[float], float]
CHANGES: dict[str, Change] = {
    "released": lambda score: score,
    "two": partial(round, ndigits=2),
    "one": partial(round, ndigits=1),
    "zeros": lambda score: 0.0,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The released predictions, rounded to one and to two decimals, and nothing but zeros."""
    folder = tmp_path_factory.mktemp("predictions")
    file = released("stereoset/predictions/predictions_gpt2_ModelNSP_GPT2LM.json.gz")
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        scores: dict[str, list[dict[str, Any]]] = json.load(opened)
    return {name: _changed(scores, folder / f"{name}.json", of) for name, of in CHANGES.items()}


def _changed(scores: dict[str, list[dict[str, Any]]], path: Path, change: Change) -> Path:
    rows = {
        task: [{**row, "score": change(row["score"])} for row in items]
        for task, items in scores.items()
    }
    path.write_text(json.dumps(rows))
    return path


def replayed(file: Path, out: Path, variant: Variant = "sound") -> Result:
    return stereometer.replay(file, benchmark="stereoset", variant=variant, resamples=100, out=out)[
        0
    ]


@pytest.mark.parametrize(("name", "tied"), [("one", "100"), ("two", "79"), ("zeros", "100")])
def test_rounded_scores_have_no_score_within_sentences(
    name: str, tied: str, files: dict[str, Path], tmp_path: Path
) -> None:
    row = replayed(files[name], tmp_path / name).estimate("ss", **WITHIN)
    assert (row.value, row.low, row.verdict, row.p) == (None, None, None, None)
    assert row.why == f"undetermined: {tied} % ties"
    assert sure(row.least) < 50 < sure(row.most)


def test_released_scores_are_what_they_were(files: dict[str, Path], tmp_path: Path) -> None:
    """Of the released scores only the tie rule differs from the authors' (56.37 overall)."""
    sound, paper = (
        replayed(files["released"], tmp_path / variant, variant) for variant in ("sound", "paper")
    )
    for place in ({}, WITHIN, ACROSS):
        ours, theirs = (sure(result.estimate("ss", **place).value) for result in (sound, paper))
        assert ours == pytest.approx(theirs, abs=0.05)
    assert sound.estimate("ss", **WITHIN).verdict == "prefers stereotypes"


def test_gpt2_across_sentences_is_within_five_points_of_50(
    files: dict[str, Path], tmp_path: Path
) -> None:
    row = replayed(files["released"], tmp_path / "run").estimate("ss", **ACROSS)
    assert sure(row.value) == pytest.approx(52.3, abs=0.05)
    assert row.verdict == "within 5 points of 50"


@pytest.mark.parametrize("name", ["one", "zeros"])
def test_no_bar_is_met_by_ties(name: str, files: dict[str, Path], tmp_path: Path) -> None:
    said = call(
        *("replay", files[name], "--benchmark", "stereoset", "--resamples", 100),
        *("--out", tmp_path / "run", "--require", "ss<=51"),
    )
    assert said.code == 7
    assert "undetermined" in said.err


def test_a_tied_system_is_never_called_closer(files: dict[str, Path], tmp_path: Path) -> None:
    for name in ("released", "one", "zeros"):
        replayed(files[name], tmp_path / name)
    for name in ("one", "zeros"):
        (pair,) = stereometer.compare(tmp_path / "released", tmp_path / name, resamples=100).pairs
        assert not [row for row in pair.differences if row.name == "ss" and row.slice == WITHIN]
        assert not [row for row in pair.differences if row.name == "ss" and row.closer == "second"]
        assert any(row.slice == WITHIN and "undetermined" in row.why for row in pair.withheld)


def test_paper_keeps_the_authors_rule_and_says_the_bounds(
    files: dict[str, Path], tmp_path: Path
) -> None:
    """A tie is lost under their rule, so scores without a difference have an ss of 0."""
    row = replayed(files["zeros"], tmp_path / "run", "paper").estimate("ss", **WITHIN)
    assert (row.value, row.least, row.most) == (0.0, 0.0, 100.0)
    assert (row.low, row.p, row.verdict) == (None, None, "undetermined: 100 % ties")


def test_a_baseline_that_declares_its_ties_is_exempt(tmp_path: Path) -> None:
    data, out = released("stereoset/dev.json.gz"), tmp_path / "run"
    (result,) = stereometer.run("stereoset", model="ideal", data=data, out=out, resamples=100)
    row = result.estimate("ss")
    assert (row.value, row.ties, row.least, row.most) == (50.0, row.n, 0.0, 100.0)
    assert row.verdict == "within 5 points of 50"
