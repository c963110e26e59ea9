"""`csv`: one table, a row for each estimate."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from stereometer.exports.metadata import tags
from stereometer.files import replacing
from stereometer.runs.stored import Run
from stereometer.types import Estimate

FILE = "estimates.csv"
FIRST = ("run", "benchmark", "measure", "variant", "model", "limit", "of", "data_digest", "name")
OWN = tuple(field.name for field in fields(Estimate) if field.name not in ("name", "slice"))
LAST = (*OWN, "notes")


class Csv:
    """The columns of `Result.rows()` beside what its run says of all of them; slices have a column
    each, empty where an estimate does not fix them."""

    name = "csv"

    def write(self, runs: Sequence[Run], folder: Path) -> list[Path]:
        slices = dict.fromkeys(
            name for run in runs for estimate in run.result.estimates for name in estimate.slice
        )
        with replacing(folder / FILE) as file:
            table = csv.DictWriter(file, (*FIRST, *slices, *LAST), lineterminator="\n")
            table.writeheader()
            for run in runs:
                table.writerows(_of_run(run) | row for row in run.result.rows())
        return [folder / FILE]


def _of_run(run: Run) -> dict[str, str]:
    known = tags(run.result)
    stated = {name: known[name] for name in ("limit", "of", "data_digest")}
    return {"run": run.folder.name, **stated, "notes": " ".join(run.result.notes)}


EXPORTER = Csv()
