"""data add, pull and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer import catalog
from stereometer.benchmarks.fetch import Arrival, add, pull
from stereometer.benchmarks.folders import find, folders
from stereometer.cli.guard import say
from stereometer.cli.tables import console, print_json
from stereometer.errors import DataMissing


def add_command(name: str, files: Sequence[Path], anyway: bool, json: bool) -> None:
    _tell(add(catalog.find("benchmark", name), files, anyway), json)


def pull_command(name: str, urls: Sequence[str], json: bool) -> None:
    source = catalog.find("benchmark", name)
    for url in urls or source.card.urls:
        say(f"Fetching {url}")
    _tell(pull(source, urls), json)


def _tell(arrival: Arrival, json: bool) -> None:
    card = arrival.benchmark.card
    if json:
        print_json(
            {
                "schema": "data@1",
                "benchmark": card.name,
                "files": [str(file) for file in arrival.files],
                "differences": list(arrival.differences),
            }
        )
        return
    for difference in arrival.differences:
        say(f"differs from the released {card.name}: {difference}")
    say(
        f"{card.title}: kept in {arrival.files[0].parent}. Licence: {card.licence}. Cite: {card.citation}"
    )


def where_command(json: bool) -> None:
    places: dict[str, list[str]] = {}
    for name in catalog.names("benchmark"):
        source = catalog.find("benchmark", name)
        if source.card.files:
            try:
                places[name] = [str(file) for file in find(source)]
            except DataMissing:
                places[name] = []
    if json:
        print_json(
            {"schema": "where@1", "folders": [str(folder) for folder in folders()], "files": places}
        )
        return
    for name, files in places.items():
        console().print(f"{name}: {files[0] if files else 'not on this machine'}")
