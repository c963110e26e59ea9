"""Views of an ensemble, of forced choice beside likelihood, and of a relation across systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.core.results_view import results
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Piece, View, aside, line, records

if TYPE_CHECKING:
    from stereometer.wings.relations.calibrate import Calibration, CalibrationBand
    from stereometer.wings.relations.ensemble.combine import Ensemble
    from stereometer.wings.relations.relate import Correlation, Relation


def ensemble(made: Ensemble, slices: bool = False) -> View:
    """The result, and the weights of its members."""
    weights = (
        line(f"weights, {task}: {', '.join(f'{name} {weight:.4g}' for name, weight in by.items())}")
        for task, by in made.weights.items()
    )
    return View(parts=(results([made.result], slices), *weights))


# ------------------------------------------------------------------ forced choice beside likelihood

COUNTS = ("difference", "n", "agree", "disagree", "orders differ", "agreement of the decided")


def calibration(made: Calibration) -> View:
    columns = (text("items, by how sure the likelihood is"), *map(number, COUNTS))
    parts: list[Piece] = [Table(columns, tuple(map(_band, made.rows)))]
    for name, values in made.numbers.items():
        likelihood, choice = (
            "none" if values[reading] is None else f"{values[reading]:.1f}"
            for reading in ("likelihood", "forced-choice")
        )
        parts.append(line(f"{name}: likelihood {likelihood}, forced choice {choice}"))
    kappa = "none" if made.kappa is None else f"{made.kappa:.2f}"
    p = numbers.p_words(made.p)
    parts += aside(f"{made.verdict} ({p}; kappa {kappa}). Chance is 50.")
    about = (f"{made.choice} against {made.likelihood}",)
    return View(made.benchmark, made.model, about, tuple(parts))


def _band(row: CalibrationBand) -> tuple[Cell, ...]:
    rate = "none"
    if row.rate is not None:
        rate = f"{row.rate:.1f} [{row.rate_low:.1f}, {row.rate_high:.1f}]"
    counts = (str(count) for count in (row.n, row.agree, row.disagree, row.undecided))
    return (text(row.band), *map(number, (f"{row.low:.3g} - {row.high:.3g}", *counts, rate)))


# ----------------------------------------------------------------------------------- across systems

RELATED = (
    "rho: Spearman, 95 % percentile intervals; p: permutation test, Holm over the correlations "
    "with size. Systems of one family, where the table of facts names it, are tested as one, by "
    "their means. A correlation is no cause."
)


def relation(made: Relation) -> View:
    rows = [
        {
            "system": point.system,
            "lms": point.lms,
            "ss": point.ss,
            "parameters": _size(point.parameters),
            "corpus, GB": _size(point.corpus_gb),
        }
        for point in made.points
    ]
    parts: tuple[Piece, ...] = (
        *records(rows),
        *(line(f"{label} is left out: it has no lms or no ss.") for label in made.left_out),
        *(line(_correlation(each)) for each in made.correlations),
        *aside(RELATED),
    )
    about = (made.measure, f"variant {made.variant}", f"{len(made.points)} systems")
    return View(made.benchmark, about=about, parts=parts, notes=made.notes)


def _size(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} M" if value >= 1e6 else f"{value:g}"


def _correlation(row: Correlation) -> str:
    pair = f"{row.first} with {row.second}"
    if row.rho is None:
        return f"{pair}: none, {row.why}."
    span = row.interval
    if row.low is not None:
        span = f"[{row.low:.2f}, {row.high:.2f}] over systems"
    terms = ""
    if row.terms:
        terms = (
            f", [{row.low_terms:.2f}, {row.high_terms:.2f}] over {row.terms} target terms, these "
            "systems held fixed"
        )
    p = numbers.p_words(row.p_adjusted)
    verdict = f"{row.verdict} ({p})" if p else row.verdict
    return f"{pair}: rho {row.rho:.2f}, n {row.n}, {span}{terms}; {verdict}."
