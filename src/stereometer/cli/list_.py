"""list: every name."""

from __future__ import annotations

from typing import Any

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.options import Json

MORE = {
    "models": "also a folder, a .gguf file, org/name of a hub, server:URL#model or sentiment:MODEL",
    "mitigation_methods": "cda with --dropout is the Dropout method",
}
"""What is said after the names of a kind."""


@command("Look", "list", "list --json")
def list_(*, json: Json = False) -> None:
    """List every benchmark, measure, model and baseline by name."""
    from stereometer import catalog
    from stereometer.mitigations.attribute import names as attributes
    from stereometer.shapes.comment.settings import SETTINGS
    from stereometer.types.backend import ForTesting

    sources = {name: catalog.find("benchmark", name) for name in catalog.names("benchmark")}
    backends = catalog.names("backend")
    entries = {name: catalog.find("backend", name) for name in backends}
    aids = [
        name
        for name, entry in entries.items()
        if isinstance(entry, type) and issubclass(entry, ForTesting)
    ]
    names = {
        "models": catalog.names("model"),
        "baselines": [*catalog.names("system"), *(name for name in backends if name not in aids)],
        "testing_aids": aids,
        "settings": list(SETTINGS),
        "mitigation_methods": catalog.names("mitigation"),
        "attributes": attributes(),
    }
    measures = [
        {"name": name, "source": catalog.find("method", name).source}
        for name in catalog.names("method")
    ]
    benchmarks = [_benchmark(name, source) for name, source in sources.items()]
    if json:
        document = {"schema": "list@2", "benchmarks": benchmarks, "measures": measures}
        render.print_json(document | names)
        return
    own = [_row(benchmark) for benchmark in benchmarks if not benchmark["origin"]]
    render.records(own, spare=("items", "title", "licence"))
    render.line()
    render.records([_pack(benchmark) for benchmark in benchmarks if benchmark["origin"]])
    render.line()
    render.records([{"measure": row["name"], "paper": row["source"]} for row in measures])
    titles = {
        "testing_aids": "testing aids",
        "settings": "settings of `ask`",
        "mitigation_methods": "methods of `mitigate`",
        "attributes": "attributes of `mitigate`",
    }
    for kind, listed in names.items():
        more = f" ({MORE[kind]})" if kind in MORE else ""
        render.line(f": {', '.join(listed)}{more}", bold=f"\n{titles.get(kind, kind)}")


def _benchmark(name: str, source: Any) -> dict[str, Any]:
    card = source.card
    return {
        "name": name,
        "title": card.title,
        "licence": card.licence,
        "language": card.language,
        "origin": card.origin,
        "verified": bool(card.digest),
        "items": dict(card.counts),
        "defaults": {shape: list(measures) for shape, measures in source.measures.items()},
        "like_paper": list(source.published),
    }


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
