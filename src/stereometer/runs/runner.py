"""Joins benchmark, measure and model: plan, dedupe, cache, ask, score, summarize.

Items flow through in windows of a few thousand requests. Scores go to disk as they come and to the measure's
`summarize`, which keeps only what it needs, so memory does not grow with the number of items.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stereometer.benchmarks.benchmark import Benchmark
from stereometer.benchmarks.published import beside
from stereometer.files import replacing, write_json, write_line
from stereometer.runs import store as runs
from stereometer.runs.cache import Cache
from stereometer.runs.engines.serial import Serial
from stereometer.shapes.pair.metrics import confidence
from stereometer.types import (
    Answer,
    Backend,
    Estimate,
    Item,
    Measure,
    ModelCard,
    Request,
    Result,
    Score,
    Settings,
    Skip,
    digest_of,
)

WINDOW = 4096
"""Requests planned before they are asked, at most;"""
WINDOW_TOKENS = 2**19
"""and the tokens that a model reads for them: what is planned takes memory by the token."""
BATCH = 512
"""Answers kept at once: what a kill can lose."""

Progress = Callable[[int, int], None]
"""Called with items done and items in all."""


def silent(done: int, total: int) -> None:
    return None


@dataclass(frozen=True)
class Planned:
    """An item and the requests of its candidates, or the reason it has none."""

    item: Item
    requests: Mapping[str, Sequence[Request]] = field(default_factory=dict)
    skipped: str | None = None


def planned(items: Iterable[Item], measure: Measure) -> Iterator[Planned]:
    for item in items:
        try:
            yield Planned(item, measure.plan(item))
        except Skip as reason:
            yield Planned(item, skipped=reason.reason)


def windows(
    plans: Iterable[Planned], size: int = WINDOW, read: int = WINDOW_TOKENS
) -> Iterator[list[Planned]]:
    """Items of so many requests, or of so many tokens read, together; an item is never torn."""
    window: list[Planned] = []
    count = tokens = 0
    for plan in plans:
        window.append(plan)
        count += max(1, sum(map(len, plan.requests.values())))
        tokens += sum(request.tokens for asked in plan.requests.values() for request in asked)
        if count >= size or tokens >= read:
            yield window
            window, count, tokens = [], 0, 0
    if window:
        yield window


def distinct(window: Iterable[Planned]) -> dict[str, Request]:
    """Every request once, by key."""
    return {
        request.key: request
        for plan in window
        for asked in plan.requests.values()
        for request in asked
    }


@dataclass
class Tally:
    """What a run did: for run.json and the dry run."""

    items: int = 0
    requests: int = 0
    distinct: int = 0
    tokens: int = 0
    from_cache: int = 0


def answered(
    requests: Mapping[str, Request],
    backend: Backend,
    cache: Cache,
    tally: Tally,
    told: Callable[[float], None] = lambda share: None,
) -> dict[str, Answer]:
    """Each request's answer, from the cache or from the model; new answers are kept a batch at a time."""
    identity = backend.card.identity
    batch = getattr(backend, "keep_every", BATCH)
    answers = cache.get(identity, list(requests))
    missing = {key: request for key, request in requests.items() if key not in answers}
    tally.from_cache += len(answers)
    fresh: dict[str, Answer] = {}
    try:
        for key, answer in Serial(backend).answer(missing):
            fresh[key] = answers[key] = answer
            told(len(answers) / len(requests))
            if len(fresh) >= batch:
                cache.put(identity, fresh)
                fresh = {}
    finally:
        cache.put(identity, fresh)
    return answers


def computed(
    items: Sequence[Item],
    measure: Measure,
    backend: Backend,
    cache: Cache,
    tally: Tally,
    progress: Progress = silent,
) -> Iterator[Score]:
    """The score of every item, in order."""
    for window in windows(planned(items, measure)):
        requests = distinct(window)
        tally.requests += sum(len(asked) for plan in window for asked in plan.requests.values())
        tally.distinct += len(requests)
        tally.tokens += sum(request.tokens for request in requests.values())
        answers = answered(
            requests, backend, cache, tally, _part(progress, tally.items, len(window), len(items))
        )
        for plan in window:
            yield scored(plan, measure, answers)
        tally.items += len(window)
        progress(tally.items, len(items))


def _part(progress: Progress, done: int, window: int, total: int) -> Callable[[float], None]:
    """Progress within a window: items count by the share of requests that are answered."""
    return lambda share: progress(done + int(share * window), total)


def _given(answer: Answer) -> Answer:
    """An answer with rows or text; one that has neither says why, and its item is skipped."""
    if answer.text is None and not answer.rows:
        raise Skip(answer.end or "no answer")
    return answer


def scored(plan: Planned, measure: Measure, answers: Mapping[str, Answer]) -> Score:
    item = plan.item
    if plan.skipped is None:
        try:
            given = {
                name: [_given(answers[one.key]) for one in asked]
                for name, asked in plan.requests.items()
            }
            values = measure.score(item, given)
            found = (
                values
                if isinstance(values, Score)
                else Score(item.id, item.slices, values, texts=item.texts)
            )
            if not all(map(math.isfinite, found.values.values())):
                raise Skip("a score is not a finite number")
            return found
        except Skip as reason:
            return Score(item.id, item.slices, {}, reason.reason, item.texts)
    return Score(item.id, item.slices, {}, plan.skipped, item.texts)


# -------------------------------------------------------------------------------------------- results

Summarize = Callable[[Iterable[Score], Settings], list[Estimate]]


@dataclass(frozen=True)
class Task:
    """Everything that decides a result."""

    benchmark: Benchmark
    items: Sequence[Item]
    measure: str
    summarize: Summarize
    card: ModelCard
    scoring: str
    settings: Settings
    limit: int | None = None
    notes: tuple[str, ...] = ()
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What else decides the answers: prompts, temperature, repeats."""

    @property
    def plan(self) -> dict[str, Any]:
        """What a run folder is held to; also what names it."""
        return {
            "benchmark": self.benchmark.name,
            "data": self.benchmark.digest,
            "measure": self.measure,
            "model": self.card.name,
            "identity": self.card.identity,
            "scoring": self.scoring,
            "limit": self.limit,
            **asdict(self.settings),
            **self.asked,
        }


def limited(items: Sequence[Item], limit: int | None) -> Sequence[Item]:
    """At most `limit` items, by lot from their ids: the same every time, and a smaller lot is part of a larger one."""
    if limit is None or limit >= len(items):
        return items
    drawn = set(sorted(range(len(items)), key=lambda index: digest_of(items[index].id))[:limit])
    return [item for index, item in enumerate(items) if index in drawn]


def finish(
    task: Task, scores: Iterable[Score], folder: Path | None, tally: Tally
) -> tuple[Result, Path]:
    """Streams scores to disk and into estimates; the folder holds a whole run or none."""
    shown = _without_texts(scores, task.items)
    return stored(
        task.plan,
        shown,
        lambda found: task.summarize(found, task.settings),
        lambda made: _result(task, made),
        folder,
        tally,
    )


def stored(
    plan: Mapping[str, Any],
    scores: Iterable[Score],
    summarize: Callable[[Iterable[Score]], list[Estimate]],
    made: Callable[[Sequence[Estimate]], Result],
    folder: Path | None,
    tally: Tally,
) -> tuple[Result, Path]:
    """A run's folder from its plan, its scores and what becomes of their estimates."""
    place = folder or runs.default_folder(plan)
    with runs.claimed(place, plan) as done:
        if done is not None:
            return done, place
        started = time.time()
        with replacing(place / runs.SCORES) as file:
            estimates = summarize(_written(scores, file))
        result = made(estimates)
        write_json(place / runs.RESULT, result.as_json())
        write_json(place / runs.RUN, {"schema": "run@1", "plan": plan, **_record(started, tally)})
    return result, place


def _without_texts(scores: Iterable[Score], items: Sequence[Item]) -> Iterator[Score]:
    """Items that are held hidden leave their texts out of what is stored and shown."""
    hidden = {item.id for item in items if getattr(item, "hidden", False)}
    for score in scores:
        yield replace(score, texts={}) if score.item in hidden else score


def _written(scores: Iterable[Score], file: Any) -> Iterator[Score]:
    for score in scores:
        write_line(file, derived(score).as_json())
        yield score


def derived(score: Score) -> Score:
    """A pair's score with its confidence, where it has one."""
    if score.skipped is not None or "sent_more" not in score.values:
        return score
    sure = confidence(score.values)
    return score if sure is None else replace(score, derived={"confidence": sure})


def _record(started: float, tally: Tally) -> dict[str, Any]:
    return {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(time.time() - started, 3),
        "asked": asdict(tally),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    }


def _result(task: Task, estimates: Sequence[Estimate]) -> Result:
    card, benchmark = task.benchmark.card, task.benchmark
    whole = benchmark.as_released and task.limit is None
    limit = (
        (f"Limited to {len(task.items)} items, drawn by lot.",) if task.limit is not None else ()
    )
    notice = (card.notice,) if card.notice else ()
    return Result(
        benchmark=benchmark.name,
        measure=task.measure,
        variant=task.settings.variant,
        model=task.card.name,
        scoring=task.scoring,
        model_card=asdict(task.card) | {"notes": list(task.card.notes)},
        data={
            "title": card.title,
            "notice": card.notice,
            "digest": benchmark.digest,
            "as_released": benchmark.as_released,
            "items": len(task.items),
            "source": benchmark.source,
            "licence": card.licence,
            "language": card.language,
            "citation": card.citation,
            "population": card.population,
            "known_problems": list(card.known_problems),
            "not_concluded": list(card.not_concluded),
        },
        settings={key: value for key, value in asdict(task.settings).items() if key != "variant"}
        | {"limit": task.limit, **task.asked},
        versions=versions(),
        notes=(*notice, *task.card.notes, *benchmark.notes, *task.notes, *limit),
        estimates=tuple(
            beside(one, benchmark.name, task.card.name, task.measure, task.settings.variant)
            if whole
            else one
            for one in estimates
        ),
    )


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("stereometer", "numpy", "scipy")}
