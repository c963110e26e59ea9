"""`metrics`: for trackers, the numbers of each run as a flat record, with tags beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stereometer.exports.metadata import tags
from stereometer.files import write_json
from stereometer.types import Finished

FILE = "metrics.json"


class Metrics:
    """`Result.metrics()` of every run, slices included, under the name of its folder."""

    name = "metrics"

    def write(self, results: Sequence[Finished], folder: Path) -> list[Path]:
        write_json(folder / FILE, [_record(finished) for finished in results])
        return [folder / FILE]


def _record(finished: Finished) -> dict[str, Any]:
    result = finished.result
    return {
        "run": finished.folder.name,
        "tags": tags(result),
        "notes": list(result.notes),
        "metrics": result.metrics(slices=True),
    }


EXPORTER = Metrics()
