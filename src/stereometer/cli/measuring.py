"""run, replay, compare and report, as a person at a terminal or a program reading JSON wants them."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer import api
from stereometer.benchmarks.abc.items import Choice
from stereometer.cli.guard import say
from stereometer.cli.tables import (
    print_comparison,
    print_json,
    print_plans,
    print_results,
    print_summary,
)
from stereometer.errors import ThresholdError, UsageError
from stereometer.findings.compare import compare
from stereometer.runs.runner import Progress, distinct, planned, silent, windows
from stereometer.shapes.cat.metrics import AVERAGES
from stereometer.types import Request, Result, Settings

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda value, bar: value >= bar,
    "<=": lambda value, bar: value <= bar,
    ">": lambda value, bar: value > bar,
    "<": lambda value, bar: value < bar,
}
Bar = tuple[str, str, float]
REQUIRABLE = (*AVERAGES, "pair_preference", "confidence_median_difference")


def bars(texts: Sequence[str], names: Sequence[str] = REQUIRABLE) -> list[Bar]:
    """`icat>=70` as (name, operator, number)."""
    found = []
    for text in texts:
        parts = re.fullmatch(r"\s*(\w+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*", text)
        if not parts:
            raise UsageError(
                f"--require '{text}' is not understood. It is a name, one of {' '.join(OPERATORS)} and a number. For instance 'icat>=70'."
            )
        if parts[1] not in names:
            raise UsageError(
                f"--require names '{parts[1]}', which is not measured. Names are {', '.join(names)}. For instance '{names[0]}>=70'."
            )
        found.append((parts[1], parts[2], float(parts[3])))
    return found


def bearing(jobs: Sequence[api.Job], wanted: Sequence[Bar]) -> Sequence[api.Job]:
    """The jobs, where they will give what bars are set for."""
    for name, _, _ in wanted:
        shape = "cat-" if name in AVERAGES else "pair-"
        if not any(job.task.measure.startswith(shape) for job in jobs):
            given = ", ".join(dict.fromkeys(job.task.measure for job in jobs))
            raise UsageError(
                f"--require names '{name}', which is not measured here. The measures are {given}. Leave the bar out."
            )
    return jobs


def check(results: Sequence[Result], wanted: Sequence[Bar]) -> None:
    """Raises where overall values miss bars, and names all that do, or where there is no such value to hold it against."""
    missed: list[str] = []
    for name, operator, bar in wanted:
        values = [
            (result.model, one.value)
            for result in results
            for one in result.estimates
            if one.name == name and not one.slice
        ]
        if not values:
            raise UsageError(
                f"--require names '{name}', which was not measured. Names are those in the result. For instance icat or pair_preference."
            )
        missed += [
            f"{model}: {name} is {'not available' if value is None else f'{value:.2f}'}. The bar is {name}{operator}{bar:g}."
            for model, value in values
            if value is None or not OPERATORS[operator](value, bar)
        ]
    if missed:
        raise ThresholdError(f"{' '.join(missed)} The results are stored all the same.")


@dataclass(frozen=True)
class Measuring:
    """What run and replay have in common."""

    variant: str
    seed: int
    resamples: int
    coverage: float
    out: Path | None
    require: Sequence[str]
    json: bool

    @property
    def settings(self) -> Settings:
        return api.settings_for(self.variant, self.seed, self.resamples, self.coverage)


def run_command(
    asked: Measuring, benchmarks: Sequence[str], models: Sequence[str], measures: Sequence[str], data: Path | None, limit: int | None,
    cache: bool, dry_run: bool, within_word: bool, options: dict[str, Any], choice: Choice | None = None,
) -> None:  # fmt: skip
    wanted, settings = bars(asked.require), asked.settings
    api.check_names(models, measures)
    opened = (api.open_model(name, asked.seed, options) for name in models)
    jobs = (
        job
        for model in opened
        for job in bearing(
            list(api.jobs(benchmarks, model, measures, settings, data, limit, within_word, choice)),
            wanted,
        )
    )
    if dry_run:
        print_plans([dry(job) for job in jobs], asked.json)
        return
    finished = shown(
        api.execute_all(jobs, asked.out, cache, watch),
        lambda done: _show(done, asked.json, len(models) > 1),
    )
    check([one.result for one in finished], wanted)


def shown(
    finishing: Iterable[api.Finished], show: Callable[[Sequence[api.Finished]], None]
) -> list[api.Finished]:
    """All of them; what is finished is shown, whatever ends the rest."""
    finished: list[api.Finished] = []
    try:
        finished.extend(finishing)
    finally:
        if finished:
            show(finished)
    return finished


def _show(finished: Sequence[api.Finished], json: bool, side_by_side: bool) -> None:
    results = [one.result for one in finished]
    if json:
        print_json({"schema": "runs@1", "results": [result.as_json() for result in results]})
    elif side_by_side:
        print_summary(results)
    else:
        print_results(results)
    for one in finished:
        say(f"Stored in {one.folder}" + (f" ({one.result.measure})" if len(finished) > 1 else ""))


SAMPLE_REQUESTS = 64


def dry(job: api.Job) -> dict[str, Any]:
    """What a job would ask, and a time from answering a few of its requests."""
    found: dict[str, Any] = {
        "benchmark": job.task.benchmark.name,
        "measure": job.task.measure,
        "model": job.task.card.name,
        "items": len(job.task.items),
    }
    if not isinstance(job.source, api.Asking):
        return found | {"requests": 0, "distinct": 0, "tokens": 0, "seconds": 0.0}
    requests, tokens, skipped = 0, 0, 0
    seen: set[str] = set()
    sample: dict[str, Request] = {}
    for window in windows(planned(job.task.items, job.source.measure)):
        skipped += sum(plan.skipped is not None for plan in window)
        requests += sum(len(asked) for plan in window for asked in plan.requests.values())
        for key, request in distinct(window).items():
            if key not in seen:
                seen.add(key)
                tokens += request.tokens
                if len(sample) < SAMPLE_REQUESTS:
                    sample[key] = request
    if getattr(job.source.backend, "costly", False):
        return found | {
            "requests": requests,
            "distinct": len(seen),
            "tokens": tokens,
            "skipped": skipped,
            "seconds": None,
        }
    started = time.perf_counter()
    for _ in job.source.backend.answer(sample):
        pass
    rate = (time.perf_counter() - started) / max(
        1, sum(request.tokens for request in sample.values())
    )
    return found | {
        "requests": requests,
        "distinct": len(seen),
        "tokens": tokens,
        "skipped": skipped,
        "seconds": round(rate * tokens, 1),
    }


@contextmanager
def watch(title: str) -> Iterator[Progress]:
    """A progress bar on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def replay_command(
    asked: Measuring,
    file: Path,
    benchmark: str,
    data: Path | None,
    name: str | None,
    measure: str | None,
) -> None:
    wanted = bars(asked.require)
    one = api.replayed(file, benchmark, data, asked.settings, name, measure, asked.out)
    if asked.json:
        print_json(one.result.as_json())
    else:
        print_results([one.result])
    say(f"Stored in {one.folder}")
    check([one.result], wanted)


def compare_command(
    runs: Sequence[Path], all_pairs: bool, every_slice: bool, seed: int, resamples: int, json: bool
) -> None:
    found = compare(*runs, all_pairs=all_pairs, seed=seed, resamples=resamples)
    if json:
        print_json(found.as_json())
    else:
        print_comparison(found, every_slice)


def report_command(runs: Sequence[Path], output: Path, json: bool) -> None:
    from stereometer.report import write_report

    written = write_report(list(runs), output)
    if json:
        print_json({"schema": "report@1", "file": str(written), "bytes": written.stat().st_size})
    else:
        say(f"Written to {written}. Open it in any browser; it needs no network.")
