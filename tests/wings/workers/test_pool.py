"""Workers as real processes: whatever happens to them, the result is that of a serial run."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.runs.job import limited
from stereometer.core.runs.measure import bound
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Backend, Settings
from stereometer.kinds.pairs.methods import LIKELIHOOD
from stereometer.wings.workers import driver
from stereometer.wings.workers.choice import Hands
from tests.builders.faulty import diary
from tests.builders.workers import ITEMS, happened, run_with, same_bytes, serial_run, spec_of

TWO = Hands(2)


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return serial_run(tmp_path_factory.mktemp("serial"))


def test_workers_give_the_bytes_of_a_serial_run(tmp_path: Path, serial: Path) -> None:
    finished = run_with(spec_of(tmp_path / "w"), tmp_path / "run", Hands(3))
    assert same_bytes(finished.folder, serial)
    happening = happened(finished.folder)
    assert happening["workers"] == 3
    assert happening["checked"] > 0
    assert sum(happening[name] for name in ("lost", "refused", "skipped", "sent_again")) == 0


def test_every_worker_opens_the_model_once_for_all_measures(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    results = stereometer.run("starter", model="fake", workers=2, out=out, resamples=200)
    assert len(results) == 2
    for folder in out.iterdir():
        assert happened(folder)["workers"] == 2
        assert happened(folder)["lost"] == 0


@pytest.mark.parametrize("fault", ["killed", "stumbles"])
def test_a_worker_that_dies_is_replaced(
    tmp_path: Path, serial: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        finished = run_with(spec_of(tmp_path / "w", fault, times=2), tmp_path / "run", TWO)
    assert same_bytes(finished.folder, serial)
    assert happened(finished.folder)["lost"] in (1, 2)  # the run may end before the second falls
    assert happened(finished.folder)["sent_again"] >= 1
    said = "SIGKILL" if fault == "killed" else "the machine stumbled"
    assert said in caplog.text


@pytest.mark.long
def test_a_worker_that_hangs_is_replaced(tmp_path: Path, serial: Path) -> None:
    hands = Hands(2, patience=15.0)
    finished = run_with(spec_of(tmp_path / "w", "hangs"), tmp_path / "run", hands)
    assert same_bytes(finished.folder, serial)
    assert happened(finished.folder)["lost"] >= 1


@pytest.mark.long
@pytest.mark.parametrize("fault", ["forgets", "invents", "short", "nan", "above", "nothing"])
def test_answers_that_break_the_contract_are_refused(
    tmp_path: Path, serial: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        finished = run_with(spec_of(tmp_path / "w", fault), tmp_path / "run", TWO)
    assert same_bytes(finished.folder, serial)
    assert happened(finished.folder)["refused"] == 1
    assert happened(finished.folder)["skipped"] == 0
    assert "cannot be one" in caplog.text


def test_numbers_that_no_worker_can_give_are_skipped_with_their_reason(tmp_path: Path) -> None:
    """All workers give NaN for every request: then it is the model, not a worker."""
    finished = run_with(spec_of(tmp_path / "w", "nan", times=9), tmp_path / "run", TWO)
    lines = (finished.folder / "scores.jsonl").read_text().splitlines()
    assert {json.loads(line)["skipped"] for line in lines} == {"a score is not a finite number"}
    assert happened(finished.folder)["lost"] == 0


def test_two_workers_that_differ_stop_the_run(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Two workers gave different answers"):
        run_with(spec_of(tmp_path / "w", "differs"), tmp_path / "run", TWO)
    assert not (tmp_path / "run" / "result.json").exists()


def poisonous(item_at: int) -> tuple[str, str]:
    """An item of the run and the key of its first request."""
    item = limited(open_benchmark("starter").items("pair"), ITEMS)[item_at]
    model = spec_of(Path("/tmp")).open()
    assert isinstance(model, Backend)
    plan = bound(LIKELIHOOD, model, Settings(), {}).plan(item)
    return item.id, next(request.key for asked in plan.values() for request in asked)


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 3])
def test_a_request_that_kills_every_worker_is_skipped_and_counted(
    tmp_path: Path, serial: Path, workers: int
) -> None:
    item, key = poisonous(50)
    spec = spec_of(tmp_path / "w", poison=key)
    finished = run_with(spec, tmp_path / "run", Hands(workers))
    ours, theirs = (
        (folder / "scores.jsonl").read_text().splitlines() for folder in (finished.folder, serial)
    )
    differing = [
        (json.loads(a), json.loads(b)) for a, b in zip(ours, theirs, strict=True) if a != b
    ]
    assert [a["item"] for a, _ in differing] == [item]
    assert differing[0][0]["skipped"] == "stopped 3 workers that were asked it"
    overall = finished.result.estimate("pair_preference")
    assert dict(overall.skipped) == {"stopped 3 workers that were asked it": 1}
    assert overall.asked - overall.n == 1
    assert happened(finished.folder)["skipped"] == 1


def test_a_worker_whose_disk_is_full_is_not_used_again(tmp_path: Path, serial: Path) -> None:
    finished = run_with(spec_of(tmp_path / "w", "disk"), tmp_path / "run", TWO)
    assert same_bytes(finished.folder, serial)
    assert len({line["pid"] for line in diary(tmp_path / "w")}) == 2


def test_full_disks_everywhere_end_the_run(tmp_path: Path) -> None:
    spec = spec_of(tmp_path / "w", "disk", times=99, before=0)
    with pytest.raises(ModelError, match="No space left on device"):
        run_with(spec, tmp_path / "run", TWO)


def test_an_error_of_the_model_ends_the_run_as_it_does_without_workers(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Ask something else"):
        run_with(spec_of(tmp_path / "w", "refuses"), tmp_path / "run", TWO)


@pytest.mark.long
@pytest.mark.parametrize("fault", ["another", "versions", "unknown"])
def test_a_worker_with_another_model_or_version_is_refused(
    tmp_path: Path, serial: Path, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        finished = run_with(spec_of(tmp_path / "w", fault), tmp_path / "run", TWO)
    assert same_bytes(finished.folder, serial)
    words = {
        "another": "weights or settings differ",
        "versions": "numpy 0.0.1 instead of",
        "unknown": "There is no such model here",
    }
    assert words[fault] in caplog.text


def test_no_worker_with_the_same_versions_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"numpy 0\.0\.1 instead of"):
        run_with(spec_of(tmp_path / "w", "versions"), tmp_path / "run", Hands(1))


def test_workers_that_die_while_they_open_are_given_up(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="SIGKILL"):
        run_with(spec_of(tmp_path / "w", "unopened", times=99), tmp_path / "run", Hands(1))


def test_a_worker_that_dies_once_while_it_opens_is_replaced(tmp_path: Path, serial: Path) -> None:
    finished = run_with(spec_of(tmp_path / "w", "unopened"), tmp_path / "run", TWO)
    assert same_bytes(finished.folder, serial)


def test_losing_workers_without_end_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MOST_LOST", 3)
    with pytest.raises(StereometerError, match="one after the other"):
        run_with(spec_of(tmp_path / "w", "deadly"), tmp_path / "run", Hands(1))
