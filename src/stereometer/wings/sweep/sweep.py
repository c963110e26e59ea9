"""The verb `sweep`: the same items under every admissible reading."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Unpack

from stereometer.core import options as parameters
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import UsageError
from stereometer.core.files import UTF8, read_json
from stereometer.core.results_view import results as results_view
from stereometer.core.runs import store
from stereometer.core.runs.carry import carry_out
from stereometer.core.runs.engines import engines_of
from stereometer.core.runs.execute import Announce, execute
from stereometer.core.runs.models import named, opened_in_turn
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.progress import Watch
from stereometer.core.runs.stored import Run, Stored
from stereometer.core.show import numbers
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import Piece, View, line
from stereometer.core.tables import Layout
from stereometer.core.types import Job, Result, Settings, digest_of
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.method import check_limit
from stereometer.core.types.results import Results
from stereometer.core.types.shown import Shown, WithFigures
from stereometer.wings.curation.audit import faulty
from stereometer.wings.sweep import table
from stereometer.wings.sweep.curve import ModelOrder, orders
from stereometer.wings.sweep.job import Gathered

LOG = logging.getLogger("stereometer")
NEARER = (
    "Nearer to 50, reading by reading; in brackets those beyond noise after Holm over the readings."
)


@dataclass(frozen=True)
class Requests:
    """What the runs of a sweep needed of their models."""

    needed: int
    """Distinct requests of each run, added up."""
    asked: int
    """Sent to a model; the others were shared between runs, or known before."""


@dataclass(frozen=True, repr=False)
class Sweep(Shown, WithFigures, Document):
    """Everything `stereometer sweep` shows."""

    benchmark: str
    results: tuple[Result, ...]
    """One for each model and shape, of kind `sweep`."""
    orders: tuple[ModelOrder, ...]
    """Every two models, by question."""
    requests: Requests
    folders: tuple[str, ...]
    """Where the results are stored."""
    schema: str = "sweep@1"
    planned: Results | None = field(default=None, metadata=UNSTORED)
    """What a dry run would ask, or one part of many asked."""

    def view(self) -> View:
        if self.planned is not None:
            planned: View = self.planned.view()
            return planned
        return View(parts=(results_view(self.results), *self._pieces()))

    def _pieces(self) -> Iterator[Piece]:
        if self.orders:
            yield _order_table(self.orders)
        needed, asked = self.requests.needed, self.requests.asked
        if needed and not asked:
            yield line(f"\nThe runs needed {needed:,} requests; all of them were known before.")
        elif needed:
            yield line(
                f"\nThe runs needed {needed:,} requests; {asked:,} were asked, none of them twice, "
                f"and {needed - asked:,} were shared or known before."
            )

    @property
    def remarks(self) -> list[str]:
        planned = self.planned.remarks if self.planned is not None else ()
        return [*planned, *(f"Stored in {folder}" for folder in self.folders)]

    def as_json(self) -> dict[str, Any]:
        return super().as_json() if self.planned is None else self.planned.as_json()


def _order_table(orders: Sequence[ModelOrder]) -> Table:
    titles = ("readings", "first", "second", "order changes in")
    columns = (*map(text, ("first", "second", "question")), *map(number, titles))
    rows = []
    for each in orders:
        nearer = f"{each.first_nearer} ({each.first_surely})"
        other = f"{each.second_nearer} ({each.second_surely})"
        cells = str(each.readings), nearer, other, numbers.share(each.changes / each.readings)
        rows.append((*map(text, (each.first, each.second, each.where)), *map(number, cells)))
    return Table(columns, tuple(rows), "Two models under the same readings", NEARER)


@parameters.verb
def sweep(
    benchmark: parameters.Benchmark,
    *,
    model: Annotated[
        parameters.Model | list[parameters.Model] | None,
        parameters.Option(
            "A model, or a pattern for several; may be repeated.",
            words=list[str],
            flags=("--model", "-m"),
        ),
    ] = None,
    runs: Annotated[
        Sequence[Stored],
        parameters.Option(
            "A run on these items, or a folder of several, replayed ones too: they are swept as "
            "they are; may be repeated.",
            flags=("--run",),
        ),
    ] = (),
    measure: Annotated[
        str | Sequence[str], "Only readings of these measures; may be repeated."
    ] = (),
    asked: Annotated[
        bool,
        "Only what is asked in words, in every way: each wording, compared and rated alone, read "
        "from words and from probabilities, with a neutral answer and without, as a conversation "
        "and as raw text; with --room also without thinking.",
    ] = False,
    data: parameters.Data = None,
    limit: parameters.Limit = None,
    out: parameters.Out = None,
    cache: parameters.Cache = True,
    seed: parameters.Seed = 0,
    resamples: parameters.Resamples = 10_000,
    coverage: parameters.Coverage = 0.90,
    delta: parameters.Delta = 5.0,
    column: parameters.Column = None,
    encoding: parameters.Encoding = UTF8,
    progress: Watch | bool = True,
    announce: Announce = LOG.warning,
    **options: Unpack[parameters.HeadedModelOptions],
) -> Sweep:
    """Measure the same items under every admissible reading, and test those of one question
    together; of a dry run, or one part of many, `planned` says what it would ask."""
    parameters.check_known(options, sweep)
    settings = Settings("sound", seed, resamples, coverage=coverage, delta=delta)
    check_limit(limit)
    measures = [measure] if isinstance(measure, str) else measure
    table.check_measures(measures, asked)
    models = [] if model is None else named(model)
    loaded = open_benchmark(str(benchmark), data, layout=Layout(encoding, column or {}))
    table.swept_shapes(loaded)
    stored = table.stored_runs(runs, loaded)
    # A model with room to think is also asked without thinking, where that is varied.
    both = asked and options.get("room") and options.get("thinking", True)
    told: Sequence[Mapping[str, Any]] = ({}, {"thinking": False}) if both else ({},)
    with engines_of(options) as engines:
        jobs = (
            job
            for opened, _, called in opened_in_turn(models, seed, options, engines, told)
            for job in table.jobs_of(loaded, opened, measures, settings, limit, called, asked)
        )
        results = carry_out(_once(jobs), engines, options, out, cache, progress, announce)
    if models and not results:
        return Sweep(loaded.name, (), (), Requests(0, 0), (), planned=results)
    return sweep_of(stored, results, loaded, settings, out)


def _once(jobs: Iterable[Job]) -> Iterator[Job]:
    """A model that never thinks is the same in both ways."""
    known: set[str] = set()
    for job in jobs:
        plan = digest_of(job.plan)
        if plan not in known:
            known.add(plan)
            yield job


def sweep_of(
    stored: Sequence[Run],
    finished: Sequence[Result],
    benchmark: Benchmark,
    settings: Settings,
    out: str | Path | None,
) -> Sweep:
    """What runs say together, each model for itself, and then every two models."""
    runs = [*stored, *(Run(each, each.folder) for each in finished if each.folder)]
    if not runs:
        raise UsageError(
            "No model and no run was named. A sweep is of a model under many readings. Name one "
            "with --model, or stored runs with --run."
        )
    grouped = table.by_model(runs)
    shapes = dict.fromkeys(mine[0].shape for mine in grouped.values())
    flagged = {shape: faulty(benchmark, shape) for shape in shapes}
    gathered = [
        Gathered(benchmark, mine, settings, *flagged[mine[0].shape]) for mine in grouped.values()
    ]
    several = [each for each in gathered if not each.is_single]
    for each in gathered if several else ():
        if each.is_single:
            LOG.warning(
                "%s has one reading of the %s items only: they are left out of the sweep.",
                each.model,
                each.shape.name,
            )
    jobs = [each.job() for each in several or gathered]
    done = [execute(job, store.place_of(job, out)) for job in jobs]
    # as the runs recorded them when they were made
    asked = [read_json(run.folder / store.RUN).get("asked", {}) for run in runs]
    needed = sum(int(each.get("distinct", 0)) for each in asked)
    known = sum(int(each.get("from_cache", 0)) for each in asked)
    return Sweep(
        benchmark.name,
        tuple(each.result for each in done),
        tuple(orders(done, settings)),
        Requests(needed, needed - known),
        tuple(str(each.folder) for each in done),
    )
