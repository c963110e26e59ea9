"""The starter set, for trying the tool: its parts are of two kinds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Content, Source

PARTS = {"cat": "cats.json", "pair": "pairs.csv"}


def read(files: Sequence[Path]) -> Content:
    return {
        kind: catalog.find("shape", kind).read_released(file)
        for kind, file in zip(PARTS, files, strict=True)
    }, []


STARTER = Source(
    "starter",
    read,
    {kind: catalog.shape(kind).measures for kind in PARTS},
    lambda: [Path(__file__).parent / "starter_data" / file for file in PARTS.values()],
)
