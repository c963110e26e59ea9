"""data add, pull and where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json
from stereometer.errors import DataMissing, UsageError

if TYPE_CHECKING:
    from stereometer.benchmarks.fetch import Arrival


@command("Data", "data add stereoset dev.json")
def add(
    *,
    name: Annotated[str, "A benchmark."],
    files: Annotated[list[Path], "Its file, its files, or the folder that holds them."],
    anyway: Annotated[bool, "Keep it even if it differs from what was released."] = False,
    json: Json = False,
) -> None:
    """Check a file you have and keep it in the user data folder."""
    from stereometer import catalog
    from stereometer.benchmarks import fetch

    _print([fetch.add(catalog.find("benchmark", name), files, anyway)], json)


@command("Data", "data pull stereoset crows-pairs")
def pull(
    *,
    names: Annotated[list[str], "Benchmarks."],
    url: Annotated[
        list[str] | None,
        "Fetch from here instead; repeat for each file of one benchmark, in the card's order.",
    ] = None,
    json: Json = False,
) -> None:
    """Fetch data sets from their public places, pinned to a commit, or from their second ones."""
    from stereometer import catalog
    from stereometer.benchmarks import fetch

    if url and len(names) > 1:
        raise UsageError(
            "--url goes with one benchmark. It is not clear whose files these are. Pull them one "
            "by one."
        )
    sources = [catalog.find("benchmark", name) for name in names]
    _print([fetch.pull(source, url or [], say) for source in sources], json)


@command("Data", "data where")
def where(*, json: Json = False) -> None:
    """Say which data sets are on this machine, and in which folder."""
    from stereometer.benchmarks.folders import folders

    places = files_here()
    if json:
        searched = [str(folder) for folder in folders()]
        render.print_json({"schema": "where@1", "folders": searched, "files": places})
        return
    for name, files in places.items():
        render.line(f"{name}: {files[0] if files else 'not on this machine'}")


def files_here() -> dict[str, list[str]]:
    """Of each benchmark that needs files; none where they are not on this machine."""
    from stereometer import catalog
    from stereometer.benchmarks.folders import find

    places: dict[str, list[str]] = {}
    for name in catalog.names("benchmark"):
        source = catalog.find("benchmark", name)
        if source.card.files:
            try:
                places[name] = [str(file) for file in find(source)]
            except DataMissing:
                places[name] = []
    return places


def _print(arrivals: Sequence[Arrival], json: bool) -> None:
    if json:
        render.print_json({"schema": "data@1", "sets": [arrival.as_json() for arrival in arrivals]})
        return
    for arrival in arrivals:
        card = arrival.benchmark.card
        for difference in arrival.differences:
            say(f"differs from the released {card.name}: {difference}")
        say(f"{card.title}: kept in {arrival.files[0].parent}.")
        say(f"Licence: {card.licence}. Cite: {card.citation}")
