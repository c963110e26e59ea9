"""Who wrote an item, as a keyed hash: writers do not judge what they wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stereometer.studies.kinds.materials import write_materials
from stereometer.tables import read_table

if TYPE_CHECKING:
    from stereometer.studies.study import Study

FILE = "writers.csv"
COLUMNS = ("item", "writer")


def read_writers(study: Study) -> Mapping[str, str]:
    path = study.folder / FILE
    if not path.is_file():
        return {}
    return {row["item"]: row["writer"] for _, row in read_table(path, COLUMNS)}


def write_writers(folder: Path, writers: Mapping[str, str]) -> None:
    if writers:
        write_materials(folder / FILE, [COLUMNS, *writers.items()])
