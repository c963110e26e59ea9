"""list: every name."""

from __future__ import annotations

from typing import Any

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.options import Json


@command("Look", "list", "list --json")
def list_(*, json: Json = False) -> None:
    """List every benchmark, measure, model and baseline by name."""
    from stereometer import catalog
    from stereometer.shapes.comment.settings import SETTINGS

    cards = {name: catalog.find("benchmark", name).card for name in catalog.names("benchmark")}
    names: dict[str, Any] = {
        "measures": catalog.names("method"),
        "models": [*catalog.names("model"), *catalog.names("backend")],
        "baselines": catalog.names("system"),
        "settings": list(SETTINGS),
    }
    if json:
        benchmarks = [
            {"name": name, "title": card.title, "licence": card.licence, "items": dict(card.counts)}
            for name, card in cards.items()
        ]
        render.print_json({"schema": "list@1", "benchmarks": benchmarks, **names})
        return
    render.records(
        [
            {
                "benchmark": name,
                "title": card.title,
                "items": ", ".join(f"{count} {shape}" for shape, count in card.counts.items()),
                "licence": card.licence,
            }
            for name, card in cards.items()
        ]
    )
    for kind, listed in names.items():
        of = " of `ask`" if kind == "settings" else ""
        render.line(f"{of}: {', '.join(listed)}", bold=f"\n{kind}")
