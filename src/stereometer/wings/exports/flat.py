"""`csv`: one table, a row for each estimate; `metrics`: for trackers, a record of each run."""

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from stereometer.core.files import replacing, write_json
from stereometer.core.runs.stored import Run
from stereometer.core.types import Estimate
from stereometer.wings.exports.metadata import tags

FIRST = ("run", "benchmark", "measure", "variant", "model", "limit", "of", "data_digest", "name")
OWN = tuple(field.name for field in fields(Estimate) if field.name not in ("name", "slice"))


def estimates(runs: Sequence[Run], folder: Path) -> list[Path]:
    """The columns of `Result.rows()` beside what its run says of all of them; slices have a column
    each, empty where an estimate does not fix them."""
    slices = dict.fromkeys(
        name for run in runs for estimate in run.result.estimates for name in estimate.slice
    )
    path = folder / "estimates.csv"
    with replacing(path) as file:
        columns = (*FIRST, *slices, *OWN, "notes")
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        for run in runs:
            known = tags(run.result)
            stated = {name: known[name] for name in ("limit", "of", "data_digest")}
            about = {"run": run.folder.name, **stated, "notes": " ".join(run.result.notes)}
            table.writerows(about | row for row in run.result.rows())
    return [path]


def metrics(runs: Sequence[Run], folder: Path) -> list[Path]:
    """`Result.metrics()` of every run, slices included, and its tags, by its folder's name."""
    path = folder / "metrics.json"
    records = []
    for run in runs:
        about = {"run": run.folder.name, "tags": tags(run.result), "notes": list(run.result.notes)}
        records.append({**about, "metrics": run.result.metrics(slices=True)})
    write_json(path, records)
    return [path]
