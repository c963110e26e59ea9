"""submit: a run for somebody else's board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json


@command(
    "Look",
    "submit runs/stereoset-gpt2-cat-likelihood -o bundle.zip",
    "submit runs/stereoset-gpt2-cat-likelihood -o bundle.zip --sign ~/.ssh/id_ed25519",
)
def submit(
    *,
    run: Annotated[Path, "The folder of a run."],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The bundle: a folder, or a .zip.")
    ],
    sign: Annotated[Path | None, "An SSH key to sign the bundle with, by ssh-keygen."] = None,
    json: Json = False,
) -> None:
    """Write a run as a bundle for a leaderboard: scores without texts, and digests."""
    from stereometer.exports.board.bundle import submit as write_bundle

    manifest = write_bundle(run, output, sign)
    if json:
        render.print_json(manifest.as_json())
    signed = "signed" if sign else "not signed"
    say(f"Written to {output}, {signed}. It holds scores and digests, no texts.")
