"""What is known of systems besides their scores: sizes, and which belong together."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stereometer.core.errors import UsageError
from stereometer.core.files import finite
from stereometer.core.tables import read_table

SIZES = ("parameters", "corpus_gb")


@dataclass(frozen=True)
class Facts:
    """What is known of a system besides its scores."""

    parameters: float | None = None
    corpus_gb: float | None = None
    source: str = ""
    family: str = ""


@cache
def shipped_facts() -> Mapping[str, Facts]:
    """The systems of the StereoSet paper."""
    return read_facts(Path(__file__).with_name("system_facts.csv"))


def read_facts(path: Path) -> dict[str, Facts]:
    """A table with `system` and any of `parameters`, `corpus_gb` and `family`, blank if unknown."""
    facts = {}
    for line, row in read_table(path, ["system"]):
        sizes = {name: _size(row.get(name, ""), f"{path}, line {line}: {name}") for name in SIZES}
        source, family = row.get("source") or path.name, row.get("family") or ""
        facts[row["system"]] = Facts(**sizes, source=source, family=family)
    return facts


def _size(text: str, where: str) -> float | None:
    if not text.strip():
        return None
    value = finite(text, where, "A size is a number above 0. Fix it or leave it empty.")
    if value <= 0:
        raise UsageError(f"{where} is {text}. A size is above 0. Fix it or leave it empty.")
    return value
