"""Facts of gender, which a model should know after gender was erased where it is a stereotype."""

from collections.abc import Sequence
from pathlib import Path

from stereometer.core.benchmarks.benchmark import Content, Source
from stereometer.core.shapes.sentences import row_text
from stereometer.core.tables import read_table
from stereometer.kinds.facts.shape import FACT, Fact


def read(files: Sequence[Path]) -> Content:
    """A sentence has its deciding word in brackets; `other` stands there in the wrong one."""
    (file,) = files
    facts, columns = [], ("id", "kind", "sentence", "other")
    for line, row in read_table(file, columns):
        id_, kind, sentence, other = (row_text(row, column, file, line) for column in columns)
        before, _, rest = sentence.partition("[")
        word, _, after = rest.partition("]")
        facts.append(Fact(id_, f"{before}{word}{after}", f"{before}{other}{after}", "gender", kind))
    return {FACT: facts}, []


DEFINITIONAL = Source(
    "definitional",
    read,
    {FACT: ("fact-likelihood",)},
    lambda: [Path(__file__).parent / "data" / "gender.csv"],
    package="stereometer.kinds.facts",
)
