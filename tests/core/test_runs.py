"""A run's folder belongs to one plan and one process; what is stored is loaded again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError, StereometerError, UsageError
from stereometer.core.files import to_json
from stereometer.core.runs import store as runs
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Job, Result
from tests.builders.little import QUICK
from tests.builders.stored import only, sealed

PLAN = {"benchmark": "b", "model": "m", "measure": "way@1", "seed": 0}


def job(plan: dict[str, Any]) -> Job:
    return Job(plan, "pair", list, lambda scores: [], lambda estimates: stored(Path("x")))


def stored(folder: Path, **change: Any) -> Result:
    settings: dict[str, Any] = {"model": "ideal", "measure": ["pair-likelihood"], "out": folder}
    settings |= QUICK | change
    (result,) = stereometer.run("starter", **settings)
    return result


def written(result: Result) -> str:
    return to_json(result.as_json())


def test_an_empty_folder_is_claimed_and_the_plan_written_down(tmp_path: Path) -> None:
    with runs.claimed(tmp_path / "run", PLAN) as done:
        assert done is None
    assert json.loads((only(tmp_path / "run") / "run.json").read_text())["plan"] == PLAN


def test_a_clock_that_is_set_back_does_not_take_negative_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = iter(range(100_000, 0, -1))
    monkeypatch.setattr("stereometer.core.runs.execute.time.time", lambda: 3600.0 * next(hours))
    stored(tmp_path / "run", cache=False)
    assert json.loads((only(tmp_path / "run") / "run.json").read_text())["seconds"] >= 0


def test_an_unfinished_run_of_the_same_plan_may_go_on(tmp_path: Path) -> None:
    for _ in range(2):
        with runs.claimed(tmp_path, PLAN) as done:
            assert done is None


def test_a_finished_run_is_returned_and_not_run_again(tmp_path: Path) -> None:
    first = stored(tmp_path / "run")
    before = (only(tmp_path / "run") / "run.json").read_bytes()
    assert written(stored(tmp_path / "run")) == written(first)
    assert (only(tmp_path / "run") / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"resamples": 200}, "resamples"),
        ({"variant": "paper"}, "variant"),
        ({"limit": 10}, "limit"),
        ({"coverage": 0.5}, "coverage"),
        ({"model": "stereotyped"}, "identity, model"),
        ({"measure": ["pair-sentence-likelihood"]}, "measure"),
    ],
)
def test_other_settings_into_the_same_folder_are_refused_and_named(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    """Most of them have folders of their own in `out`; here the plan is put to the run's own."""
    first = written(stored(tmp_path / "run"))
    stored(tmp_path / "other", **change)
    run = only(tmp_path / "run")
    plan = json.loads((only(tmp_path / "other") / "run.json").read_text())["plan"]
    says = rf"holds a run with other settings \({named}\)"
    with pytest.raises(UsageError, match=says), runs.claimed(run, plan):
        pytest.fail("claimed")
    assert written(stereometer.load(run)) == first


def test_two_processes_in_one_folder_are_refused(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from stereometer.core.runs import store as runs\n"
        f"with runs.claimed(Path({str(tmp_path)!r}), {PLAN!r}): print('held', flush=True);"
        " sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(UsageError, match="Another run is writing"),
            runs.claimed(tmp_path, PLAN),
        ):
            pytest.fail("two at once")
        holder.communicate()
    with runs.claimed(tmp_path, PLAN) as done:
        assert done is None


def test_a_lock_left_by_a_dead_process_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("")
    with runs.claimed(tmp_path, PLAN) as done:
        assert done is None


@pytest.mark.parametrize("place", ["/dev/null/run", "/proc/run"])
def test_a_folder_that_cannot_be_made_is_said(place: str) -> None:
    with (
        pytest.raises(StereometerError, match=rf"{place} cannot be written: .*--out"),
        runs.claimed(Path(place), PLAN),
    ):
        pytest.fail("claimed")


# ------------------------------------------------------------------------------------------ loading


def test_a_result_is_loaded_from_its_folder_or_its_file(tmp_path: Path) -> None:
    result = stored(tmp_path / "run")
    assert stereometer.load(tmp_path / "run") == stereometer.load(
        only(tmp_path / "run") / "result.json"
    )
    assert written(stereometer.load(tmp_path / "run")) == written(result)


def test_a_loaded_result_equals_the_computed_one(tmp_path: Path) -> None:
    result = stored(tmp_path / "run")
    assert stereometer.load(tmp_path / "run") == result


def test_scores_are_loaded_as_they_were(tmp_path: Path) -> None:
    stored(tmp_path / "run")
    found = list(run_of(tmp_path / "run").scores)
    assert len(found) == 400
    assert found == list(run_of(only(tmp_path / "run") / "result.json").scores)
    assert found[0].values == {"sent_more": -1.0, "sent_less": -1.0}


def damaged(folder: Path, change: Any) -> Path:
    stored(folder)
    return sealed(folder, change)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda value: value.pop("estimates"), "is damaged: estimates: field required"),
        (lambda value: value.pop("model"), "is damaged"),
        (lambda value: value.update(extra=1), "is damaged"),
        (lambda value: value.update(estimates=[{}]), "is damaged"),
        (lambda value: value.update(estimates=None), "is damaged"),
        (lambda value: value.update(schema="result@99"), "is not a stereometer result"),
        (lambda value: value.clear(), "is not a stereometer result"),
    ],
)
def test_a_damaged_result_is_named(tmp_path: Path, change: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        stereometer.load(damaged(tmp_path / "run", change))


def test_an_estimate_that_is_a_text_is_damage_too(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        stereometer.load(damaged(tmp_path / "run", lambda value: value.update(estimates=["text"])))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "stereometer-result@1"'])
def test_a_truncated_or_foreign_result_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(DataError, match=r"result\.json"):
        stereometer.load(tmp_path)


def test_a_folder_without_a_result_is_named() -> None:
    with pytest.raises(DataError, match=r"holds no result\.json"):
        stereometer.load(Path())


def test_a_damaged_result_in_the_way_of_the_same_run_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = written(stored(tmp_path / "run"))
    (only(tmp_path / "run") / "result.json").write_text("{")
    assert written(stored(tmp_path / "run")) == first == written(stereometer.load(tmp_path / "run"))
    assert "computed again" in caplog.text


@pytest.mark.parametrize("record", ["{", "[]", '{"plan": null}', '{"schema": "run@1", "plan": {}}'])
def test_a_damaged_or_older_record_is_named(tmp_path: Path, record: str) -> None:
    (tmp_path / "run.json").write_text(record)
    with pytest.raises(StereometerError, match=r"run"), runs.claimed(tmp_path, PLAN):
        pytest.fail("claimed")


def test_a_run_is_not_kept_in_the_folder_of_another(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run").folder
    with pytest.raises(UsageError, match="is the folder of a run"):
        runs.place_of(job(PLAN), folder)


def test_a_damaged_line_of_scores_is_named(tmp_path: Path) -> None:
    stored(tmp_path / "run")
    lines = (only(tmp_path / "run") / "scores.jsonl").read_text().split("\n")
    lines[2] = '{"item": "x"}'
    (only(tmp_path / "run") / "scores.jsonl").write_text("\n".join(lines))
    sealed(tmp_path / "run")
    with pytest.raises(DataError, match="line 3 is damaged"):
        list(run_of(tmp_path / "run").scores)


def test_runs_are_found_in_folders_of_runs_and_in_folders_of_such(tmp_path: Path) -> None:
    for name in ("b", "a"):
        stored(tmp_path / name)
    first, second = only(tmp_path / "a"), only(tmp_path / "b")
    assert runs.runs_in(tmp_path) == [first, second]
    assert runs.runs_in(tmp_path / "a") == [first]
    assert runs.runs_in(first) == [first]
    with pytest.raises(DataError, match="There is no"):
        runs.runs_in(tmp_path / "nowhere")


def test_the_folder_of_a_run_is_named_after_its_plan() -> None:
    name = runs.place_of(job(PLAN | {"model": "org/model name"})).name
    assert name.startswith("b-org_model_name-")
    assert name != runs.place_of(job(PLAN | {"model": "org/model name", "seed": 1})).name


def test_out_holds_folders_of_runs(tmp_path: Path) -> None:
    """However many results there are, and whatever else is in it."""
    stored(tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name == "starter-ideal-pair-likelihood"
    stored(tmp_path / "runs", variant="paper")
    stored(tmp_path / "runs", model="stereotyped", limit=10)
    assert {entry.name for entry in (tmp_path / "runs").iterdir()} == {
        "starter-ideal-pair-likelihood",
        "starter-ideal-pair-likelihood-paper",
        "starter-stereotyped-pair-likelihood-limit10",
    }


def test_a_limit_above_the_size_of_the_set_is_no_sample(tmp_path: Path) -> None:
    whole, capped = (
        stored(tmp_path / name, limit=limit) for name, limit in [("a", None), ("b", 999)]
    )
    assert written(capped) == written(whole)
    assert not any("drawn at random" in note for note in capped.notes)


def test_a_run_that_an_older_version_wrote_is_neither_read_nor_gone_on_with(tmp_path: Path) -> None:
    stored(tmp_path)
    run = only(tmp_path)
    for name in ("result", "run"):
        text = (run / f"{name}.json").read_text()
        (run / f"{name}.json").write_text(text.replace(f"stereometer-{name}@1", f"{name}@1"))
    sealed(run)
    with pytest.raises(DataError, match=r"not a stereometer result \(stereometer-result@1\)"):
        stereometer.load(run)
    with pytest.raises(DataError, match=r"not the record of a run \(stereometer-run@1\)"):
        stored(tmp_path)
