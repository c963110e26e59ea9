"""report: one self-contained page of stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json


@command("Look", "report", "report runs/before runs/after -o report.html")
def report(
    *,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            help="Folders of runs, or a folder that holds them; by default stereometer-runs.",
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "stereometer-report.html"
    ),
    json: Json = False,
) -> None:
    """Write one self-contained HTML page."""
    from stereometer.report import write_report
    from stereometer.report.attachments import folder_of
    from stereometer.runs.store import HOME

    written = write_report(runs or [HOME], output)
    beside = folder_of(written)
    if json:
        document = {"schema": "report@1", "file": str(written), "bytes": written.stat().st_size}
        render.print_json(document)
        return
    more = f" All items are in {beside}." if beside.exists() else ""
    say(f"Written to {written}.{more} Open it in any browser; it needs no network.")
