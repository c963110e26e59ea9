"""sweep: the same items under every admissible reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.jobs import carry_out
from stereometer.cli.options import (
    Benchmark,
    Coverage,
    Drawing,
    Head,
    Json,
    Loading,
    OwnFile,
    Running,
    Serving,
    Spreading,
    opening,
)
from stereometer.show import numbers
from stereometer.show.table import Table, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stereometer.readings.order import Order
    from stereometer.readings.sweep import Sweep

NEARER = (
    "Nearer to 50, reading by reading; in brackets those beyond noise after Holm over the readings."
)


@dataclass(frozen=True)
class Judging(Drawing):
    """How readings are counted; their variants are part of the sweep."""

    coverage: Coverage = 0.90
    delta: Annotated[float, "How many points from 50 still count as near 50."] = 5.0


@command(
    "Measure",
    "sweep starter -m smollm2-135m -m minilm-mlm",
    "sweep stereoset -m ./my-model --limit 400 --out runs",
    "sweep stereoset --run runs/replayed-bert --run runs/replayed-gpt2",
)
def sweep(
    *,
    benchmark: Benchmark,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="A model, or a pattern for several; may be repeated."),
    ] = None,
    run: Annotated[
        list[Path] | None,
        "A run on these items, or a folder of several, replayed ones too: they are swept as they "
        "are; may be repeated.",
    ] = None,
    measure: Annotated[
        list[str] | None, "Only readings of these measures; may be repeated."
    ] = None,
    judging: Judging,
    running: Running,
    spreading: Spreading,
    loading: Loading,
    head: Head = None,
    own_file: OwnFile,
    serving: Serving,
    json: Json = False,
) -> None:
    """Measure under every admissible reading: what the result depends on, and what the readings
    say together."""
    from stereometer.readings.gather import check_measures, jobs_of, stored_runs, swept_shapes
    from stereometer.readings.sweep import sweep_of
    from stereometer.runs.models import open_for
    from stereometer.runs.open import check_names, open_benchmark
    from stereometer.runs.series import members, names_for

    settings, measures = judging.settings, measure or []
    models = [member.spec for spec in model or () for member in members(spec)]
    check_names(models, ())
    check_measures(measures)
    loaded = open_benchmark(benchmark, running.data, layout=own_file.layout)
    swept_shapes(loaded)
    stored = stored_runs(run or (), loaded)
    options = opening(loading, serving, head=str(head or ""), dry_run=running.dry_run)
    with spreading.engines() as engines:
        jobs = (
            job
            for spec, called in zip(models, names_for(models), strict=True)
            for opened in [open_for(engines, spec, judging.seed, options)]
            for job in jobs_of(loaded, opened, measures, settings, running.limit, called)
        )
        finished = carry_out(jobs, running, spreading, engines, json, lambda finished: None)
    if models and not finished:  # a dry run, or one part of many
        return
    swept = sweep_of(stored, finished, loaded, settings, running.out)
    render.document_or(json, swept, lambda: print_sweep(swept))
    for folder in swept.folders:
        say(f"Stored in {folder}")


def print_sweep(swept: Sweep) -> None:
    render.results(swept.results)
    if swept.orders:
        _print_orders(swept.orders)
    requests = swept.requests
    if requests.needed:
        render.line(f"\n{_counted(requests.needed, requests.asked)}")


def _counted(needed: int, asked: int) -> str:
    if not asked:
        return f"The runs needed {needed:,} requests; all of them were known before."
    return (
        f"The runs needed {needed:,} requests; {asked:,} were asked, none of them twice, and "
        f"{needed - asked:,} were shared or known before."
    )


def _print_orders(orders: Sequence[Order]) -> None:
    titles = ("readings", "first", "second", "order changes in")
    columns = (*map(text, ("first", "second", "question")), *map(number, titles))
    rows = [
        (
            *map(text, (order.first, order.second, order.where)),
            number(str(order.readings)),
            number(f"{order.first_nearer} ({order.first_surely})"),
            number(f"{order.second_nearer} ({order.second_surely})"),
            number(numbers.share(order.changes / order.readings)),
        )
        for order in orders
    ]
    render.table(Table(columns, tuple(rows), "Two models under the same readings", NEARER))
