"""`--json` prints one JSON value on standard output and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.builders.commands import Said, call, shell
from tests.builders.little import little_stereoset, pairs_file, predictions
from tests.builders.stored import only

QUICK = ("--resamples", 100)


def run_pairs(folder: Path, model: str, *more: object) -> Said:
    return call(
        "run", pairs_file(folder / "pairs.csv"), "-m", model, "--out", folder / model, *QUICK, *more
    )


def test_run_prints_its_results(tmp_path: Path) -> None:
    said = run_pairs(tmp_path, "fake", "--json")
    assert said.code == 0
    assert said.json["schema"] == "runs@1"
    (result,) = said.json["results"]
    assert (result["schema"], result["model"], result["measure"]) == (
        "stereometer-result@1",
        "fake",
        "pair-likelihood@1",
    )
    assert f"Stored in {tmp_path / 'fake'}" in said.err


def test_run_prints_one_result_for_each_shape_of_a_benchmark(tmp_path: Path) -> None:
    said = call("run", "starter", "-m", "ideal", "--out", tmp_path / "out", *QUICK, "--json")
    assert [one["measure"] for one in said.json["results"]] == [
        "cat-pseudo-likelihood@1",
        "pair-likelihood@1",
    ]


def test_run_dry_prints_plans_and_leaves_nothing(tmp_path: Path) -> None:
    said = run_pairs(tmp_path, "fake", "--json", "--dry-run")
    assert said.json["schema"] == "plan@1"
    (plan,) = said.json["plans"]
    assert {key: plan[key] for key in ("items", "requests", "distinct", "skipped")} == {
        "items": 4,
        "requests": 8,
        "distinct": 8,
        "skipped": 0,
    }
    assert not (tmp_path / "fake").exists()


def test_replay_prints_its_result(tmp_path: Path) -> None:
    import json

    dev = little_stereoset(tmp_path / "dev.json")
    (tmp_path / "scores.json").write_text(json.dumps(predictions(dev)))
    said = call(
        "replay",
        tmp_path / "scores.json",
        "--benchmark",
        dev,
        "--out",
        tmp_path / "out",
        *QUICK,
        "--json",
    )
    assert (said.json["schema"], said.json["measure"], said.json["scoring"]) == (
        "stereometer-result@1",
        "cat-replay@1",
        "replayed",
    )


def test_compare_prints_its_comparison(tmp_path: Path) -> None:
    for model in ("ideal", "stereotyped"):
        run_pairs(tmp_path, model)
    said = call("compare", tmp_path / "ideal", tmp_path / "stereotyped", *QUICK, "--json")
    assert (said.json["schema"], said.json["systems"]) == ("compare@1", ["ideal", "stereotyped"])
    assert said.err == ""


@pytest.mark.parametrize("benchmark", ["starter", "own"])
def test_show_prints_card_and_statistics(tmp_path: Path, benchmark: str) -> None:
    said = call(
        "show", pairs_file(tmp_path / "own.csv") if benchmark == "own" else benchmark, "--json"
    )
    assert said.json["schema"] == "show@1"
    assert said.json["card"]["name"] == ("custom" if benchmark == "own" else "starter")
    assert said.json["as_released"] is (benchmark == "starter")
    assert said.json["statistics"]["pair"][-1]["pairs"] == (4 if benchmark == "own" else 400)


def test_list_prints_every_name() -> None:
    said = call("list", "--json")
    assert said.json["schema"] == "list@1"
    assert {"starter", "stereoset", "crows-pairs", "winobias", "custom"} <= {
        one["name"] for one in said.json["benchmarks"]
    }
    assert said.json["baselines"] == ["ideal", "stereotyped", "random", "sentiment"]
    assert said.json["testing_aids"] == ["fake"]
    assert "fake" not in said.json["models"]


def test_every_measure_says_which_paper_it_belongs_to() -> None:
    sources = {row["name"]: row["source"] for row in call("list", "--json").json["measures"]}
    assert all(sources.values())
    assert sources["cat-likelihood"] == "StereoSet, Nadeem et al. 2021, Tables 4 and 6"


def test_doctor_without_a_model_looks_at_the_installation() -> None:
    state = call("doctor", "--json").json
    assert state["schema"] == "installation@1"
    assert state["versions"]["numpy"]
    assert state["data_files"]["starter"]
    assert set(state["models_ready"]) == {"smollm2-135m", "minilm-mlm"}
    assert state["cache"]["answers"] == 0
    assert state["devices"][:1] == (["cpu"] if state["versions"]["torch"] else [])


def test_doctor_says_what_is_missing_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEREOMETER_DATA", raising=False)
    monkeypatch.setattr("stereometer.wings.doctor.doctor._version", lambda name: None)
    said = call("doctor").out
    assert "torch: not installed; part of `pip install '.[hf]'`" in said
    assert re.search(r"not on this machine: .*\bstereoset\b", said)
    assert "`stereometer show NAME` says where" in said


def test_data_where_prints_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEREOMETER_DATA", str(tmp_path))
    said = call("data", "where", "--json")
    assert said.json["schema"] == "where@1"
    assert said.json["folders"][0] == str(tmp_path)
    assert said.json["files"]["stereoset"] == []
    assert said.json["files"]["starter"]


def test_data_add_prints_what_was_kept_and_how_it_differs(tmp_path: Path, own_home: Path) -> None:
    said = call(
        "data", "add", "stereoset", little_stereoset(tmp_path / "mine.json"), "--anyway", "--json"
    )
    (kept,) = said.json["sets"]
    assert kept["benchmark"] == "stereoset"
    assert kept["files"] == [str(own_home / "data" / "stereometer" / "stereoset" / "dev.json")]
    assert kept["differences"][0] == "12 items of shape cat instead of 4229"


def test_cache_info_and_clear(tmp_path: Path) -> None:
    run_pairs(tmp_path, "fake")
    info = call("cache", "info", "--json").json
    assert (info["schema"], info["answers"]) == ("cache@1", 8)
    assert call("cache", "clear", "--json").json == {"schema": "cache-cleared@1", "answers": 8}
    assert call("cache", "info", "--json").json["answers"] == 0


def test_in_a_pipe_standard_output_is_json_alone_and_there_is_no_progress_bar(
    tmp_path: Path,
) -> None:
    said = shell(
        "run",
        pairs_file(tmp_path / "pairs.csv"),
        "-m",
        "fake",
        "--out",
        tmp_path / "out",
        *QUICK,
        "--json",
    )
    assert said.json["schema"] == "runs@1"
    note, stored = said.err.splitlines()
    assert note.startswith("Small slices: ")
    assert stored == f"Stored in {only(tmp_path / 'out')}"


def test_a_table_in_a_pipe_has_no_escape_codes_and_no_bar(tmp_path: Path) -> None:
    said = shell(
        "run", pairs_file(tmp_path / "pairs.csv"), "-m", "fake", "--out", tmp_path / "out", *QUICK
    )
    assert "\x1b" not in said.out + said.err
    assert "preference (ideal 50)" in said.out
    note, stored = said.err.splitlines()
    assert note.startswith("Small slices: ")
    assert stored == f"Stored in {only(tmp_path / 'out')}"
