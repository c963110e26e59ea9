"""Forced choice beside likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.findings.calibrate import Calibration, CalibrationBand

TITLES = ("difference", "n", "agree", "disagree", "orders differ", "agreement of the decided")


def print_calibration(calibration: Calibration) -> None:
    compared = f"{calibration.choice} against {calibration.likelihood}"
    render.heading(calibration.benchmark, calibration.model, compared, bold=2)
    columns = (text("items, by how sure the likelihood is"), *map(number, TITLES))
    render.table(Table(columns, tuple(_cells(row) for row in calibration.rows)))
    for name, values in calibration.numbers.items():
        shown = {
            reading: "none" if value is None else f"{value:.1f}"
            for reading, value in values.items()
        }
        render.line(
            f"{name}: likelihood {shown['likelihood']}, forced choice {shown['forced-choice']}"
        )
    kappa = "none" if calibration.kappa is None else f"{calibration.kappa:.2f}"
    p = numbers.p_words(calibration.p)
    render.aside(f"{calibration.verdict} ({p}; kappa {kappa}). Chance is 50.")


def _cells(row: CalibrationBand) -> tuple[Cell, ...]:
    rate = "none"
    if row.rate is not None:
        rate = f"{row.rate:.1f} [{row.rate_low:.1f}, {row.rate_high:.1f}]"
    counts = (str(count) for count in (row.n, row.agree, row.disagree, row.undecided))
    return (text(row.band), *map(number, (f"{row.low:.3g} - {row.high:.3g}", *counts, rate)))
