"""show: a benchmark's card and statistics, or a stored run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.options import Data, Json, Slices
from stereometer.errors import DataMissing

if TYPE_CHECKING:
    from stereometer.benchmarks.benchmark import Benchmark, Card

Shown = Annotated[str, "A benchmark, a file of your own items, or a folder of a run or of runs."]
Rows = Sequence[Mapping[str, Any]]
ENDS = 5
"""Terms shown from either end of a ranking."""


@command("Look", "show stereoset", "show my-pairs.csv", "show runs/before")
def show(*, name: Shown, data: Data = None, slices: Slices = False, json: Json = False) -> None:
    """Show a benchmark's card and the statistics its paper prints, or a stored run."""
    from stereometer import catalog
    from stereometer.runs.open import open_benchmark

    if Path(name).is_dir() and not catalog.has("benchmark", name):
        _show_runs(Path(name), json, slices)
        return
    try:
        benchmark = open_benchmark(name, data)
    except DataMissing:
        # The card is shown anyway; the error says how to get the data.
        if not json:
            _print_card(catalog.find("benchmark", name).card)
        raise
    statistics, terms = _statistics(benchmark)
    if json:
        document = {
            "schema": "show@1",
            "card": asdict(benchmark.card),
            "digest": benchmark.digest,
            "as_released": benchmark.as_released,
            "notes": benchmark.notes,
            "statistics": statistics,
            "term_agreement": terms,
        }
        render.print_json(document)
        return
    _print_card(benchmark.card)
    _print_source(benchmark)
    _print_statistics(statistics, terms)


def _show_runs(folder: Path, json: bool, slices: bool) -> None:
    from stereometer.runs.counted import load_counted
    from stereometer.runs.store import runs_in

    stored = [load_counted(run) for run in runs_in(folder)]
    if stored[1:]:
        render.several(stored, json, slices)
    else:
        render.result(stored[0], json, slices)


def _statistics(benchmark: Benchmark) -> tuple[Mapping[str, Rows], Rows]:
    """By shape what its paper prints, and how far annotators agree on each term."""
    from stereometer import catalog

    shapes = [shape for shape in benchmark.shapes if shape in benchmark.measures]
    statistics = {
        shape: catalog.shape(shape).statistics(benchmark.items(shape)) for shape in shapes
    }
    agreement = (catalog.shape(shape).term_agreement(benchmark.items(shape)) for shape in shapes)
    return statistics, [row for rows in agreement for row in rows]


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
