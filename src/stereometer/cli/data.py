"""Which data sets are on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.verbs.data import Places


def print_places(places: Places) -> None:
    for name, files in places.files.items():
        render.line(f"{name}: {files[0] if files else 'not on this machine'}")
