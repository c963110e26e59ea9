"""`metrics`: for trackers, the numbers of each run as a flat record, with tags beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stereometer.exports.metadata import tags
from stereometer.files import write_json
from stereometer.runs.stored import Run

FILE = "metrics.json"


class Metrics:
    """`Result.metrics()` of every run, slices included, under the name of its folder."""

    name = "metrics"

    def write(self, runs: Sequence[Run], folder: Path) -> list[Path]:
        write_json(folder / FILE, [_record(run) for run in runs])
        return [folder / FILE]


def _record(run: Run) -> dict[str, Any]:
    result = run.result
    return {
        "run": run.folder.name,
        "tags": tags(result),
        "notes": list(result.notes),
        "metrics": result.metrics(slices=True),
    }


EXPORTER = Metrics()
