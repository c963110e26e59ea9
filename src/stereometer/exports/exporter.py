"""The seam: what writes stored runs in one format, and the verb that finds it by name.

The catalog names exporters under `exporter`; other packages add theirs as entry points in the group
`stereometer.exporters`. An exporter gets results and the folders of their runs. Texts of hidden
items are in neither, and an exporter must not read them from anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from stereometer import catalog
from stereometer.runs.counted import finished_in
from stereometer.types import Finished


class Exporter(Protocol):
    """Writes results in one format."""

    @property
    def name(self) -> str: ...

    def write(self, results: Sequence[Finished], folder: Path) -> list[Path]:
        """Writes into the folder, made where it is missing, and returns the files written."""
        ...


def export(name: str, paths: Sequence[str | Path], folder: str | Path) -> list[Path]:
    """Stored runs, or folders of such, written by the exporter of this name; older ones
    are counted anew."""
    exporter: Exporter = catalog.find("exporter", name)
    return exporter.write(finished_in(paths), Path(folder))
