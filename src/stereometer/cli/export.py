"""export: stored runs in a format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json

FEW = 8
"""More files than these are counted, not named; --json names all."""


@command(
    "Look",
    "export csv runs/before runs/after -o tables",
    "export model-card runs/release -o card",
)
def export(
    *,
    exporter: Annotated[str, "The format, such as `csv`."],
    runs: Annotated[list[Path], "Folders of runs, or a folder that holds them."],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "stereometer-export"
    ),
    items: Annotated[
        bool, typer.Option("--items", help="Also the items, where a format has a place for them.")
    ] = False,
    json: Json = False,
) -> None:
    """Write the numbers of stored runs for another program."""
    from stereometer.exports.exporter import export

    files = [str(file) for file in export(exporter, runs, output, items=items)]
    if json:
        render.print_json({"schema": "export@1", "exporter": exporter, "files": files})
    else:
        few = len(files) <= FEW
        say(f"Written to {', '.join(files)}." if few else f"{len(files)} files in {output}.")
