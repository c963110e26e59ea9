"""data add, pull and where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json
from stereometer.errors import DataMissing

if TYPE_CHECKING:
    from stereometer.benchmarks.fetch import Arrival

Name = Annotated[str, "A benchmark."]


@command("Data", "data add stereoset dev.json")
def add(
    *,
    name: Name,
    files: Annotated[list[Path], "Its file, its files, or the folder that holds them."],
    anyway: Annotated[bool, "Keep it even if it differs from what was released."] = False,
    json: Json = False,
) -> None:
    """Check a file you have and keep it in the user data folder."""
    from stereometer import catalog
    from stereometer.benchmarks import fetch

    _print(fetch.add(catalog.find("benchmark", name), files, anyway), json)


@command("Data", "data pull stereoset")
def pull(
    *,
    name: Name,
    url: Annotated[
        list[str] | None, "Fetch from here instead; repeat for each file, in the card's order."
    ] = None,
    json: Json = False,
) -> None:
    """Fetch a data set from its public place, pinned to a commit."""
    from stereometer import catalog
    from stereometer.benchmarks import fetch

    source = catalog.find("benchmark", name)
    for address in url or source.card.urls:
        say(f"Fetching {address}")
    _print(fetch.pull(source, url or []), json)


@command("Data", "data where")
def where(*, json: Json = False) -> None:
    """Say which data sets are on this machine, and in which folder."""
    from stereometer import catalog
    from stereometer.benchmarks.folders import find, folders

    places: dict[str, list[str]] = {}
    for name in catalog.names("benchmark"):
        source = catalog.find("benchmark", name)
        if source.card.files:
            try:
                places[name] = [str(file) for file in find(source)]
            except DataMissing:
                places[name] = []
    if json:
        searched = [str(folder) for folder in folders()]
        render.print_json({"schema": "where@1", "folders": searched, "files": places})
        return
    for name, files in places.items():
        render.line(f"{name}: {files[0] if files else 'not on this machine'}")


def _print(arrival: Arrival, json: bool) -> None:
    card = arrival.benchmark.card
    if json:
        files, differences = [str(file) for file in arrival.files], list(arrival.differences)
        document = {"schema": "data@1", "benchmark": card.name, "files": files}
        render.print_json(document | {"differences": differences})
        return
    for difference in arrival.differences:
        say(f"differs from the released {card.name}: {difference}")
    say(f"{card.title}: kept in {arrival.files[0].parent}.")
    say(f"Licence: {card.licence}. Cite: {card.citation}")
