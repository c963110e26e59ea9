"""What measuring verbs do with jobs: carry them out, plan them, or ask one part of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

from stereometer.core import catalog
from stereometer.core.options import ModelOptions
from stereometer.core.runs.engines import Engines, PartOfRun
from stereometer.core.runs.execute import LOG, Announce, execute_all, with_outlook
from stereometer.core.runs.progress import Watch
from stereometer.core.runs.runner import distinct, planned, windows
from stereometer.core.show.numbers import count, duration
from stereometer.core.show.view import View, line
from stereometer.core.types import Asking, Backend, Charges, Job, Request
from stereometer.core.types.results import Results


def carry_out(
    jobs: Iterable[Job],
    engines: Engines,
    options: ModelOptions,
    out: str | Path | None = None,
    cache: bool = True,
    progress: Watch | bool = True,
    announce: Announce = LOG.warning,
) -> Results:
    """Nothing is carried out in a dry run, and one part of a run gives no result. Whatever else
    ends the run carries what was finished before as `results`."""
    part: PartOfRun | None = None
    if (shard := options.get("shard")) is not None:
        part = catalog.find("engine", "shard")(shard)
    if options.get("dry_run"):
        plans, paces = Plans(), dict[tuple[str, ...], float]()
        plans.plans = [_plan(job, engines, part, paces) for job in with_outlook(jobs, announce)]
        return plans
    if part is not None:
        place = Path(out) if out is not None else None
        return part.ask(with_outlook(jobs, announce), place, engines)
    results = Results()
    try:
        for run in execute_all(jobs, out, cache, progress, engines, announce):
            results.append(run.result)
    except BaseException as stop:
        vars(stop)["results"] = results
        raise
    return results


SAMPLE_REQUESTS = 64
TOTALS = ("requests", "distinct", "tokens", "seconds", "money")


class Plans(Results):
    """What a dry run gives: no result, but what each would ask."""

    plans: list[dict[str, Any]]

    @property
    def total(self) -> dict[str, float | None]:
        """None where it is not known of every plan."""
        known = {name: [plan.get(name, 0) for plan in self.plans] for name in TOTALS}
        return {name: None if None in each else sum(each) for name, each in known.items()}

    @property
    def remarks(self) -> list[str]:
        over = (plan["over_budget"] for plan in self.plans if "over_budget" in plan)
        budgets = [
            f"The plan may exceed the budget of {each}; the run would stop there." for each in over
        ]
        priced = any("money" in plan for plan in self.plans)
        unasked = "No server was asked. Planned as if it holds conversations and scores prompts."
        return [*budgets[:1], *([unasked] if priced else [])]

    def view(self, slices: bool = False) -> View:
        lines = [line(words) for plan in self.plans for words in _words(plan)]
        if self.plans[1:]:
            lines.append(line(f"in all: {_amounts(self.total)}"))
        return View(parts=tuple(lines))

    def as_json(self) -> dict[str, Any]:
        return {"schema": "plan@1", "plans": self.plans, "total": self.total}


def _words(plan: Mapping[str, Any]) -> Iterator[str]:
    workers = f" with {count(plan['workers'], 'worker')}" if "workers" in plan else ""
    title = f"{plan['benchmark']} · {plan['measure']} · {plan['model']}"
    yield f"{title}: {plan['items']} items, {_amounts(plan)}{workers}"
    if workers:
        each = f"{plan['requests_each']} requests, {plan['tokens_each']} tokens"
        yield f"  each worker: about {each}"


def _amounts(plan: Mapping[str, Any]) -> str:
    """What is asked, and what it takes as far as that is known."""
    money, seconds = plan.get("money"), plan["seconds"]
    parts = (
        f"{plan['requests']} requests ({plan['distinct']} distinct)",
        f"{'about ' if 'tokens_read' in plan else ''}{plan['tokens']} tokens",
        *([f"about {duration(seconds)}"] if seconds is not None else []),
        *([f"at most about ${money:.4f}"] if money else []),
    )
    return ", ".join(parts)


def _plan(
    job: Job, engines: Engines, part: PartOfRun | None, paces: dict[tuple[str, ...], float]
) -> dict[str, Any]:
    """What a job would ask, and a time from answering a few of its requests."""
    plan = {name: job.plan[name] for name in ("benchmark", "measure", "model")}
    plan["items"] = job.items
    if not isinstance(job.source, Asking):
        return plan | {"requests": 0, "distinct": 0, "tokens": 0, "seconds": 0.0}
    asking = job.source
    if part is not None:
        asking = replace(asking, items=part.items(asking.items))
        plan["items"] = len(asking.items)
    counts, sample = _counted(asking)
    seconds = _seconds(asking.backend, sample, counts["tokens"], paces)
    plan |= counts | {"seconds": seconds}
    if isinstance(asking.backend, Charges):
        sizes = counts["tokens_read"], counts["tokens_written"]
        plan["money"] = asking.backend.money(*sizes)
        if budget := asking.backend.plan(*sizes):
            plan["over_budget"] = budget
    return plan | _each(asking, counts, seconds, engines)


def _counted(asking: Asking) -> tuple[dict[str, int], dict[str, Request]]:
    """How much would be asked, and the first requests."""
    requests, skipped = 0, 0
    sizes: Counter[str] = Counter()
    seen: set[str] = set()
    sample: dict[str, Request] = {}
    for window in windows(planned(asking.items, asking.measure)):
        skipped += sum(item.skipped is not None for item in window)
        requests += sum(1 for item in window for _ in item)
        new = {key: request for key, request in distinct(window).items() if key not in seen}
        seen |= new.keys()
        for request in new.values():
            sizes.update(_size(asking.backend, request))
        sample |= dict(list(new.items())[: SAMPLE_REQUESTS - len(sample)])
    counts = {"requests": requests, "distinct": len(seen), "tokens": 0, "skipped": skipped}
    return counts | sizes, sample


def _size(backend: Backend, request: Request) -> dict[str, int]:
    """In tokens; for a model that is paid by them, those read and those written too."""
    if not isinstance(backend, Charges):
        return {"tokens": request.tokens}
    read, written = backend.size(request)
    return {"tokens": read + written, "tokens_read": read, "tokens_written": written}


def _each(
    asking: Asking, counts: dict[str, int], seconds: float | None, engines: Engines
) -> dict[str, Any]:
    """What each of several workers would get, and the time for all, if each is as fast as the
    sample was here with a worker's threads."""
    workers = engines.workers(asking.backend)
    if not workers:
        return {}
    return {
        "workers": workers,
        "requests_each": ceil(counts["distinct"] / workers),
        "tokens_each": ceil(counts["tokens"] / workers),
        "seconds": None if seconds is None else round(seconds / workers, 1),
    }


def _seconds(
    backend: Backend, sample: dict[str, Request], tokens: int, paces: dict[tuple[str, ...], float]
) -> float | None:
    """None for a server: asking it costs money. A sample stands for all jobs of its model that ask
    for the same kinds of answers: a sweep has dozens."""
    if backend.abilities.costly:
        return None
    kinds = sorted({request.kind for request in sample.values()})
    of = (backend.card.identity, *kinds)
    if of not in paces:
        started = time.perf_counter()
        for _ in backend.answer(sample):
            pass
        asked = sum(request.tokens for request in sample.values())
        paces[of] = (time.perf_counter() - started) / max(1, asked)
    return round(paces[of] * tokens, 1)
