"""A run's folder: result.json, scores.jsonl and run.json, claimed by one process at a time.

run.json holds the digest of result.json, which holds that of scores.jsonl: a result that was edited
is refused wherever it is read.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from stereometer.core import catalog
from stereometer.core.errors import DataError, StereometerError, UsageError
from stereometer.core.files import read_json, read_jsonl, replacing, to_json, write_json
from stereometer.core.shapes.shape import NotCompared, Shape
from stereometer.core.types import RESULT_SCHEMA, Job, Result, Score, digest_of, digest_of_file
from stereometer.core.types.names import MeasureName

LOG = logging.getLogger("stereometer")
HOME = Path("stereometer-runs")
RESULT, SCORES, RUN = "result.json", "scores.jsonl", "run.json"
RUN_SCHEMA = "stereometer-run@1"
SEAL = "result_digest"
"""Where the record of a run holds the SHA-256 of its result."""


def place_of(job: Job, out: str | Path | None = None) -> Path:
    """Where a run is kept: a folder in `out`, or in a folder of our own."""
    benchmark, model, measure = (job.plan[name] for name in ("benchmark", "model", "measure"))
    name = job.folder or folder_name(benchmark, model, MeasureName.parse(measure).unversioned)
    if out is not None and (Path(out) / RUN).exists():
        raise UsageError(
            f"{out} is the folder of a run. Runs are kept in folders of their own, in the one "
            "that is named. Choose another with --out."
        )
    if out is not None:
        return Path(out) / name
    return HOME / f"{name}-{digest_of(job.plan)[:8]}"


def folder_name(*parts: str) -> str:
    """Never one that a file manager hides."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(parts)).lstrip("._") or "_"


@contextmanager
def claimed(folder: Path, plan: Mapping[str, Any]) -> Iterator[Result | None]:
    """The folder for this plan alone, with the finished result if it is already there.

    Another plan in the folder, or another process at work in it, is a mistake of the caller.
    """
    lock = FileLock(folder / ".lock", blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"Another run is writing to {folder}. Two runs cannot share a folder. Wait for it"
            " or choose another with --out."
        ) from None
    except OSError as error:
        raise StereometerError(
            f"{folder} cannot be written: {error.strerror}. The folder is read-only, full or not a"
            " folder. Choose another with --out."
        ) from None
    try:
        yield _agreed(folder, plan)
    finally:
        lock.release()


def _agreed(folder: Path, plan: Mapping[str, Any]) -> Result | None:
    """The result that is there; a damaged one is made again."""
    file = folder / RUN
    if not file.exists():
        write_json(file, {"schema": RUN_SCHEMA, "plan": plan})
        return None
    record = read_json(file)
    known = isinstance(record, dict) and record.get("schema") == RUN_SCHEMA
    stored = record.get("plan") if known else None
    if not isinstance(stored, dict):
        raise DataError(
            f"{file} is not the record of a run ({RUN_SCHEMA}), so choose another folder with "
            "--out, or remove this one."
        )
    plan = json.loads(to_json(plan))  # as it would be read: a tuple is a list there
    if stored != plan:
        changed = sorted(key for key in {*stored, *plan} if stored.get(key) != plan.get(key))
        another = " or call the model otherwise with --name" if "identity" in changed else ""
        raise UsageError(
            f"{folder} holds a run with other settings ({', '.join(changed)}). A folder keeps one"
            f" run. Choose another with --out{another}."
        )
    if not (folder / RESULT).exists() or not (folder / SCORES).exists():
        return None
    try:
        result = load_result(folder)
        check_scores(folder, result)
        return result
    except DataError as error:
        LOG.warning("%s It is computed again.", error)
        return None


def keep(folder: Path, result: Result, record: Mapping[str, Any]) -> None:
    """The result and the record that seals it; killed in between, the run is not finished."""
    text = to_json(result.as_json()) + "\n"
    write_json(folder / RUN, {**record, SEAL: sha256(text.encode()).hexdigest()})
    with replacing(folder / RESULT) as file:
        file.write(text)


def run_folder(path: Path) -> Path:
    """The folder of a run, named by itself, by its result.json, or by the folder that holds it and
    no other."""
    inner = runs_in(path)
    if inner[1:]:
        raise DataError(
            f"{path} stands for {len(inner)} runs. A single run is needed here. Name one of them: "
            f"{', '.join(str(folder) for folder in inner[:6])}."
        )
    return inner[0]


def runs_in(path: Path) -> list[Path]:
    """The folder of the run at a path, or those of the runs in the folders under it."""
    if path.is_file():
        load_result(path)  # raises for a file of something else
        return [path.parent]
    inner = [path] if (path / RESULT).exists() else _runs_under(path)
    if not inner and not path.exists():
        raise DataError(
            f"There is no '{path}'. A stored run is a folder that `run` or `replay` wrote. Check "
            "the path."
        )
    if not inner:
        raise DataError(
            f"{path} holds no {RESULT}. It is not a run, or the run did not finish. Run it again;"
            " it continues where it stopped."
        )
    return inner


def _runs_under(path: Path) -> list[Path]:
    """In its folders, or in folders of runs in it; where there is no such folder, those beside it
    that are of a model of that name, or whose own names begin so (`runs/my-model`)."""
    if path.exists():
        files = (file for depth in ("*", "*/*") for file in path.glob(f"{depth}/{RESULT}"))
        return sorted(file.parent for file in files)
    beside, name = sorted(path.parent.glob(f"*/{RESULT}")), path.name.casefold()
    models = [file for file in beside if load_result(file).model.casefold() == name]
    begun = [file for file in beside if file.parent.name.casefold().startswith(name)]
    return [file.parent for file in models or begun]


def load_result(path: Path) -> Result:
    """A stored result, from its folder, its result.json, or the folder that holds it alone."""
    file = path if path.is_file() else run_folder(path) / RESULT
    result = result_from(read_json(file), str(file))
    record = file.with_name(RUN)
    known = read_json(record) if record.exists() else None
    # Estimates that somebody edited are no measurement.
    seal = known.get(SEAL) if isinstance(known, dict) else None
    if not isinstance(seal, str):
        raise DataError(
            f"{file} is not sealed: no {RUN} beside it holds its digest. A run is the whole folder "
            "that `run` or `replay` wrote. Copy all of its files, or run it again."
        )
    if seal != digest_of_file(file):
        raise DataError(
            f"{file} is not the result that was measured: its digest is not the one in {RUN}. It "
            "was edited or cut off. Run it again."
        )
    return replace(result, folder=file.parent.resolve())


def result_from(value: object, file: str) -> Result:
    """A result from its JSON, whole and of its types; `file` says where it was."""
    if not isinstance(value, dict) or value.get("schema") != RESULT_SCHEMA:
        raise DataError(
            f"{file} is not a stereometer result ({RESULT_SCHEMA}). Name the folder of a run or its"
            f" {RESULT}. `stereometer run` and `replay` make them."
        )
    if value.get("statistics") != Result.statistics:
        raise DataError(
            f"{file} was counted by other rules (statistics {value.get('statistics')!r:.20}, "
            f"now {Result.statistics}), so run it again; answers that are kept are used."
        )
    try:
        result = Result.from_json(value)
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
    "data": {
        **dict.fromkeys(("digest", "title", "notice"), (str,)),
        **dict.fromkeys(("items", "of", "hidden"), (int,)),
        "publishable": (bool,),
    },
    "settings": {
        "limit": (int, type(None)),
        **dict.fromkeys(("seed", "resamples"), (int,)),
        **dict.fromkeys(("coverage", "delta", "level", "ties"), (int, float)),
    },
    "model_card": {"digest": (str,), "family": (str,), "settings": (dict,)},
}
"""What every result says of its data, settings and model."""


def _check_facts(result: Result) -> None:
    needed = {**FACTS, "settings": {**FACTS["settings"], **catalog.shape(result.kind).settings}}
    for part, facts in needed.items():
        for name, types in facts.items():
            value = getattr(result, part).get(name, ())
            if not isinstance(value, types) or isinstance(value, bool) != (bool in types):
                raise ValueError(f"{part}.{name} is {value!r:.60}")
    places = catalog.shape(result.kind).places
    for estimate in result.estimates:
        if lacking := set(places.get(estimate.name, ())) - estimate.slice.keys():
            raise ValueError(f"an estimate of {estimate.name} has no {min(lacking)}")


def load(path: str | Path) -> Result:
    """A stored result, by its folder or its result.json."""
    return load_result(Path(path))


def read_scores(folder: Path, result: Result) -> Iterator[Score]:
    """The scores of a run, held to what its kind needs and hashed while they are parsed: where they
    are not those that were counted, the last of them is followed by an error."""
    file, shape, digest = folder / SCORES, catalog.shape(result.kind), sha256()
    try:
        for line, value in read_jsonl(file, "utf-8", digest):
            yield score_from(value, shape, f"{file}, line {line}")
    except DataError:
        check_scores(folder, result)  # that a file was edited is said before what is wrong in it
        raise
    _check_digest(file, digest.hexdigest(), result)


def score_from(value: Any, shape: Shape, where: str) -> Score:
    """A score from its JSON, held to what its kind needs."""
    try:
        return shape.whole(Score.from_json(value))
    except ValueError as error:
        raise DataError(
            f"{where} is damaged: {error}. It was edited or cut off. Run it again."
        ) from None


def check_scores(folder: Path, result: Result) -> None:
    """Scores that are not the ones that were counted say nothing about the result."""
    file = folder / SCORES
    try:
        digest = digest_of_file(file)
    except OSError as error:
        raise DataError(
            f"{file} cannot be read: {error.strerror}. A run is its result and its scores. "
            "Run it again."
        ) from None
    _check_digest(file, digest, result)


def _check_digest(file: Path, digest: str, result: Result) -> None:
    if digest != result.scores_digest:
        raise DataError(
            f"{file} does not hold the scores that its {RESULT} was counted from. It was edited or"
            " cut off. Run it again."
        )


# ------------------------------------------------------------------------------------- several runs


def check_alike(results: Sequence[Result]) -> None:
    """Raises where results may not stand in one column."""
    first, *others = results
    check_whole(results)
    ours = conditions(first)
    for other in others:
        theirs = conditions(other)
        details = "; ".join(
            f"{key}: {ours[key]} and {theirs[key]}" for key in ours if ours[key] != theirs[key]
        )
        if details:
            raise UsageError(
                f"{first.model} and {other.model} were not measured alike ({details}). Only runs "
                "that were measured alike can be compared. Run them with the same settings."
            )


def why_alone(group: Sequence[Result]) -> str:
    """Why runs of a folder are not set against each other; empty where they are."""
    if isinstance(catalog.shape(group[0].kind), NotCompared):
        return "runs of its kind are not compared item by item"
    stopped = any(result.stopped for result in group)
    return "" if group[1:] and not stopped else "no other whole run was measured alike"


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


def conditions(result: Result) -> dict[str, object]:
    """What results must have alike to stand in one column."""
    return {
        "benchmark": result.benchmark,
        "items": f"{result.data['digest'][:12]}, limit {result.settings['limit']}",
        "measure": catalog.shape(result.kind).compared_as(result),
        "variant": result.variant,
        "asked as": result.asked_as,
    }


def labels(results: Sequence[Result]) -> list[str]:
    """Model names, with their measures where those differ, numbered where a name comes twice."""
    differ = len({result.measure for result in results}) > 1
    names = [
        f"{result.model} · {result.measured_by.name}" if differ else result.model
        for result in results
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: index + 1].count(name)})"
        for index, name in enumerate(names)
    ]


LIKELIHOOD_FAMILIES = ("masked", "causal", "permuted")


def family_notes(results: Sequence[Result]) -> list[str]:
    """Notes where one measure was computed in more than one way, or in more than one precision."""
    ours = [each for each in results if each.model_card.get("family") in LIKELIHOOD_FAMILIES]
    kinds = sorted({str(each.model_card["family"]) for each in ours})
    used = {str(each.model_card.get("dtype")) for each in ours}
    said = dict.fromkeys(f"{each.model} in {each.model_card.get('dtype')}" for each in ours)
    notes = {
        f"These are models of different kinds ({', '.join(kinds)}). The measure is computed from "
        "what each can answer (docs/methods.md): part of a difference may be the way of "
        "scoring.": kinds,
        f"Precision differs: {', '.join(said)}. Part of a small difference may be rounding; "
        "measured with one --dtype it is not.": used,
    }
    return [note for note, different in notes.items() if len(different) > 1]
