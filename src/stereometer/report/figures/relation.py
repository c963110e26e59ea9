"""Across at least three systems: does ss rise with lms, and either with the size of a model or of
its training text?"""

from __future__ import annotations

from stereometer.findings.relate import Correlation, Relation, related
from stereometer.report.charts.scatter import Mark, scatter
from stereometer.report.systems import Group
from stereometer.report.tables import TESTED, tabled
from stereometer.show import numbers
from stereometer.show.figure import Chart, Figure
from stereometer.show.table import Table

SIZES = {"parameters": "size", "corpus_gb": "training text"}
LEAD = (
    "Each mark is a system; a larger mark is a larger model, one of unknown size has the smallest. "
    "rho is Spearman's rank correlation across the systems. Systems that share data or design are "
    "not independent, and a correlation is no cause."
)


def relation(group: Group) -> Figure:
    results = [system.result for system in group.systems]
    by_label = {system.label: system for system in group.systems}
    across = related(results, list(by_label), group.facts, group.settings)
    marks = [Mark(by_label[point.system], point) for point in across.points]
    known = [row for row in across.correlations if row.rho is not None]
    charts = tuple(
        Chart(
            f"{row.second} against {SIZES.get(row.first, row.first)}",
            _summary(row),
            scatter(marks, row.first, row.second),
        )
        for row in known
    )
    lead = (LEAD, *map(_summary, known[:1]))
    legend = tuple(system.key for system in group.systems)
    chooser = "Shown" if len(charts) > 1 else ""
    shown = (_table(across),) if known else ()
    return Figure(f"{group.id}-relation", "Across systems", lead, charts, shown, chooser, legend)


def _summary(row: Correlation) -> str:
    systems, terms = (
        numbers.span(row.low, row.high, 2),
        numbers.span(row.low_terms, row.high_terms, 2),
    )
    over = f" {systems} over systems" if systems else ""
    over += f", {terms} over {row.terms} target terms with the systems held fixed" if terms else ""
    count = numbers.count(row.n, "system")
    name = f"{row.second} with {SIZES.get(row.first, row.first)}"
    return f"{name}: rho {numbers.number(row.rho or 0.0, 2)}{over}, {count}: {row.verdict}."


def _table(across: Relation) -> Table:
    """Every correlation, and why one is missing; then the numbers they are of."""
    heads = ("Across systems", "#rho", "#over systems", "#over terms", "#systems")
    rows = [
        (
            f"{row.first} with {row.second}",
            numbers.number(row.rho, 2),
            numbers.span(row.low, row.high, 2) or row.interval,
            numbers.span(row.low_terms, row.high_terms, 2),
            str(row.n),
            row.why or row.verdict or "",
            numbers.p_value(row.p_adjusted),
        )
        for row in across.correlations
    ]
    return tabled((*heads, *TESTED), rows, "Spearman's rho across systems", _sizes(across))


def _sizes(across: Relation) -> str:
    known = []
    for point in across.points:
        size = "size not known"
        if point.parameters:
            size = f"{point.parameters / 1e6:,.0f} million parameters"
        corpus = f", {point.corpus_gb:g} GB" if point.corpus_gb else ""
        source = f" ({point.source})" if point.source else ""
        known.append(f"{point.system} {size}{corpus}{source}")
    names = numbers.listed(list(across.left_out)) if across.left_out else ""
    left_out = f" Left out, without lms or ss: {names}." if names else ""
    return f"Sizes: {'; '.join(known)}.{left_out}"
