"""board: a leaderboard from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Data, Json, Loading, opening


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


@command(
    "Look",
    "board check bundle.zip",
    "board check bundle.zip --model ./weights --into accepted --signers allowed_signers",
)
def check(
    *,
    bundle: Annotated[Path, "A bundle from `stereometer submit`: a folder or a .zip."],
    data: Data = None,
    signers: Annotated[
        Path | None, "OpenSSH's file of allowed signers; the bundle must be signed by one of them."
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="The weights that the bundle names: run some items again."
        ),
    ] = None,
    items: Annotated[int, typer.Option(min=1, help="Items that are run again.")] = 50,
    into: Annotated[
        Path | None, "Take the run into this folder, with an entry in its ledger of checks."
    ] = None,
    loading: Loading,
    json: Json = False,
) -> None:
    """Check a bundle from somebody else, and give it a tier: reported or reproduced."""
    from stereometer.exports.board.check import check as check_bundle

    checked = check_bundle(
        bundle,
        data=data,
        signers=signers,
        model=model,
        options=opening(loading),
        items=items,
        into=into,
    )
    if json:
        render.print_json(checked.as_json())
    by = f" Signed by {checked.signer}." if checked.signer else " Not signed."
    place = f" Taken into {into / checked.run}." if into and checked.run else ""
    say(f"{checked.model} on {checked.benchmark}: {checked.tier}.{by}{place}")
