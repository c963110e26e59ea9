"""Every name of the catalog as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stereometer.core.show.view import Piece, View, line, records

if TYPE_CHECKING:
    from stereometer.wings.look.names import EveryName

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
