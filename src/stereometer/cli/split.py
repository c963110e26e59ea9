"""Both parts of a data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.curation.split import SplitParts


def print_split(made: SplitParts) -> None:
    render.records(
        [
            {
                "part": f"{part.part}{' (hidden)' if part.hidden else ''}",
                "items": part.items,
                "terms": "" if part.terms is None else part.terms,
                "connected groups": part.connected,
                "file": part.file,
            }
            for part in made.parts
        ]
    )
