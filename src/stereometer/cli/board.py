"""board: a leaderboard from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json


@command("Look", "board build runs -o site")
def build(
    *,
    runs: Annotated[list[Path], "Folders of runs, or folders of such."],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pages.")],
    json: Json = False,
) -> None:
    """Write a folder of pages that ranks stored runs; it opens from the disk."""
    from stereometer.exports.board.site import build as build_board

    board = build_board(list(runs), output)
    if json:
        render.print_json(board.as_json())
    rows = sum(len(table.entries) for table in board.tables)
    say(f"{len(board.tables)} tables, {rows} rows. Open {output / 'index.html'}.")
