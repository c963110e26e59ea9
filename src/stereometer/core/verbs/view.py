"""Views of names, of a benchmark's card, and of what is kept on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stereometer.core.show.view import Paragraph, Piece, View, bullets, extremes, line, records

if TYPE_CHECKING:
    from stereometer.core.benchmarks.benchmark import Benchmark, Card
    from stereometer.core.verbs.cache import CacheInfo
    from stereometer.core.verbs.data import Places
    from stereometer.core.verbs.names import EveryName
    from stereometer.core.verbs.show import CardShown


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


MORE = {
    "models": "also a folder, a .gguf file, org/name of a hub, server:URL#model or sentiment:MODEL",
    "mitigation_methods": "cda with --dropout is the Dropout method",
}
"""What is said after the names of a kind."""
TITLES = {
    "testing_aids": "testing aids",
    "settings": "settings of `ask`",
    "mitigation_methods": "methods of `mitigate`",
    "attributes": "attributes of `mitigate`",
    "exporters": "formats of `export`",
}


def names(every: EveryName) -> View:
    own = [_benchmark(each) for each in every.benchmarks if not each["origin"]]
    packs = [_pack(each) for each in every.benchmarks if each["origin"]]
    measures = [{"measure": row["name"], "paper": row["source"]} for row in every.measures]
    others = (
        line(
            f": {', '.join(listed)}{f' ({MORE[kind]})' if kind in MORE else ''}",
            bold=f"\n{TITLES.get(kind, kind)}",
        )
        for kind, listed in every.others.items()
    )
    tables: tuple[Piece, ...] = (
        *records(own, ("items", "title", "licence")),
        line(),
        *records(packs),
        line(),
    )
    return View(parts=(*tables, *records(measures), *others))


def _items(benchmark: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {shape}" for shape, count in benchmark["items"].items())


def _pack(benchmark: Mapping[str, Any]) -> dict[str, str]:
    return {
        "in other languages": benchmark["name"],
        "language": benchmark["language"],
        "origin": benchmark["origin"],
        "items": _items(benchmark),
        "tried": "yes" if benchmark["verified"] else "no",
    }


def _benchmark(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """The default is the first measure that a model can answer."""
    defaults = (measures[0] for measures in benchmark["defaults"].values() if measures)
    return {
        "benchmark": benchmark["name"],
        "title": benchmark["title"],
        "items": _items(benchmark),
        "default": ", ".join(defaults),
        "like its paper": ", ".join(benchmark["like_paper"]),
        "licence": benchmark["licence"],
    }


# ------------------------------------------------------------------------------- what is installed


def cache(info: CacheInfo) -> View:
    size, cap = info.bytes / 1e6, info.cap / 1e6
    kept = f"{info.path}: {info.answers} answers, {size:.1f} MB of at most {cap:.0f} MB"
    return View(parts=(line(kept),))


def places(known: Places) -> View:
    absent = "not on this machine"
    every = known.files.items()
    return View(
        parts=tuple(line(f"{name}: {files[0] if files else absent}") for name, files in every)
    )
