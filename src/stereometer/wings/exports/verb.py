"""The verb `export`: stored runs in a format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stereometer.core.options import Option, verb
from stereometer.core.types.shown import Told
from stereometer.wings.exports.exporter import export_runs

FEW = 8
"""More files than these are counted, not named; --json names all."""


@verb
def export(
    exporter: Annotated[str, "The format, such as `csv`."],
    *runs: Annotated[str | Path, "Folders of runs, or a folder that holds them."],
    output: Annotated[
        str | Path, Option("The folder to write to.", flags=("--output", "-o"))
    ] = Path("stereometer-export"),
    items: Annotated[bool, "Also the items, where a format has a place for them."] = False,
) -> Told:
    """Write the numbers of stored runs for another program."""
    files = [str(file) for file in export_runs(exporter, runs, output, items=items)]
    few = len(files) <= FEW
    return Told(
        f"Written to {', '.join(files)}." if few else f"{len(files)} files in {output}.",
        schema="export@1",
        exporter=exporter,
        files=files,
    )
