"""What run and ask do with jobs: carry them out, or say what they would ask."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stereometer.cli import render
from stereometer.cli.guard import say
from stereometer.cli.options import Running, Spreading
from stereometer.show.numbers import count, duration
from stereometer.types import Asking, Backend, Charges, Finished, Job, Request

if TYPE_CHECKING:
    from stereometer.runs.engines.pool.choice import Engines

SAMPLE_REQUESTS = 64


def carry_out(
    jobs: Iterable[Job],
    running: Running,
    spreading: Spreading,
    engines: Engines,
    json: bool,
    show: Callable[[Sequence[Finished]], None],
) -> list[Finished]:
    """What is finished is shown, whatever ends the rest; nothing is carried out in a dry run, and
    one part of a run gives no result."""
    from stereometer.runs.execute import execute_all, with_outlook

    if running.dry_run:
        print_plans(with_outlook(jobs, say), json, engines, spreading.shard)
        return []
    if spreading.shard is not None:
        _ask_part(with_outlook(jobs, say), running, spreading.shard, engines, json)
        return []
    finished: list[Finished] = []
    how = (running.out, running.cache, True, engines)
    try:
        finished.extend(execute_all(jobs, *how, announce=say))
    finally:
        if finished:
            show(finished)
    return finished


def _ask_part(
    jobs: Iterable[Job], running: Running, text: str, engines: Engines, json: bool
) -> None:
    from stereometer.runs.shards import ask_part, part_of

    shard, tally = ask_part(jobs, part_of(text), running.out, engines)
    if json:
        counts = {"items": tally.items, "distinct": tally.distinct, "from_cache": tally.from_cache}
        document = {"schema": "asked-shard@1", "shard": shard.part.number, "of": shard.part.of}
        render.print_json(document | counts | {"path": str(shard.answers)})
    say(
        f"Part {shard.part.number} of {shard.part.of}: {tally.items} items, {tally.distinct} "
        f"requests. Stored in {shard.answers}. When all parts are there: stereometer cache merge "
        f"{shard.path.parent}"
    )


def print_plans(
    jobs: Iterable[Job], json: bool, engines: Engines, shard: str | None = None
) -> None:
    plans = [_plan(job, engines, shard) for job in jobs]
    total = {name: _sum(plan.get(name, 0) for plan in plans) for name in TOTALS}
    if any("money" in plan for plan in plans):
        say("No server was asked. Planned as if it holds conversations and scores prompts.")
    if json:
        render.print_json({"schema": "plan@1", "plans": plans, "total": total})
        return
    for plan in plans:
        workers = f" with {count(plan['workers'], 'worker')}" if "workers" in plan else ""
        title = f"{plan['benchmark']} · {plan['measure']} · {plan['model']}"
        render.line(f"{title}: {plan['items']} items, {_amounts(plan)}{workers}")
        if "workers" in plan:
            each = f"{plan['requests_each']} requests, {plan['tokens_each']} tokens"
            render.line(f"  each worker: about {each}")
    if plans[1:]:
        render.line(f"in all: {_amounts(total)}")


TOTALS = ("requests", "distinct", "tokens", "seconds", "money")


def _sum(values: Iterable[float | None]) -> float | None:
    """None where one of them is not known."""
    every = list(values)
    known = [value for value in every if value is not None]
    return sum(known) if len(known) == len(every) else None


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


def _plan(job: Job, engines: Engines, shard: str | None) -> dict[str, Any]:
    """What a job would ask, and a time from answering a few of its requests."""
    from stereometer.runs.shards import part_of

    plan = {name: job.plan[name] for name in ("benchmark", "measure", "model")}
    plan["items"] = job.items
    if not isinstance(job.source, Asking):
        return plan | {"requests": 0, "distinct": 0, "tokens": 0, "seconds": 0.0}
    asking = job.source
    if shard is not None:
        asking = replace(asking, items=part_of(shard).items(asking.items))
        plan["items"] = len(asking.items)
    counts, sample = _counted(asking)
    seconds = _seconds(asking, sample, counts["tokens"])
    plan |= counts | {"seconds": seconds}
    if isinstance(asking.backend, Charges):
        sizes = counts["tokens_read"], counts["tokens_written"]
        plan["money"] = asking.backend.money(*sizes)
        if budget := asking.backend.plan(*sizes):
            say(f"The plan may exceed the budget of {budget}; the run would stop there.")
    return plan | _each(asking, counts, seconds, engines)


def _counted(asking: Asking) -> tuple[dict[str, int], dict[str, Request]]:
    """How much would be asked, and the first requests."""
    from stereometer.runs.plan import distinct, planned, windows

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
    each = {"requests_each": counts["distinct"], "tokens_each": counts["tokens"]}
    share = {name: -(-amount // workers) for name, amount in each.items()}
    time_left = None if seconds is None else round(seconds / workers, 1)
    return {"workers": workers, **share, "seconds": time_left}


def _seconds(asking: Asking, sample: dict[str, Request], tokens: int) -> float | None:
    """None for a server: asking it costs money."""
    if asking.backend.abilities.costly:
        return None
    started = time.perf_counter()
    for _ in asking.backend.answer(sample):
        pass
    asked = sum(request.tokens for request in sample.values())
    return round((time.perf_counter() - started) / max(1, asked) * tokens, 1)
