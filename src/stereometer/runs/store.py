"""A run's folder: result.json, scores.jsonl and run.json, claimed by one process at a time."""

from __future__ import annotations

import fcntl
import logging
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stereometer import catalog
from stereometer.errors import DataError, StereometerError, UsageError
from stereometer.files import read_json, read_jsonl, write_json
from stereometer.runs.kinds import completed
from stereometer.shapes.shape import Shape
from stereometer.types import RESULT_SCHEMA, Job, Result, Score, digest_of, digest_of_file

LOG = logging.getLogger("stereometer")
HOME = Path("stereometer-runs")
RESULT, SCORES, RUN = "result.json", "scores.jsonl", "run.json"


def place_of(job: Job, out: str | Path | None = None) -> Path:
    """Where a run is kept: a folder in `out`, or in a folder of our own.

    Older versions wrote a single run into `out` itself; such a run is gone on with.
    """
    benchmark, model, measure = (job.plan[name] for name in ("benchmark", "model", "measure"))
    name = job.folder or folder_name(benchmark, model, unversioned(measure))
    if out is not None:
        return Path(out) if (Path(out) / RUN).exists() else Path(out) / name
    digest = digest_of(job.plan)[:8]
    older = HOME / folder_name(benchmark, model, digest)
    return older if older.exists() else HOME / f"{name}-{digest}"


def unversioned(measure: str) -> str:
    """A measure's name with the options that make it another number, and without its version."""
    return re.sub(r"@\d+", "", measure)


def folder_name(*parts: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(parts))


@contextmanager
def claimed(folder: Path, plan: Mapping[str, Any]) -> Iterator[Result | None]:
    """The folder for this plan alone, with the finished result if it is already there.

    Another plan in the folder, or another process at work in it, is a mistake of the caller.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise StereometerError(
            f"{folder} cannot be written: {error.strerror}. The folder is read-only, full or not a"
            " folder. Choose another with --out."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"Another run is writing to {folder}. Two runs cannot share a folder. Wait for it"
                " or choose another with --out."
            ) from None
        yield _agreed(folder, plan)


def _agreed(folder: Path, plan: Mapping[str, Any]) -> Result | None:
    record = folder / RUN
    if not record.exists():
        write_json(record, {"schema": "run@1", "plan": plan})
        return None
    record_read = read_json(record)
    stored = record_read.get("plan") if isinstance(record_read, dict) else None
    if not isinstance(stored, dict):
        raise DataError(
            f"{record} is not the record of a run. It was edited or cut off. Choose another folder"
            " with --out, or remove this one."
        )
    stored = {**_since(plan), **stored}
    if stored != plan:
        changed = sorted(key for key in {*stored, *plan} if stored.get(key) != plan.get(key))
        raise UsageError(
            f"{folder} holds a run with other settings ({', '.join(changed)}). A folder keeps one"
            " run. Choose another with --out."
        )
    return _finished(folder)


def _since(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What plans did not say before: how near to 50 is near enough, and how many ties are too
    many, which hangs on the measure."""
    since = {"delta": 5.0, "ties": plan.get("ties")}
    return {key: value for key, value in since.items() if key in plan}


def _finished(folder: Path) -> Result | None:
    """The result that is there; a damaged one is made again."""
    if not (folder / RESULT).exists() or not (folder / SCORES).exists():
        return None
    try:
        result = load_result(folder)
        if result.scores_digest:
            check_scores(folder, result)
        else:
            deque(load_scores(folder, result), maxlen=0)
        return result
    except DataError as error:
        LOG.warning("%s It is computed anew.", error)
        return None


def run_folder(path: Path) -> Path:
    """The folder of a run, named by itself, by its result.json, or by the folder that holds it and
    no other."""
    if not path.exists():
        raise DataError(
            f"There is no {path}. A stored run is a folder that `run` or `replay` wrote. Check the"
            " path."
        )
    if not path.is_dir():
        return path.parent
    if (path / RESULT).exists():
        return path
    inner = _runs_under(path)
    if not inner:
        raise DataError(
            f"{path} holds no {RESULT}. It is not a run, or the run did not finish. Run it again;"
            " it goes on where it stopped."
        )
    if inner[1:]:
        raise DataError(
            f"{path} holds {len(inner)} runs. A single run is needed here. Name one of them: "
            f"{', '.join(str(folder.relative_to(path)) for folder in inner[:6])}."
        )
    return inner[0]


def _runs_under(path: Path) -> list[Path]:
    """In its folders, or in folders of runs in it."""
    files = (file for depth in ("*", "*/*") for file in path.glob(f"{depth}/{RESULT}"))
    return sorted(file.parent for file in files)


def load_result(path: Path) -> Result:
    """A stored result, from its folder, its result.json, or the folder that holds it alone."""
    file = path if path.is_file() else run_folder(path) / RESULT
    return result_from(read_json(file), str(file))


def result_from(value: object, file: str) -> Result:
    """A result from its JSON, whole and of its types; `file` says where it was."""
    if not isinstance(value, dict) or value.get("schema") != RESULT_SCHEMA:
        raise DataError(
            f"{file} is not a stereometer result ({RESULT_SCHEMA}). Name the folder of a run or its"
            f" {RESULT}. `stereometer run` and `replay` make them."
        )
    try:
        result = Result.from_json(completed(value))
        _check_facts(result)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is damaged: {error}. It was edited or cut off. Run it again."
        ) from None
    if not result.estimates:
        raise DataError(
            f"{file} holds no estimate. There is nothing to show. Run it again, or leave it out."
        )
    return result


FACTS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "data": {"digest": (str,), "title": (str,), "notice": (str,)},
    "settings": {"limit": (int, type(None)), "coverage": (int, float), "level": (int, float)},
    "model_card": {"digest": (str,), "family": (str,), "settings": (dict,)},
}
"""What every result says of its data, settings and model."""


def _check_facts(result: Result) -> None:
    needed = {**FACTS, "settings": {**FACTS["settings"], **catalog.shape(result.kind).settings}}
    for part, facts in needed.items():
        for name, types in facts.items():
            value = getattr(result, part).get(name, ())
            if not isinstance(value, types) or isinstance(value, bool):
                raise ValueError(f"{part}.{name} is {value!r:.60}")


def load(path: str | Path) -> Result:
    """A stored result, by its folder or its result.json."""
    return load_result(Path(path))


def load_scores(path: Path, result: Result | None = None) -> Iterator[Score]:
    """The scores of a run, held to what its kind needs; `result` where it is loaded already."""
    folder = run_folder(path)
    known = result or load_result(folder)
    shape = catalog.shape(known.kind)
    check_scores(folder, known)
    for line, value in read_jsonl(folder / SCORES):
        yield score_from(value, shape, f"{folder / SCORES}, line {line}")


def score_from(value: Any, shape: Shape, where: str) -> Score:
    """A score from its JSON, held to what its kind needs."""
    try:
        return shape.whole(Score.from_json(value))
    except ValueError as error:
        raise DataError(
            f"{where} is damaged: {error}. It was edited or cut off. Run it again."
        ) from None


def check_scores(folder: Path, result: Result) -> None:
    """Scores that are not the ones that were counted say nothing about the result; older results do
    not say which were."""
    file = folder / SCORES
    if not result.scores_digest:
        return
    try:
        digest = digest_of_file(file)
    except OSError as error:
        raise DataError(
            f"{file} cannot be read: {error.strerror}. A run is its result and its scores. "
            "Run it again."
        ) from None
    if digest != result.scores_digest:
        raise DataError(
            f"{file} does not hold the scores that its {RESULT} was counted from. It was edited or"
            " cut off. Run it again."
        )


def runs_in(path: Path) -> list[Path]:
    """The run at a path, or the runs in the folders under it."""
    if path.is_file() or (path / RESULT).exists():
        return [path]
    return _runs_under(path) or [run_folder(path)]


# ------------------------------------------------------------------------------------- several runs


def folders_of(paths: Sequence[str | Path]) -> list[Path]:
    """Where runs are stored, as a caller of the Python verbs names them."""
    for path in paths:
        if not isinstance(path, (str, Path)):
            raise UsageError(
                f"A {type(path).__name__} is not the folder of a run. Items' scores are read from"
                " there. Give `run` a folder with out=, and name it here."
            )
    return [Path(path) for path in paths]


def load_alike(paths: Sequence[Path]) -> list[Result]:
    """Stored results that may stand in one column; raises where they were not measured alike."""
    first, *others = results = [load_result(path) for path in paths]
    check_whole(results)
    ours = _conditions(first)
    for other in others:
        theirs = _conditions(other)
        details = "; ".join(
            f"{key}: {ours[key]} and {theirs[key]}" for key in ours if ours[key] != theirs[key]
        )
        if details:
            raise UsageError(
                f"{first.model} and {other.model} were not measured alike ({details}). Only runs "
                "that were measured alike can be compared. Run them with the same settings."
            )
    return results


def check_whole(results: Sequence[Result]) -> None:
    """Runs that asked only what their bars needed are not set side by side item by item."""
    for result in results:
        if result.stopped is not None:
            raise UsageError(
                f"{result.model} was asked {result.stopped['asked']} of {result.stopped['of']} "
                "items, until its bars were decided. When it stopped depends on its scores, so "
                "a difference from another run would mislead. Run it without --until-decided; "
                "answers are kept."
            )


def measured_alike(first: Result, second: Result) -> bool:
    """Whether two results may stand in one column."""
    return _conditions(first) == _conditions(second)


def _conditions(result: Result) -> dict[str, object]:
    items = f"{result.data['digest'][:12]}, limit {result.settings['limit']}"
    return {
        "benchmark": result.benchmark,
        "items": items,
        "measure": catalog.shape(result.kind).compared_as(result),
        "variant": result.variant,
    }


def labels(results: Sequence[Result]) -> list[str]:
    """Model names, with their measures where those differ, numbered where a name comes twice."""
    differ = len({result.measure for result in results}) > 1
    names = [
        f"{result.model} · {result.measure.split('@')[0]}" if differ else result.model
        for result in results
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: index + 1].count(name)})"
        for index, name in enumerate(names)
    ]
