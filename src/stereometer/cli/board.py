"""board: a leaderboard from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Data, Json, Loading, opening
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.exports.board.judge import Judged
    from stereometer.types import Estimate


@command("Look", "board build runs -o site", "board build accepted -o site --hidden parts")
def build(
    *,
    runs: Annotated[list[Path], "Folders of runs, or folders that hold them."],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pages.")],
    hidden: Annotated[
        list[Path] | None, "Folder of a hidden part: its published values; may be repeated."
    ] = None,
    json: Json = False,
) -> None:
    """Write a folder of pages that ranks stored runs; it opens from the disk."""
    from stereometer.exports.board.site import build as build_board

    board = build_board(list(runs), output, hidden or ())
    if json:
        render.print_json(board.as_json())
    rows = sum(len(table.entries) for table in board.tables)
    tables = numbers.count(len(board.tables), "table")
    say(f"{tables}, {numbers.count(rows, 'row')}. Open {output / 'index.html'}.")


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


@command("Look", "board judge ./weights --hidden parts --submitter 'Ada Example'")
def judge(
    *,
    model: Annotated[str, "The submitted model: a folder, a .gguf file or org/name."],
    hidden: Annotated[
        Path, typer.Option(help="Folder of the hidden items, from `split` or `study export`.")
    ],
    submitter: Annotated[
        str, typer.Option(help="Who submits the model; each submitter has a separate ladder.")
    ],
    measure: Annotated[str | None, "The measure; by default the one of each kind of item."] = None,
    variant: Annotated[str, "`sound`, or `paper` for what the authors' code computes."] = "sound",
    loading: Loading,
    json: Json = False,
) -> None:
    """Run a model on hidden items; a value is published only if it beats the submitter's last."""
    from stereometer.exports.board.judge import judge as judge_model
    from stereometer.types import Settings

    judged = judge_model(
        model,
        hidden,
        submitter=submitter,
        measure=measure,
        variant=Settings(variant).variant,  # type: ignore[arg-type]
        options=opening(loading),
    )
    render.document_or(json, judged, lambda: _print(judged))
    say(f"{judged.ledger_entries} entries in the ledger; it ends in {judged.ledger_digest[:16]}.")


def _print(judged: Judged) -> None:
    for each in judged.ladders:
        news = (
            "published" if each.climbed else f"not shown to be better: {each.model} stays published"
        )
        render.heading(each.submitter, each.measure, each.variant, f"{judged.model}: {news}")
        columns = (text("metric"), number("published"), number("n / asked"), text("verdict"))
        render.table(Table(columns, tuple(map(_cells, each.published))))


def _cells(row: Estimate) -> tuple[Cell, ...]:
    label = numbers.headed(row.name, row.ideal)
    used = number(f"{row.n} / {row.asked}")
    return text(label), number(numbers.with_interval(row)), used, text(numbers.short(row))
