"""The seam: what writes stored runs in one format, and the verb that finds it by name.

The catalog names exporters under `exporter`; other packages add theirs as entry points in the group
`stereometer.exporters`. An exporter gets runs: results, their folders and their scores, which it
reads one by one (`run.read()`). Texts of hidden items are in none of them, their terms not in the
results: an exporter must not read them from anywhere else. It says what `metadata.measured` says,
items used and asked, and the notes of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.runs.stored import Run, runs_of, shareable


class Exporter(Protocol):
    """Writes results in one format."""

    @property
    def name(self) -> str: ...

    def write(self, runs: Sequence[Run], folder: Path) -> list[Path]:
        """Writes into the folder, made where it is missing, and returns the files written."""
        ...


@runtime_checkable
class Itemised(Protocol):
    """An exporter that can also write items: those whose texts the run holds."""

    def itemised(self) -> Exporter: ...


def export_runs(
    name: str, paths: Sequence[str | Path], folder: str | Path, *, items: bool = False
) -> list[Path]:
    """Stored runs, or folders of them, written by the exporter of this name."""
    exporter: Exporter = catalog.find("exporter", name)
    if items:
        exporter = _itemised(exporter)
    return exporter.write([shareable(run) for run in runs_of(paths)], Path(folder))


def _itemised(exporter: Exporter) -> Exporter:
    if not isinstance(exporter, Itemised):
        raise UsageError(
            f"{exporter.name} holds no items. Only formats with a place for them take --items. "
            "Leave it out."
        )
    return exporter.itemised()
