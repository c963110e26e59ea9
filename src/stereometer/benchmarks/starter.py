"""The starter set: written for this project, shipped with the package, for trying the tool."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from stereometer.benchmarks.benchmark import CAT_MEASURES, PAIR_MEASURES, Shapes, Source
from stereometer.shapes.cat.files import read_cats
from stereometer.shapes.pair.files import read_pairs

FILES = ("cats.json", "pairs.csv")


def packaged() -> Sequence[Path]:
    folder = resources.files("stereometer.benchmarks").joinpath("starter_data")
    return [Path(str(folder.joinpath(name))) for name in FILES]


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    cats, pairs = files
    return {"cat": read_cats(cats), "pair": read_pairs(pairs)}, []


SOURCE = Source("starter", read, {"cat": CAT_MEASURES, "pair": PAIR_MEASURES}, packaged)
