"""A benchmark's card and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.benchmarks.benchmark import Benchmark, Card
    from stereometer.verbs.show import CardShown, Rows

ENDS = 5
"""Terms shown from either end of a ranking."""


def print_card(shown: CardShown, slices: bool = False) -> None:
    _print_card(shown.card)
    if shown.benchmark is not None:
        _print_source(shown.benchmark)
        _print_statistics(shown.statistics or {}, shown.terms)


def _print_statistics(statistics: Mapping[str, Rows], terms: Rows) -> None:
    for rows in statistics.values():
        render.line()
        render.records(rows)
    if terms:
        render.line(
            "\nannotator agreement by target term, lowest and highest (all of them: --json)\n"
        )
        render.records(extremes(terms))


def extremes(rows: Rows) -> Rows:
    return [*rows[:ENDS], *rows[-ENDS:]] if len(rows) > 2 * ENDS else rows


def _print_card(card: Card) -> None:
    where = [card.country, card.origin] if card.origin else []
    said = ", ".join((str(card.year), card.language, *where, card.licence))
    render.line(f" ({said})", bold=card.title)
    render.line(f"{card.citation}\n{card.population}")
    counts = ", ".join(f"{count} of shape {shape}" for shape, count in card.counts.items())
    if counts:
        render.line(f"items: {counts}\ncontent sha256: {card.digest}")
    render.line(f"available from: {card.get}")
    render.bullets("known problems", card.known_problems)
    render.bullets("must not be concluded", card.not_concluded)


def _print_source(benchmark: Benchmark) -> None:
    state = "as released" if benchmark.as_released else "NOT as released"
    if not benchmark.as_released and not benchmark.card.digest:
        state = "no released version to compare with"
    render.line(f"read from {benchmark.source}: content {benchmark.digest[:16]}, {state}")
    for shape, measures in benchmark.measures.items():
        if shape in benchmark.shapes:
            first = ", else ".join(measures)
            render.line(
                f"measured by default ({shape}): {first} (the first that a model can answer)"
            )
    render.bullets("notes", benchmark.notes)
