"""Run folders that the version before this one wrote still load, compare, go on and report."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.runs import store
from stereometer.types import Result
from tests.builders.stored import only

BEFORE = Path(__file__).parents[1] / "runs_before"
KINDS = {
    "fake-cats": "cat",
    "random-cats": "cat",
    "ensemble": "cat",
    "choice": "cat",
    "fake-pairs": "pair",
    "profile": "trait",
    "aligned": "alignment",
    "crossed": "intersection",
    "asked": "comment",
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_result_without_a_kind_is_read_as_what_it_is(name: str, kind: str) -> None:
    stored = json.loads((BEFORE / name / "result.json").read_text())
    assert "kind" not in stored
    result = stereometer.load(BEFORE / name)
    assert result.kind == kind
    assert _within(stored, json.loads(json.dumps(result.as_json())))
    assert result.statistics == 1


@pytest.mark.parametrize("name", KINDS)
def test_whether_an_older_result_is_beyond_noise_is_read_once(name: str) -> None:
    rows = stereometer.load(BEFORE / name).estimates
    tested = [row for row in rows if row.verdict is not None and row.p_adjusted is not None]
    assert all(row.beyond_noise is not None for row in tested)
    assert all(row.beyond_noise is None for row in rows if row not in tested)
    assert not any(row.beyond_noise for row in tested if (row.p_adjusted or 0.0) >= 0.05)


def _within(before: Any, today: Any) -> bool:
    """Whether everything that was stored is there as it was; fields may have been added."""
    if isinstance(before, dict):
        return all(key in today and _within(before[key], today[key]) for key in before)
    if isinstance(before, list):
        return len(before) == len(today) and all(map(_within, before, today))
    return bool(before == today)


@pytest.mark.parametrize("name", KINDS)
def test_every_stored_score_is_whole(name: str) -> None:
    lines = (BEFORE / name / "scores.jsonl").read_text().splitlines()
    assert len(list(store.load_scores(BEFORE / name))) == len(lines) > 0


def test_they_are_compared_on_the_same_items() -> None:
    found = stereometer.compare(BEFORE / "fake-cats", BEFORE / "random-cats", resamples=200)
    overall = {row.name for row in found.pairs[0].differences if not row.slice}
    assert overall == {"lms", "ss", "icat"}


@pytest.mark.parametrize(
    ("name", "measure"),
    [("fake-cats", "cat-likelihood"), ("random-cats", "cat-likelihood")],
)
def test_the_same_run_goes_on_in_its_folder(name: str, measure: str, tmp_path: Path) -> None:
    """The plan of a run is what it was: the folder is taken as finished, not refused."""
    folder = tmp_path / name
    shutil.copytree(BEFORE / name, folder)
    model = name.partition("-")[0]
    (result,) = stereometer.run(
        "starter", model=model, measure=[measure], limit=24, resamples=200, out=folder
    )
    assert result.statistics == 2
    assert values_of(result) == values_of(stereometer.load(BEFORE / name))


def values_of(result: Result) -> dict[tuple[object, ...], float | None]:
    """Scores by metric and slice, but for those that many ties leave open now."""
    return {
        (row.name, *row.slice.items()): row.value
        for row in result.estimates
        if row.ties <= 0.1 * row.n
    }


def scores_of(folder: Path) -> list[str]:
    """The lines as they are, but for the term of a pair, which scores did not carry before."""
    lines = (folder / "scores.jsonl").read_text().splitlines()
    if "sent_more" not in lines[0]:
        return lines
    return [re.sub(', "target": "[^"]*"', "", line, count=1) for line in lines]


@pytest.mark.parametrize(
    ("name", "measure"), [("fake-cats", "cat-likelihood"), ("fake-pairs", "pair-likelihood")]
)
def test_the_numbers_are_what_they_were(name: str, measure: str, tmp_path: Path) -> None:
    limit = 24 if "cats" in name else 12
    (result,) = stereometer.run(
        "starter",
        model="fake",
        measure=[measure],
        limit=limit,
        resamples=200,
        out=tmp_path / "run",
    )
    old, new = values_of(stereometer.load(BEFORE / name)), values_of(result)
    assert old.items() <= new.items()
    assert scores_of(only(tmp_path / "run")) == scores_of(BEFORE / name)


def test_they_are_reported_on_one_page(tmp_path: Path) -> None:
    page = stereometer.write_report([BEFORE / name for name in KINDS], tmp_path / "report.html")
    text = page.read_text()
    assert all(kind in text for kind in ("tau", "accuracy", "association", "icat"))
