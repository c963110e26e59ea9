"""The table of misspellings: which strings are changed to what."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from stereometer.errors import DataError
from stereometer.tables import read_table


def shipped_edits() -> Sequence[tuple[str, str]]:
    """Strings and what they are changed to (Chiu et al. 2021, Table 22)."""
    table = resources.files("stereometer.measures.recognition").joinpath("misspellings.csv")
    return read_edits(Path(str(table)))


def read_edits(path: Path) -> Sequence[tuple[str, str]]:
    """A table of `original` and `edit`."""
    edits = [(row["original"], row["edit"]) for _, row in read_table(path, ["original", "edit"])]
    if not edits or not all(original for original, _ in edits):
        raise DataError(
            f"{path} has no edits, or one whose original is empty. "
            "Each row has an original and an edit. Fix it."
        )
    return edits
