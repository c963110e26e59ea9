"""Packs that wheels bring: found by their entry points, without importing anything of theirs."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from stereometer.benchmarks.packs.pack import is_pack
from stereometer.errors import DataError

GROUP = "stereometer.packs"


def installed() -> dict[str, EntryPoint]:
    """By name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def folder_of(point: EntryPoint) -> Path:
    """The folder that an entry point names as a top-level package; a package need not be imported
    to be found, but one inside another must be."""
    places: Iterable[str] = ()
    if point.value.isidentifier():
        spec = PathFinder.find_spec(point.value)
        places = (spec.submodule_search_locations or ()) if spec else ()
    for place in places:
        if is_pack(Path(place)):
            return Path(place)
    raise DataError(
        f"The pack {point.name} cannot be found: {point.value!r} is not a folder with pack.toml. "
        "An entry point of a pack names the folder that its wheel installs. Ask whoever made it."
    )
