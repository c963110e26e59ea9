"""Run folders that were edited, cut off or damaged: refused in one sentence, never believed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError, StereometerError
from stereometer.core.runs.stored import run_of
from stereometer.wings.exports.exporter import export_runs as export
from tests.builders.commands import Said, assert_refused, call
from tests.builders.kinds import KINDS, one_of_each
from tests.builders.ratings import two_sided
from tests.builders.stored import only, sealed
from tests.builders.trait_runs import synthetic_ratings


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return one_of_each(tmp_path_factory.mktemp("every"))


def run(folder: Path, model: str = "fake") -> Path:
    measure = ["cat-likelihood"]
    stereometer.run("starter", model=model, measure=measure, limit=24, out=folder, resamples=100)
    return folder


def edit(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text()))


def lines(change: Callable[[list[str]], list[str]]) -> Callable[[str], str]:
    return lambda text: "".join(change(text.splitlines(keepends=True)))


CHANGES = {
    "another number": lambda text: text.replace('"stereotype": -', '"stereotype": -9', 1),
    "a line less": lines(lambda rows: rows[:-1]),
    "half a line less": lambda text: text[:-20],
    "a line twice": lines(lambda rows: [rows[0], *rows]),
    "another order": lines(lambda rows: rows[::-1]),
}


@pytest.mark.long
@pytest.mark.parametrize("how", CHANGES)
def test_scores_that_were_not_counted_are_refused(tmp_path: Path, how: str) -> None:
    first, second = run(tmp_path / "a"), run(tmp_path / "b", "random")
    edit(only(first) / "scores.jsonl", CHANGES[how])
    says = "does not hold the scores that its result.json was counted from"
    assert_refused(call("compare", first, second), 4, says)
    assert_refused(call("report", first, "-o", tmp_path / "page.html"), 4, says)
    assert_refused(call("show", first), 4, says)
    assert_refused(call("export", "csv", first, "-o", tmp_path / "table"), 4, says)


@pytest.mark.long
@pytest.mark.parametrize("how", CHANGES)
def test_a_run_whose_scores_were_changed_is_not_finished(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = run(tmp_path / "a")
    before = (only(folder) / "scores.jsonl").read_bytes()
    edit(only(folder) / "scores.jsonl", CHANGES[how])
    run(folder)
    assert (only(folder) / "scores.jsonl").read_bytes() == before
    assert "It is computed again" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        "show {run}",
        "gate {run} --bars {run}/bars.toml",
        "export csv {run} -o {out}",
        "report {run} -o {out}/page.html",
        "board build {run} -o {out}",
        "submit {run} -o {out}/bundle",
        "compare {run} {run}",
    ],
)
def test_an_edited_result_is_refused(tmp_path: Path, line: str) -> None:
    folder = only(run(tmp_path / "a"))
    words = line.format(run=folder, out=tmp_path / "out").split()
    (folder / "bars.toml").write_text('[[bars]]\nrequire = "lms>=1"\n')
    edit(folder / "result.json", lambda text: text.replace('"n": 24', '"n": 25'))
    assert_refused(call(*words), 4, "is not the result that was measured")
    (folder / "run.json").unlink()
    assert_refused(call(*words), 4, "is not sealed")


@pytest.mark.parametrize("edition", [None, 2])
def test_a_result_of_older_statistics_is_refused_and_run_again(
    tmp_path: Path, edition: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    folder = run(tmp_path / "a")
    file = only(folder) / "result.json"
    today = json.loads(file.read_text())
    file.write_text(json.dumps({**today, "statistics": edition}))
    says = f"was counted by other rules (statistics {edition}, now 1), so run it again"
    assert_refused(call("show", folder), 4, says)
    assert_refused(call("report", folder, "-o", tmp_path / "page.html"), 4, says)
    run(folder)
    assert says in caplog.text
    assert json.loads(file.read_text())["estimates"] == today["estimates"]


def test_a_missing_slice_is_named(tmp_path: Path) -> None:
    folder = run(tmp_path / "a")
    edit(only(folder) / "scores.jsonl", lambda text: text.replace('"domain"', '"other"', 1))
    sealed(folder)
    with pytest.raises(DataError, match="line 1 is damaged: no domain"):
        list(run_of(folder).scores)


# ---------------------------------------------------------------------------------------- mutations

WRONG = [None, "", "text", "\x1b[31m", [], [1], {}, {"a": 1}, 0, -1, 10**400, 1.5, 1e308, True]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    children: Any = {}
    if isinstance(value, Mapping):
        children = value
    elif isinstance(value, list):
        children = dict(enumerate(value))
    for key, child in children.items():
        yield (*path, key)
        yield from places(child, (*path, key))


def mutated(value: Any, dice: Random) -> Any:
    """One thing in it gone, replaced or doubled."""
    *way, last = dice.choice(list(places(value)))
    parent = value
    for key in way:
        parent = parent[key]
    how = dice.random()
    if how < 0.3:
        del parent[last]
    elif how < 0.9 or not isinstance(parent, list):
        parent[last] = dice.choice(WRONG)
    else:
        parent.append(parent[last])
    return value


def mutate(folder: Path, dice: Random) -> None:
    file = folder / dice.choice(["result.json", "scores.jsonl"])
    text = file.read_text()
    if dice.random() < 0.15:
        at = dice.randrange(len(text))
        file.write_text(dice.choice([text[:at], text[:at] + "\x00" + text[at + 1 :]]))
    elif file.name == "result.json":
        file.write_text(json.dumps(mutated(json.loads(text), dice)))
    else:
        rows = text.splitlines()
        at = dice.randrange(len(rows))
        rows[at] = json.dumps(mutated(json.loads(rows[at]), dice))
        file.write_text("\n".join(rows))


def formats(run: Path, out: Path) -> None:
    for name in ("csv", "metrics", "eee", "inspect", "model-card", "hub"):
        export(name, [run], out / name)


def aligned(run: Path, out: Path) -> None:
    rated = synthetic_ratings(out / "ratings.json", two_sided())
    stereometer.align(run, ratings=rated, resamples=100, out=out / "aligned")


def gated(run: Path, out: Path) -> None:
    (out / "bars.toml").write_text('[[bars]]\nrequire = "ss>=0"\n')
    stereometer.gate(run, bars=out / "bars.toml")


READERS: dict[str, Callable[[Path, Path, Path], object]] = {
    "align": lambda run, other, out: aligned(run, out),
    "export": lambda run, other, out: formats(run, out),
    "gate": lambda run, other, out: gated(run, out),
    "compare": lambda run, other, out: stereometer.compare(run, other, resamples=100),
    "report": lambda run, other, out: stereometer.write_report([run], out / "page.html"),
    "show": lambda run, other, out: _shown(call("show", run)),
    "ensemble": lambda run, other, out: stereometer.ensemble(
        run, other, resamples=100, out=out / "ensemble"
    ),
}


def _shown(said: Said) -> None:
    assert said.code in (0, 2, 4), said.err


def survives(run: Path, tmp_path: Path, seed: int) -> None:
    """Whatever is changed, also by somebody who makes all digests fit, a reader gives a result or
    one clear error."""
    dice = Random(f"{run.name} {seed}")
    for folder in tmp_path.iterdir():
        shutil.rmtree(folder)
    (tmp_path / "out").mkdir()
    folder = Path(shutil.copytree(run, tmp_path / run.name))
    mutate(folder, dice)
    with suppress(ValueError):
        sealed(folder)
    reader = dice.choice(list(READERS))
    try:
        READERS[reader](folder, run, tmp_path / "out")
    except StereometerError:
        return
    except Exception as error:
        raise AssertionError(f"{reader} of {run.name}, seed {seed}: {error!r}") from error


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_no_damaged_run_ends_in_a_traceback(name: str, every: Path, tmp_path: Path) -> None:
    for seed in range(8):
        survives(every / name, tmp_path, seed)


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_no_damaged_run_of_many_ends_in_a_traceback(name: str, every: Path, tmp_path: Path) -> None:
    for seed in range(8, 128):
        survives(every / name, tmp_path, seed)
