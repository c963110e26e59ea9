"""Stored runs on the items that are curated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

from stereometer.benchmarks.benchmark import Benchmark
from stereometer.curation.shapes import curated_shapes
from stereometer.errors import UsageError
from stereometer.options import Option
from stereometer.runs import store
from stereometer.types import Result, Score, Settings

RunsOnThese = Annotated[
    Sequence[store.Stored],
    Option("Folder of a run on these items; may be repeated.", words=list[Path], metavar="FOLDER"),
]


@dataclass(frozen=True)
class StoredRun:
    folder: Path
    result: Result

    @cached_property
    def scores(self) -> list[Score]:
        return list(store.load_scores(self.folder, self.result))

    def settings(self, settings: Settings) -> Settings:
        """Under the run's own variant and coverage floor."""
        coverage = float(self.result.settings["coverage"])
        return replace(settings, variant=self.result.variant, coverage=coverage)


def load_runs(stored: Sequence[store.Stored], benchmark: Benchmark) -> list[StoredRun]:
    """Raises where a run is of other items."""
    places = [store.run_folder(folder) for folder in store.folders_of(stored)]
    runs = [StoredRun(place, store.load_result(place)) for place in places]
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
