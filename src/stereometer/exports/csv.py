"""`csv`: one table, a row for each estimate."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from stereometer.files import replacing
from stereometer.types import Estimate, Finished

FILE = "estimates.csv"
FIRST = ("run", "benchmark", "measure", "variant", "model", "name")
LAST = tuple(field.name for field in fields(Estimate) if field.name not in ("name", "slice"))


class Csv:
    """The columns of `Result.rows()` after the name of the run's folder; slices have a column each,
    empty where an estimate does not fix them."""

    name = "csv"

    def write(self, results: Sequence[Finished], folder: Path) -> list[Path]:
        slices = dict.fromkeys(
            name
            for finished in results
            for estimate in finished.result.estimates
            for name in estimate.slice
        )
        with replacing(folder / FILE) as file:
            table = csv.DictWriter(file, (*FIRST, *slices, *LAST), lineterminator="\n")
            table.writeheader()
            for finished in results:
                run = {"run": finished.folder.name}
                table.writerows(run | row for row in finished.result.rows())
        return [folder / FILE]


EXPORTER = Csv()
