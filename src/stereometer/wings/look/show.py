"""The verb `show`: a benchmark's card and statistics, or stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, Card
from stereometer.core.errors import DataMissing
from stereometer.core.options import Data, Option, verb
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.stored import runs_of
from stereometer.core.types import Result
from stereometer.core.types.results import Results
from stereometer.core.types.shown import Shown
from stereometer.wings.look import card_view as views

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, repr=False)
class CardShown(Shown):
    """A benchmark's card; without its data, where they are not on this machine."""

    card: Card
    benchmark: Benchmark | None = None
    statistics: Mapping[str, Rows] | None = None
    """By shape what its paper prints."""
    terms: Rows = ()
    """How far annotators agree on each term."""
    missing: DataMissing | None = None

    view = views.card

    def check(self) -> None:
        """Raises with how to get data that are missing."""
        if self.missing is not None:
            raise self.missing

    def as_json(self) -> dict[str, Any]:
        self.check()
        assert self.benchmark is not None
        return {
            "schema": "show@1",
            "card": asdict(self.card),
            "digest": self.benchmark.digest,
            "as_released": self.benchmark.as_released,
            "notes": self.benchmark.notes,
            "statistics": self.statistics,
            "term_agreement": self.terms,
        }


@verb
def show(
    name: Annotated[
        str | Path,
        Option(
            "A benchmark, a file of your own items, or a folder of a run or of runs.", words=str
        ),
    ],
    *,
    data: Data = None,
) -> CardShown | Result | Results:
    """Show a benchmark's card and the statistics its paper prints, or a stored run."""
    if Path(name).is_dir() and not catalog.has("benchmark", str(name)):
        stored = [run.result for run in runs_of([name])]
        return Results(stored) if stored[1:] else stored[0]
    try:
        benchmark = open_benchmark(str(name), data)
    except DataMissing as missing:
        return CardShown(catalog.find("benchmark", str(name)).card, missing=missing)
    shapes = [shape for shape in benchmark.shapes if shape in benchmark.measures]
    statistics = {
        shape: catalog.shape(shape).statistics(benchmark.items(shape)) for shape in shapes
    }
    agreement = (catalog.shape(shape).term_agreement(benchmark.items(shape)) for shape in shapes)
    terms = [row for rows in agreement for row in rows]
    return CardShown(benchmark.card, benchmark, statistics, terms)
