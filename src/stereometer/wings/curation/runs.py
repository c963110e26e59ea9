"""What is curated: the shapes of a benchmark that can be, and stored runs on their items."""

from collections.abc import Sequence
from typing import Annotated

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import UsageError
from stereometer.core.options import Option
from stereometer.core.runs.stored import Run, Stored
from stereometer.core.shapes.sentences import SentenceShape


def curated_shapes(benchmark: Benchmark) -> list[SentenceShape]:
    """Those whose items are sentences set against each other, where it is measured by them."""
    shapes = [catalog.shape(name) for name in benchmark.shapes if name in benchmark.measures]
    curated = [shape for shape in shapes if isinstance(shape, SentenceShape)]
    if not curated:
        raise UsageError(
            f"{benchmark.name} has neither CATs nor pairs. Its items have no sentences to look at. "
            "Choose another benchmark."
        )
    return curated


RunsOnThese = Annotated[
    Sequence[Stored],
    Option("Folder of a run on these items, or of several; may be repeated.", metavar="FOLDER"),
]


def runs_on(benchmark: Benchmark, runs: Sequence[Run]) -> Sequence[Run]:
    """The runs; raises where one is of other items."""
    names = [shape.name for shape in curated_shapes(benchmark)]
    for run in runs:
        result = run.result
        if result.data["digest"] != benchmark.digest:
            raise UsageError(
                f"{run.folder} was measured on other items ({result.benchmark}, content "
                f"{result.data['digest'][:12]}). These are {benchmark.name}, content "
                f"{benchmark.digest[:12]}. Name its own data with --data."
            )
        if result.kind not in names:
            raise UsageError(
                f"{run.folder} was measured with {result.measure}, which does not read the "
                f"{' or '.join(names)} items looked at here. Its numbers are of items of another "
                "shape. Name a run of another measure."
            )
    return runs
