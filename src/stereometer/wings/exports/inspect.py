"""`inspect`: a log of Inspect for each run, which `inspect view` opens.

The first metric of a log is its headline: icat, or the first number that may be sorted. The file
has what `read_eval_log`, the reading of headers and `bundle_log_dir` ask for (inspect_ai 0.3.285).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stereometer.core.files import write_json
from stereometer.core.runs.store import folder_name
from stereometer.core.runs.stored import Run, shown
from stereometer.core.types import Estimate, Result, Score
from stereometer.wings.exports import metadata

LOG_VERSION = 2


def write(runs: Sequence[Run], folder: Path, items: bool = False) -> list[Path]:
    return [_write(run, folder, items) for run in runs]


def _write(run: Run, folder: Path, items: bool) -> Path:
    result, created = run.result, metadata.made_at(run)
    id_ = metadata.identity(run)[:22]
    task = folder_name(result.benchmark, result.measured_by.name)
    path = folder / f"{created:%Y-%m-%dT%H-%M-%S+00-00}_{task.replace('_', '-')}_{id_}.json"
    log = {
        "version": LOG_VERSION,
        "status": "success",
        "eval": _eval(result, task, id_, created.isoformat()),
        "plan": {},
        "results": _results(result),
        "stats": {"started_at": created.isoformat(), "completed_at": created.isoformat()},
    }
    if items and run.has_scores:
        log["samples"] = list(_samples(run.read()))
    write_json(path, log)
    return path


def _eval(result: Result, task: str, id_: str, created: str) -> dict[str, Any]:
    return {
        "eval_id": id_,
        "run_id": id_,
        "created": created,
        "task": task,
        "task_id": id_,
        "task_version": 0,
        "dataset": {"name": result.benchmark, "samples": int(result.data.get("items") or 0)},
        "model": result.model,
        "config": {},
        "packages": dict(result.versions),
        "metadata": {**metadata.tags(result), "notes": list(result.notes)},
    }


def _results(result: Result) -> dict[str, Any]:
    first = metadata.headline(result)
    # The number that stands for the result, then overall values, then slices.
    rows = sorted(shown(result), key=lambda row: (row != first, len(row.slice)))
    scorer = {
        "name": result.measure,
        "scorer": result.measure,
        "params": {"variant": result.variant},
        "metrics": {entry["name"]: entry for row in rows for entry in _metrics(row)},
    }
    return {"total_samples": rows[0].asked, "completed_samples": rows[0].n, "scores": [scorer]}


def _metrics(row: Estimate) -> Iterator[dict[str, Any]]:
    """Two where the value itself may not be sorted: its distance from the ideal, then the value."""
    number = metadata.ranked(row)
    if number is not None and number.lower_is_better:
        yield _metric(number, row) | {"params": {"lower_is_better": True}}
    if row.value is not None:
        yield _metric(row, row)


def _metric(number: metadata.Ranked | Estimate, row: Estimate) -> dict[str, Any]:
    ends = {"low": number.low, "high": number.high}
    name = f"{number.name}{metadata.placed(row)}"
    return {"name": name, "value": number.value, "metadata": {**ends, **metadata.details(row)}}


def _samples(scores: Iterable[Score]) -> Iterator[dict[str, Any]]:
    """Items whose texts are stored; those of hidden ones are not."""
    for score in scores:
        if score.texts:
            yield {
                "id": score.item,
                "epoch": 1,
                "input": next(iter(score.texts.values())),
                "target": "",
                "metadata": {
                    **score.slices,
                    "texts": dict(score.texts),
                    "values": dict(score.values),
                    "skipped": score.skipped,
                    "answers": [dict(answer) for answer in score.answers],
                },
            }
