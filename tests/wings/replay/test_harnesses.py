"""Per-item files of other harnesses, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Result
from stereometer.wings.exports.exporter import export_runs as export
from tests.builders.commands import assert_refused, call


@pytest.fixture(scope="module")
def cats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    stereometer.run("starter", model="fake", out=folder, resamples=100, cache=False)
    return folder / "starter-fake-cat-pseudo-likelihood"


def replayed(file: Path, harness: str, out: Path) -> Result:
    return stereometer.replay(file, benchmark="starter", harness=harness, resamples=100, out=out)[0]


@pytest.mark.parametrize("harness", ["inspect", "eee"])
def test_what_was_exported_comes_back_the_same(harness: str, cats: Path, tmp_path: Path) -> None:
    file, *_ = export(harness, [cats], tmp_path / "out", items=True)
    result, before = replayed(file, harness, tmp_path / "run"), stereometer.load(cats)
    assert result.measure == f"cat-{harness}@1"
    assert (result.scoring, result.model) == ("replayed", before.model)
    for name in ("ss", "lms", "icat"):
        assert result.estimate(name).value == before.estimate(name).value
        assert result.estimate(name).low == before.estimate(name).low


@pytest.mark.parametrize("harness", ["inspect", "eee"])
def test_a_limited_run_comes_back_as_one(harness: str, tmp_path: Path) -> None:
    how: dict[str, Any] = {"measure": "cat-likelihood", "limit": 60, "resamples": 100}
    (before,) = stereometer.run("starter", model="fake", out=tmp_path / "runs", **how)
    file, *_ = export(harness, [tmp_path / "runs"], tmp_path / "out", items=True)
    result = replayed(file, harness, tmp_path / "back")
    assert result.settings["limit"] == 60
    assert not any("lacks" in note for note in result.notes)
    ss = result.estimate("ss")
    assert (ss.n, ss.asked, ss.value) == (60, 60, before.estimate("ss").value)


def test_a_log_of_our_own_task_of_inspect_is_read(cats: Path, tmp_path: Path) -> None:
    """Its samples hold whole scores, as the task's scorer writes them."""
    scored = [
        {"id": score.item, "scores": {"stereometer": {"metadata": {"score": score.as_json()}}}}
        for score in run_of(cats).scores
    ]
    log = {"version": 2, "eval": {"model": "mockllm/model"}, "samples": scored}
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    result = replayed(tmp_path / "log.json", "inspect", tmp_path / "run")
    assert result.estimate("ss").value == stereometer.load(cats).estimate("ss").value


def samples(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def lm_eval_rows() -> list[dict[str, Any]]:
    """As lm-eval 0.4 writes them: numbers as text, and whether they were greedy."""
    names = ["stereotype", "anti-stereotype", "unrelated"]
    sums = [["-1.5", "False"], ["-2.5", "False"], ["-9.0", "False"]]
    items = stereometer.open_benchmark("starter").items("cat")
    return [
        {"doc_id": n, "doc": {"id": item.id, "candidates": names}, "filtered_resps": sums}
        for n, item in enumerate(items)
    ]


def test_samples_of_lm_eval_are_sums_and_named_so(tmp_path: Path) -> None:
    file = samples(tmp_path / "samples_task.jsonl", lm_eval_rows())
    result = replayed(file, "lm-eval", tmp_path / "run")
    assert result.measure == "cat-lm-eval-sum@1"
    assert (result.estimate("ss").value, result.estimate("lms").value) == (100.0, 100.0)


def test_a_task_of_pairs_is_joined_by_its_sentences(tmp_path: Path) -> None:
    pairs = stereometer.open_benchmark("starter").items("pair")
    rows = [
        {"doc": dict(pair.texts), "filtered_resps": [["-3.0", "False"], ["-2.0", "False"]]}
        for pair in pairs
    ]
    result = replayed(samples(tmp_path / "s.jsonl", rows), "lm-eval", tmp_path / "run")
    assert result.measure == "pair-lm-eval-sum@1"
    assert result.estimate("pair_preference").value == 0.0


def test_a_stated_measure_is_kept(tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl", lm_eval_rows())
    result = stereometer.replay(
        file,
        benchmark="starter",
        harness="lm-eval",
        measure="cat-sum-likelihood",
        resamples=100,
        out=tmp_path / "run",
    )[0]
    assert result.measure.startswith("cat-sum-likelihood@")


BAD: list[tuple[str, list[dict[str, Any]], str]] = [
    ("lm-eval", [{"id": "x"}], "filtered_resps"),
    ("lm-eval", [{"doc": {"id": "x"}, "filtered_resps": [["-1", "False"]]}], "candidates"),
    ("lm-eval", [{"doc": {"candidates": ["a"]}, "filtered_resps": [["nan", "False"]]}], "nan"),
    ("eee", [{"sample_id": "x"}], "no score"),
    ("inspect", [{"version": 2}], "no samples"),
]


@pytest.mark.parametrize(("harness", "rows", "said"), BAD)
def test_a_file_without_scores_is_refused(
    harness: str, rows: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=said):
        replayed(samples(tmp_path / "bad.jsonl", rows), harness, tmp_path / "run")


def test_two_scores_of_one_candidate_are_refused(tmp_path: Path) -> None:
    rows = lm_eval_rows()[:1] * 2
    with pytest.raises(DataError, match="two scores"):
        replayed(samples(tmp_path / "s.jsonl", rows), "lm-eval", tmp_path / "run")


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    file = samples(tmp_path / "s.jsonl", lm_eval_rows())
    with pytest.raises(UsageError, match="lm-eval"):
        replayed(file, "lm_eval", tmp_path / "run")
    command = ("replay", file, "--format", "helm", "--benchmark", "starter")
    assert_refused(call(*command), 2, "inspect")
