"""calibrate: forced choice against likelihood, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stereometer.cli.guard import guarded
from stereometer.cli.options import Json

if TYPE_CHECKING:
    from stereometer.findings.calibrate import Calibration


@guarded
def calibrate(
    likelihood: Annotated[
        Path, typer.Argument(help="The folder of a run of a likelihood measure.")
    ],
    choice: Annotated[
        Path,
        typer.Argument(
            help="The folder of a run of forced choice, of the same model on the same items."
        ),
    ],
    json: Json = False,
) -> None:
    """How far the forced choice of a model agrees with its likelihoods, item by item."""
    from stereometer.cli.tables import print_json
    from stereometer.findings import calibrate as calibration

    found = calibration.calibrate(likelihood, choice)
    if json:
        print_json(found.as_json())
    else:
        print_calibration(found)


def print_calibration(found: Calibration) -> None:
    from rich.markup import escape
    from rich.table import Table

    from stereometer.cli.tables import console, p_value

    out = console()
    out.print(
        f"\n[bold]{found.benchmark}[/] · [bold]{escape(found.model)}[/] · {found.choice} against {found.likelihood}"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (
        "items, by how sure the likelihood is",
        "difference",
        "n",
        "agree",
        "disagree",
        "orders differ",
        "agreement of the decided",
    ):
        table.add_column(title, justify="left" if title.startswith("items") else "right")
    for row in found.rows:
        rate = (
            "none"
            if row.rate is None
            else f"{row.rate:.1f} \\[{row.rate_low:.1f}, {row.rate_high:.1f}]"
        )
        table.add_row(
            row.band,
            f"{row.low:.3g} - {row.high:.3g}",
            str(row.n),
            str(row.agree),
            str(row.disagree),
            str(row.undecided),
            rate,
        )
    out.print(table)
    for name, values in found.numbers.items():
        shown = {
            reading: "none" if value is None else f"{value:.1f}"
            for reading, value in values.items()
        }
        out.print(
            f"{name}: likelihood {shown['likelihood']}, forced choice {shown['forced-choice']}"
        )
    kappa = "none" if found.kappa is None else f"{found.kappa:.2f}"
    out.print(f"[dim]{escape(found.verdict)} ({p_value(found.p)}; kappa {kappa}). Chance is 50.[/]")
