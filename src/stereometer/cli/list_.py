"""Every name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.verbs.names import EveryName

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


def print_names(names: EveryName) -> None:
    own = [_row(benchmark) for benchmark in names.benchmarks if not benchmark["origin"]]
    render.records(own, spare=("items", "title", "licence"))
    render.line()
    render.records([_pack(benchmark) for benchmark in names.benchmarks if benchmark["origin"]])
    render.line()
    render.records([{"measure": row["name"], "paper": row["source"]} for row in names.measures])
    for kind, listed in names.others.items():
        more = f" ({MORE[kind]})" if kind in MORE else ""
        render.line(f": {', '.join(listed)}{more}", bold=f"\n{TITLES.get(kind, kind)}")


def _items(benchmark: dict[str, Any]) -> str:
    return ", ".join(f"{count} {shape}" for shape, count in benchmark["items"].items())


def _pack(benchmark: dict[str, Any]) -> dict[str, str]:
    return {
        "in other languages": benchmark["name"],
        "language": benchmark["language"],
        "origin": benchmark["origin"],
        "items": _items(benchmark),
        "tried": "yes" if benchmark["verified"] else "no",
    }


def _row(benchmark: dict[str, Any]) -> dict[str, str]:
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
