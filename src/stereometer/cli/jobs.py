"""What run and ask do with jobs: carry them out, or say what they would ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from stereometer.cli import render
from stereometer.cli.guard import say
from stereometer.cli.options import Running
from stereometer.types import Asking, Finished, Job, Request

SAMPLE_REQUESTS = 64


def carry_out(
    jobs: Iterable[Job],
    running: Running,
    json: bool,
    show: Callable[[Sequence[Finished]], None],
) -> list[Finished]:
    """What is finished is shown, whatever ends the rest; nothing is carried out in a dry run."""
    from stereometer.runs.execute import execute_all

    jobs = _with_outlook(jobs)
    if running.dry_run:
        print_plans(jobs, json)
        return []
    finished: list[Finished] = []
    try:
        finished.extend(execute_all(jobs, running.out, running.cache, render.watch))
    finally:
        if finished:
            show(finished)
    return finished


def _with_outlook(jobs: Iterable[Job]) -> Iterator[Job]:
    """The jobs, after what a small design could show at all."""
    from stereometer import catalog

    for job in jobs:
        if isinstance(job.source, Asking):
            level = float(job.plan.get("level", 0.95))
            outlook = catalog.shape(job.kind).outlook(job.source.items, level)
            if outlook:
                say(outlook)
        yield job


def print_plans(jobs: Iterable[Job], json: bool) -> None:
    plans = [_plan(job) for job in jobs]
    if json:
        render.print_json({"schema": "plan@1", "plans": plans})
        return
    for plan in plans:
        seconds = "" if plan["seconds"] is None else f", about {plan['seconds']} s"
        render.line(
            f"{plan['benchmark']} · {plan['measure']} · {plan['model']}: {plan['items']} items, "
            f"{plan['requests']} requests ({plan['distinct']} distinct), "
            f"{plan['tokens']} tokens{seconds}"
        )


def _plan(job: Job) -> dict[str, Any]:
    """What a job would ask, and a time from answering a few of its requests."""
    from stereometer.runs.plan import distinct, planned, windows

    plan = {name: job.plan[name] for name in ("benchmark", "measure", "model")}
    plan["items"] = job.items
    if not isinstance(job.source, Asking):
        return plan | {"requests": 0, "distinct": 0, "tokens": 0, "seconds": 0.0}
    requests, tokens, skipped = 0, 0, 0
    seen: set[str] = set()
    sample: dict[str, Request] = {}
    for window in windows(planned(job.source.items, job.source.measure)):
        skipped += sum(item.skipped is not None for item in window)
        requests += sum(1 for item in window for _ in item)
        new = {key: request for key, request in distinct(window).items() if key not in seen}
        seen |= new.keys()
        tokens += sum(request.tokens for request in new.values())
        sample |= dict(list(new.items())[: SAMPLE_REQUESTS - len(sample)])
    counts = {"requests": requests, "distinct": len(seen), "tokens": tokens, "skipped": skipped}
    return plan | counts | {"seconds": _seconds(job.source, sample, tokens)}


def _seconds(asking: Asking, sample: dict[str, Request], tokens: int) -> float | None:
    """None for a server: asking it costs money."""
    if asking.backend.abilities.costly:
        return None
    started = time.perf_counter()
    for _ in asking.backend.answer(sample):
        pass
    asked = sum(request.tokens for request in sample.values())
    return round((time.perf_counter() - started) / max(1, asked) * tokens, 1)
