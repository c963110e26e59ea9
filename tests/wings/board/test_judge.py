"""A hidden test: nothing of it is shown but overall values, and only those that the Ladder lets
through."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_model
from stereometer.core.types import Settings
from stereometer.wings.board.judge import Submission, hidden_parts, judge, judged_job
from stereometer.wings.board.seals import Ledger, LedgerHead
from stereometer.wings.board.site import build
from tests.builders.commands import assert_refused, call
from tests.builders.stored import sealed

MEASURE = "cat-pseudo-likelihood"


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    stereometer.split("starter", out=tmp_path / "parts")
    return tmp_path / "parts"


def judged_as(folder: Path, model: str, submitter: str, seed: int = 0) -> Submission:
    """Also of a system that has no weights, which `judge` itself refuses: something better."""
    part = hidden_parts(folder)[0]
    job = job_for(part, "cat", [MEASURE], open_model(model, seed), Settings())
    return judged_job(job, folder, Ledger(folder / "ledger.jsonl"), submitter)


def icat(published: Submission) -> float:
    return next(row.value for row in published.published if row.name == "icat") or 0.0


@pytest.mark.long
def test_the_first_value_is_published_and_a_better_one_takes_its_place(hidden: Path) -> None:
    first = judged_as(hidden, "random", "Ada")
    assert first.climbed
    assert {row.name for row in first.published} == {"lms", "ss", "icat"}
    better = judged_as(hidden, "ideal", "Ada")
    assert better.climbed
    assert icat(better) == 100.0
    worse = judged_as(hidden, "random", "Ada", seed=5)
    assert (worse.climbed, worse.model, worse.submission) == (False, "ideal", 3)
    assert worse.published == better.published


@pytest.mark.long
def test_luck_is_not_published(hidden: Path) -> None:
    first = judged_as(hidden, "random", "Ada")
    later = [judged_as(hidden, "random", "Ada", seed) for seed in range(1, 6)]
    assert [each.climbed for each in later] == [False] * 5
    assert [each.published for each in later] == [first.published] * 5
    ledger = Ledger(hidden / "ledger.jsonl").entries()
    values = [row["value"] for entry in ledger for row in entry["estimates"]]
    assert len(set(values)) > 6  # the host has them all


def test_the_same_model_again_tells_nothing_and_costs_nothing(hidden: Path) -> None:
    first, again = (judged_as(hidden, "random", "Ada") for _ in range(2))
    assert again.published == first.published
    assert Ledger(hidden / "ledger.jsonl").head.entries == 1


def test_each_submitter_has_a_ladder(hidden: Path) -> None:
    judged_as(hidden, "ideal", "Ada")
    assert judged_as(hidden, "random", "Ben").climbed


def test_what_reads_the_labels_is_not_judged(hidden: Path) -> None:
    with pytest.raises(ModelError, match="reads the labels"):
        judge("ideal", hidden=hidden, submitter="Ada")
    with pytest.raises(UsageError, match="needs a submitter"):
        judge("fake", hidden=hidden, submitter=" ")
    (hidden / "test-pair.csv").rename(hidden / "items.csv")
    split = json.loads((hidden / "split.json").read_text("utf-8"))
    split["parts"] = [part for part in split["parts"] if part["shape"] == "cat"]
    (hidden / "split.json").write_text(json.dumps(split), "utf-8")
    with pytest.raises(UsageError, match="no items that pair-likelihood reads"):
        judge("fake", hidden=hidden, submitter="Ada", measure="pair-likelihood")
    assert not (hidden / "ledger.jsonl").exists()


@pytest.mark.long
def test_no_slice_no_item_and_no_text_leaves(hidden: Path, tmp_path: Path) -> None:
    said = call("board", "judge", "fake", "--hidden", hidden, "--submitter", "Ada", "--json")
    assert said.code == 0
    assert all(row["slice"] == {} for each in said.json["ladders"] for row in each["published"])
    stereometer.run("starter", model="fake", out=tmp_path / "runs", resamples=100)
    build(tmp_path / "runs", output=tmp_path / "site", hidden=[hidden])
    pages = [file.read_text("utf-8") for file in (tmp_path / "site").rglob("*.*")]
    board = json.loads((tmp_path / "site" / "board.json").read_text("utf-8"))
    secret = [table for table in board["tables"] if table["hidden"]]
    assert len(secret) == 2
    assert {entry["tier"] for table in secret for entry in table["entries"]} == {"hidden"}
    terms = {item.term for part in hidden_parts(hidden) for item in part.shapes.get("cat", ())}  # type: ignore[attr-defined]
    for place in ("judged", "ledger.jsonl"):
        assert stat.S_IMODE((hidden / place).stat().st_mode) & 0o077 == 0
    hidden_rows = json.dumps(secret) + said.out
    assert not [term for term in terms if f'"{term}"' in hidden_rows]
    stored = "".join(file.read_text("utf-8") for file in (hidden / "judged").rglob("scores.jsonl"))
    texts = [
        text
        for part in hidden_parts(hidden)
        for items in part.shapes.values()
        for item in items
        for text in item.texts.values()
        if len(text) > 20
    ]
    assert texts
    assert not [text for text in texts if text in stored or any(text in page for page in pages)]


def test_a_study_leaves_a_hidden_part_too(hidden: Path, tmp_path: Path) -> None:
    export = tmp_path / "export"
    export.mkdir()
    (hidden / "dev-pair.csv").rename(export / "pairs.csv")
    judged = judge("fake", hidden=export, submitter="Ada")
    (only,) = judged.ladders
    assert only.measure.startswith("pair-likelihood@")
    line = next((export / "judged").rglob("scores.jsonl")).read_text("utf-8").splitlines()[0]
    assert json.loads(line)["texts"] == {}


def test_other_items_than_were_split_off_are_refused(hidden: Path, tmp_path: Path) -> None:
    file = hidden / "test-cat.json"
    text = file.read_text("utf-8")
    item = json.loads(text)["data"]["intersentence"][0]["id"]
    file.write_text(text.replace(item, f"{item}-moved"), "utf-8")
    with pytest.raises(DataError, match="edited since"):
        judge("fake", hidden=hidden, submitter="Ada")
    with pytest.raises(DataError, match="no items to judge"):
        judge("fake", hidden=tmp_path, submitter="Ada")
    missing = ("board", "judge", "fake", "--hidden", tmp_path / "no", "--submitter", "Ada")
    assert_refused(call(*missing), 4, "not a folder")


# ------------------------------------------------------------------------------------------ ledger


def test_a_ledger_only_grows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    assert ledger.head == LedgerHead(0, "0" * 64)
    heads = [ledger.head, *(ledger.append({"value": number}) for number in range(4))]
    assert [entry["value"] for entry in ledger.entries()] == [0, 1, 2, 3]
    assert all(ledger.holds(head) for head in heads)
    with pytest.raises(DataError, match="line 1 has no tier"):
        ledger.entries("value", "tier")
    whole = ledger.path.read_bytes().splitlines(keepends=True)
    for edited in (
        [whole[0].replace(b'"value": 0', b'"value": 9'), *whole[1:]],
        [whole[1], whole[0], *whole[2:]],
        [whole[0], *whole[2:]],
        [*whole, whole[3]],
        [*whole[:3], whole[3][:-20]],
    ):
        ledger.path.write_bytes(b"".join(edited))
        with pytest.raises(DataError):
            ledger.entries()
    ledger.path.write_bytes(b"".join(whole[:2]))
    assert not ledger.holds(heads[4])
    assert ledger.holds(heads[2])


@pytest.mark.long
def test_a_shortened_ledger_is_seen_by_the_board_that_is_there(
    hidden: Path, runs: Path, tmp_path: Path
) -> None:
    judge("fake", hidden=hidden, submitter="Ada", measure=MEASURE)
    judge("random", hidden=hidden, submitter="Ada", measure=MEASURE)
    build(runs, output=tmp_path / "site", hidden=[hidden])
    judge("fake", hidden=hidden, submitter="Ben", measure=MEASURE)
    build(runs, output=tmp_path / "site", hidden=[hidden])
    lines = (hidden / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (hidden / "ledger.jsonl").write_bytes(b"".join(lines[:2]))
    with pytest.raises(DataError, match="shortened or rewrote"):
        build(runs, output=tmp_path / "site", hidden=[hidden])


@pytest.mark.long
def test_a_judged_run_that_changed_is_refused(hidden: Path, runs: Path, tmp_path: Path) -> None:
    judge("fake", hidden=hidden, submitter="Ada", measure=MEASURE)
    scores = next((hidden / "judged").rglob("scores.jsonl"))
    scores.write_text(scores.read_text("utf-8") + "\n", "utf-8")
    sealed(scores.parent)
    with pytest.raises(DataError, match="changed since"):
        build(runs, output=tmp_path / "site", hidden=[hidden])
