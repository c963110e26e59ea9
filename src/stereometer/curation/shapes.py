"""The shapes of a benchmark that can be curated."""

from __future__ import annotations

from stereometer import catalog
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.errors import UsageError
from stereometer.shapes.sentences import SentenceShape


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
