"""One stored run: found by whatever names it, its scores read once and held against its result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import stereometer
from stereometer.core import files
from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs import store
from stereometer.core.runs.stored import Stored, run_of, runs_of
from stereometer.core.types import Result
from tests.builders.little import QUICK
from tests.builders.ratings import two_sided
from tests.builders.stored import only
from tests.builders.trait_runs import stored_run, synthetic_ratings


def made(folder: Path) -> Result:
    (result,) = stereometer.run(
        "starter", model="ideal", measure="pair-likelihood", out=folder, **QUICK
    )
    return result


def reads(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths of files of this name, as often as they are opened for their text."""
    opened: list[Path] = []
    real = files._opened

    def counted(path: Path) -> object:
        opened.extend([path] if path.name == name else [])
        return real(path)

    monkeypatch.setattr(files, "_opened", counted)
    return opened


def test_a_run_is_named_by_its_folder_its_file_its_result_or_a_folder_of_runs(
    tmp_path: Path,
) -> None:
    result, place = made(tmp_path / "a"), only(tmp_path / "a")
    named: list[Stored] = [
        tmp_path,
        str(tmp_path / "a"),
        place,
        place / "result.json",
        result,
        [result],
    ]
    assert [run.folder for run in runs_of(named)] == [place.resolve()]
    assert {run_of(each).result.scores_digest for each in named} == {result.scores_digest}


def test_another_file_of_its_folder_is_no_run(tmp_path: Path) -> None:
    made(tmp_path)
    for file in ("scores.jsonl", "run.json"):
        with pytest.raises(DataError):
            runs_of([only(tmp_path) / file])


def test_one_run_is_not_several(tmp_path: Path) -> None:
    for name in ("a", "b"):
        made(tmp_path / name)
    assert len(runs_of([tmp_path])) == 2
    with pytest.raises(DataError, match="stands for 2 runs"):
        run_of(tmp_path)
    with pytest.raises(UsageError, match="is not a stored run"):
        run_of(3)  # type: ignore[arg-type]


def test_scores_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)
    opened = reads(store.SCORES, monkeypatch)
    run = run_of(tmp_path)
    assert not opened
    assert run.scores is run.scores
    assert run.scores == tuple(run.read())
    assert len(opened) == 2  # once for all, and once more for who asked for one by one


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "a number": lambda content: content.replace(b"-1.0", b"-1.5", 1),
    "no JSON": lambda content: b"{" + content,
    "no text": lambda content: b"\xff" + content,
    "a byte-order mark": lambda content: b"\xef\xbb\xbf" + content,
    "lines as Windows ends them": lambda content: content.replace(b"\n", b"\r\n"),
    "cut off": lambda content: content[:-1],
    "one line less": lambda content: content.partition(b"\n")[2],
    "nothing": lambda content: b"",
}


@pytest.mark.parametrize("change", CHANGES)
def test_scores_that_change_after_the_result_was_loaded_are_refused(
    tmp_path: Path, change: str
) -> None:
    made(tmp_path)
    run = run_of(tmp_path)
    file = run.folder / store.SCORES
    file.write_bytes(CHANGES[change](file.read_bytes()))
    for way in (lambda: run.scores, lambda: list(run.read()), lambda: runs_of([tmp_path])):
        with pytest.raises(DataError, match=r"does not hold the scores that its result\.json"):
            way()


def test_a_run_without_scores_has_its_result(tmp_path: Path) -> None:
    made(tmp_path)
    (only(tmp_path) / store.SCORES).unlink()
    (run,) = runs_of([tmp_path])
    assert not run.has_scores
    assert run.result.estimates
    with pytest.raises(DataError, match="A run is its result and its scores"):
        run.scores  # noqa: B018


@pytest.mark.long
def test_align_reads_the_run_and_the_ratings_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = synthetic_ratings(tmp_path / "ratings.json", two_sided())
    place = stored_run(tmp_path / "run", lambda template, group, trait: float(len(trait)))
    scores, rated = reads(store.SCORES, monkeypatch), reads(ratings.name, monkeypatch)
    stereometer.align(place, ratings=ratings, resamples=100, out=tmp_path / "out")
    assert (len(scores), len(rated)) == (1, 1)
