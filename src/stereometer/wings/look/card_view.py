"""A benchmark's card, and the statistics its paper prints, as text and tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stereometer.core.show.view import Paragraph, Piece, View, bullets, extremes, line, records

if TYPE_CHECKING:
    from stereometer.core.benchmarks.benchmark import Benchmark, Card
    from stereometer.wings.look.show import CardShown


def card(shown: CardShown, slices: bool = False) -> View:
    parts = [*_card(shown.card)]
    if shown.benchmark is not None:
        parts += _source(shown.benchmark)
        for rows in (shown.statistics or {}).values():
            parts += (line(), *records(rows))
    if shown.terms:
        ends = "annotator agreement by target term, lowest and highest (all of them: --json)"
        parts += (line(f"\n{ends}\n"), *records(extremes(shown.terms)))
    return View(parts=tuple(parts))


def _card(card: Card) -> Iterator[Piece]:
    where = [card.country, card.origin] if card.origin else []
    said = ", ".join((str(card.year), card.language, *where, card.licence))
    yield line(f" ({said})", bold=card.title)
    yield line(f"{card.citation}\n{card.population}")
    counts = ", ".join(f"{count} of shape {shape}" for shape, count in card.counts.items())
    if counts:
        yield line(f"items: {counts}\ncontent sha256: {card.digest}")
    yield line(f"available from: {card.get}")
    yield from bullets("known problems", card.known_problems)
    yield from bullets("must not be concluded", card.not_concluded)


def _source(benchmark: Benchmark) -> Iterator[Paragraph]:
    state = "as released" if benchmark.as_released else "NOT as released"
    if not benchmark.as_released and not benchmark.card.digest:
        state = "no released version to compare with"
    yield line(f"read from {benchmark.source}: content {benchmark.digest[:16]}, {state}")
    for shape, measures in benchmark.measures.items():
        if shape in benchmark.shapes:
            first = f"{', else '.join(measures)} (the first that a model can answer)"
            yield line(f"measured by default ({shape}): {first}")
    yield from bullets("notes", benchmark.notes)
