"""Correlations across systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.show import numbers

if TYPE_CHECKING:
    from stereometer.findings.relate import Correlation, Relation

LEGEND = (
    "rho: Spearman, 95 % percentile intervals; p: permutation test, Holm over the correlations "
    "with size. Systems of one family, where the table of facts names it, are tested as one, by "
    "their means. A correlation is no cause."
)


def print_relation(relation: Relation) -> None:
    systems, variant = f"{len(relation.points)} systems", f"variant {relation.variant}"
    render.heading(relation.benchmark, relation.measure, variant, systems)
    render.notes(relation.notes)
    render.records(
        [
            {
                "system": point.system,
                "lms": point.lms,
                "ss": point.ss,
                "parameters": _size(point.parameters),
                "corpus, GB": _size(point.corpus_gb),
            }
            for point in relation.points
        ]
    )
    for label in relation.left_out:
        render.line(f"{label} is left out: it has no lms or no ss.")
    for correlation in relation.correlations:
        render.line(_sentence(correlation))
    render.aside(LEGEND)


def _size(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} M" if value >= 1e6 else f"{value:g}"


def _sentence(correlation: Correlation) -> str:
    pair = f"{correlation.first} with {correlation.second}"
    if correlation.rho is None:
        return f"{pair}: none, {correlation.why}."
    span = correlation.interval
    if correlation.low is not None:
        span = f"[{correlation.low:.2f}, {correlation.high:.2f}] over systems"
    terms = ""
    if correlation.terms:
        terms = (
            f", [{correlation.low_terms:.2f}, {correlation.high_terms:.2f}] over "
            f"{correlation.terms} target terms, these systems held fixed"
        )
    p = numbers.p_words(correlation.p_adjusted)
    verdict = f"{correlation.verdict} ({p})" if p else correlation.verdict
    return f"{pair}: rho {correlation.rho:.2f}, n {correlation.n}, {span}{terms}; {verdict}."
