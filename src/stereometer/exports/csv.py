"""`csv`: one table, a row for each estimate."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from stereometer.exports.metadata import tags
from stereometer.files import replacing
from stereometer.types import Estimate, Finished

FILE = "estimates.csv"
FIRST = ("run", "benchmark", "measure", "variant", "model", "limit", "of", "data_digest", "name")
OWN = tuple(field.name for field in fields(Estimate) if field.name not in ("name", "slice"))
LAST = (*OWN, "notes")


class Csv:
    """The columns of `Result.rows()` beside what its run says of all of them; slices have a column
    each, empty where an estimate does not fix them."""

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
                table.writerows(_of_run(finished) | row for row in finished.result.rows())
        return [folder / FILE]


def _of_run(finished: Finished) -> dict[str, str]:
    known = tags(finished.result)
    stated = {name: known[name] for name in ("limit", "of", "data_digest")}
    return {"run": finished.folder.name, **stated, "notes": " ".join(finished.result.notes)}


EXPORTER = Csv()
