"""list, show and cache: what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from stereometer import catalog
from stereometer.api import open_named
from stereometer.benchmarks import crows_pairs, stereoset
from stereometer.benchmarks.abc import items as abc_items
from stereometer.benchmarks.benchmark import Benchmark, Card
from stereometer.cli.guard import say
from stereometer.cli.tables import console, print_json, rows_table
from stereometer.errors import DataMissing
from stereometer.measures.recognition.settings import SETTINGS
from stereometer.runs.cache import Cache


def list_command(json: bool) -> None:
    cards = {name: catalog.find("benchmark", name).card for name in catalog.names("benchmark")}
    found: dict[str, Any] = {
        "schema": "list@1",
        "benchmarks": [
            {"name": name, "title": card.title, "licence": card.licence, "items": dict(card.counts)}
            for name, card in cards.items()
        ],
        "measures": catalog.names("measure"),
        "models": [*catalog.names("model"), *catalog.names("backend")],
        "baselines": catalog.names("system"),
        "settings": list(SETTINGS),
    }
    if json:
        print_json(found)
        return
    table = Table(
        "benchmark", "title", "items", "licence", box=None, pad_edge=False, header_style="bold"
    )
    for name, card in cards.items():
        table.add_row(
            name,
            card.title,
            ", ".join(f"{count} {shape}" for shape, count in card.counts.items()),
            card.licence,
        )
    console().print(table)
    for kind, words in {
        "measures": "",
        "models": "",
        "baselines": "",
        "settings": " of `ask`",
    }.items():
        console().print(f"\n[bold]{kind}[/]{words}: {', '.join(found[kind])}")


def show_command(name: str, data: Path | None, json: bool) -> None:
    """The card always; statistics where the data are here, otherwise how to get them and exit 4."""
    try:
        benchmark = open_named(name, data)
    except DataMissing:
        if not json:
            _print_card(catalog.find("benchmark", name).card)
        raise
    tables = {
        shape: _statistics(benchmark, shape)
        for shape in benchmark.shapes
        if shape in benchmark.measures
    }
    cats: Any = benchmark.shapes.get("cat", ())
    terms = stereoset.term_agreement(cats)
    if json:
        found = {
            "card": asdict(benchmark.card),
            "digest": benchmark.digest,
            "as_released": benchmark.as_released,
            "notes": benchmark.notes,
        }
        print_json({"schema": "show@1", **found, "statistics": tables, "term_agreement": terms})
        return
    _print_card(benchmark.card)
    _print_source(benchmark)
    for rows in tables.values():
        _print_rows(rows)
    if terms:
        console().print(
            "\nannotator agreement by target term, lowest and highest (all of them: --json)"
        )
        _print_rows(terms[:5] + terms[-5:] if len(terms) > 10 else terms)


def _statistics(benchmark: Benchmark, shape: str) -> list[dict[str, Any]]:
    items: Any = benchmark.items(shape)
    if shape == "trait":
        return abc_items.statistics(items)
    return stereoset.statistics(items) if shape == "cat" else crows_pairs.statistics(items)


def _print_card(card: Card) -> None:
    out = console()
    out.print(
        f"[bold]{escape(card.title)}[/] ({card.year}, {card.language}, {card.licence})\n{escape(card.citation)}\n{escape(card.population)}"
    )
    counts = ", ".join(f"{count} of shape {shape}" for shape, count in card.counts.items())
    if counts:
        out.print(f"items: {counts}\ncontent sha256: {card.digest}")
    out.print(f"to be had from: {escape(card.get)}")
    _print_lists(
        ("known problems", card.known_problems), ("must not be concluded", card.not_concluded)
    )


def _print_source(benchmark: Benchmark) -> None:
    state = (
        "as released"
        if benchmark.as_released
        else "no released version to compare with"
        if not benchmark.card.digest
        else "NOT as released"
    )
    console().print(
        f"read from {escape(benchmark.source)}: content {benchmark.digest[:16]}, {state}"
    )
    _print_lists(("notes", benchmark.notes))


def _print_lists(*lists: tuple[str, Sequence[str]]) -> None:
    for title, lines in lists:
        if lines:
            console().print(f"[bold]{title}[/]")
            for line in lines:
                console().print(f"  - {escape(line)}")


def _print_rows(rows: list[dict[str, Any]]) -> None:
    console().print()
    console().print(rows_table(rows))


def cache_info_command(json: bool) -> None:
    with Cache() as cache:
        info = cache.info()
    if json:
        print_json({"schema": "cache@1", **info})
    else:
        console().print(
            f"{info['path']}: {info['answers']} answers, {int(info['bytes']) / 1e6:.1f} MB of at most {int(info['cap']) / 1e6:.0f} MB"
        )


def cache_clear_command(json: bool) -> None:
    with Cache() as cache:
        count = cache.clear()
    if json:
        print_json({"schema": "cache-cleared@1", "answers": count})
    else:
        say(f"{count} answers forgotten.")
