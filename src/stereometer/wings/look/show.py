"""The verb `show`: a benchmark's card and statistics, or stored runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, Card
from stereometer.core.errors import DataMissing
from stereometer.core.options import Data, Option, verb
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.stored import runs_of
from stereometer.core.show.view import Piece, View, bullets, extremes, line, records
from stereometer.core.types import Result
from stereometer.core.types.results import Results
from stereometer.core.types.shown import Shown

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

    def view(self, slices: bool = False) -> View:
        return View(parts=(*_card(self.card), *self._found()))

    def _found(self) -> Iterator[Piece]:
        """What is known where the data are here."""
        if self.benchmark is not None:
            yield from _source(self.benchmark)
            for rows in (self.statistics or {}).values():
                yield line()
                yield from records(rows)
        if self.terms:
            ends = "annotator agreement by target term, lowest and highest (all of them: --json)"
            yield line(f"\n{ends}\n")
            yield from records(extremes(self.terms))

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


def _card(card: Card) -> Iterator[Piece]:
    where = [card.country, card.origin] if card.origin else []
    said = ", ".join((str(card.year), card.language, *where, card.licence))
    yield line(f" ({said})", bold=card.title)
    yield line(f"{card.citation}\n{card.population}")
    counts = ", ".join(f"{count} of shape {shape}" for shape, count in card.counts.items())
    if counts:
        yield line(f"items: {counts}\ncontent sha256: {card.digest}")
    yield line(f"available from: {card.get}")
    yield from bullets("known problems", card.known_problems)
    yield from bullets("must not be concluded", card.not_concluded)


def _source(benchmark: Benchmark) -> Iterator[Piece]:
    state = "as released" if benchmark.as_released else "NOT as released"
    if not benchmark.as_released and not benchmark.card.digest:
        state = "no released version to compare with"
    yield line(f"read from {benchmark.source}: content {benchmark.digest[:16]}, {state}")
    for shape, measures in benchmark.measures.items():
        if shape in benchmark.shapes:
            first = f"{', else '.join(measures)} (the first that a model can answer)"
            yield line(f"measured by default ({shape}): {first}")
    yield from bullets("notes", benchmark.notes)


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
