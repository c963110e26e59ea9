"""Facts of gender, written for this project and shipped with the package.

A model from which gender was erased where it is a stereotype should still know it where it is a
fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from stereometer.benchmarks.benchmark import Shapes, Source
from stereometer.shapes.fact import FACT, Fact
from stereometer.shapes.sentences import row_text
from stereometer.tables import read_table

FILE = "gender.csv"
COLUMNS = ("id", "kind", "sentence", "other")


def packaged() -> Sequence[Path]:
    folder = resources.files("stereometer.benchmarks").joinpath("definitional_data")
    return [Path(str(folder.joinpath(FILE)))]


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """A sentence has its deciding word in brackets; `other` stands there in the wrong one."""
    (file,) = files
    facts = []
    for line, row in read_table(file, COLUMNS):
        id_, kind, sentence, other = (row_text(row, column, file, line) for column in COLUMNS)
        before, _, rest = sentence.partition("[")
        word, _, after = rest.partition("]")
        facts.append(Fact(id_, f"{before}{word}{after}", f"{before}{other}{after}", "gender", kind))
    return {FACT: facts}, []


SOURCE = Source("definitional", read, {FACT: ("fact-likelihood",)}, packaged)
