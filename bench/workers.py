"""Two workers of one thread against one process of two threads, on BERT-base's size and
CrowS-Pairs. `python -m bench workers`.

Wall clock, in turn, the least of the rounds. The workers stay from round to round, as they do
between the benchmarks of a run; what they take to start is a row of its own. On a busy machine the
two threads wait for each other at every product and the workers do not, so only a quiet one is fair.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import weights
from bench.models import Row, items, scorable
from stereometer.core import catalog
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.open import model_spec, open_model
from stereometer.core.runs.runner import Engine, Serial, Tally, computed
from stereometer.core.types import Asking
from stereometer.wings.workers.choice import Hands, WorkerEngines

WORKERS, PAIRS, ROUNDS = 2, 60, 3
LEAST = 95
Values = dict[str, dict[str, float]]


def measure() -> list[Row]:
    load = os.getloadavg()[0]
    folder = str(weights.bert_base().folder)
    loading, backend = timed(partial(open_model, folder, 0, {"threads": WORKERS}))
    method = catalog.find("method", "pair-likelihood")
    bound = method.bind(backend, "sound", method.options())
    found = items()
    pairs = scorable(found.pairs, [bound], PAIRS)
    with WorkerEngines(Hands(WORKERS)) as engines:
        engines.remember(backend, model_spec(folder, 0, {"threads": 1}))
        start, _ = timed(partial(scores, engines(backend), bound, pairs[:1]))
        ways: dict[str, Engine] = {"threads": Serial(backend), "workers": engines(backend)}
        least = contest({name: partial(scores, way, bound, pairs) for name, way in ways.items()})
    what = f"CrowS-Pairs pseudo-likelihood ({len(pairs)} pairs)"
    note = f"Timed by wall clock, load {load:.1f} when it began. Items: {found.source}"
    return [
        {"what": note, "value": None, "unit": "", "bar": ""},
        _row(
            f"{what}, {WORKERS} workers of one thread against one process of {WORKERS} threads",
            100 * least["threads"] / least["workers"],
            "% of its speed",
            f">= {LEAST}",
        ),
        _row(f"{what}, one process of {WORKERS} threads", least["threads"], "s"),
        _row(f"{what}, {WORKERS} workers of one thread", least["workers"], "s"),
        _row("Apart from that: opening the model in one process", loading, "s"),
        _row("Apart from that: starting the workers, up to the first pair", start, "s"),
    ]


def _row(what: str, value: float, unit: str, bar: str = "none") -> Row:
    return {"what": what, "value": value, "unit": unit, "bar": bar}


def scores(engine: Engine, measure: Any, some: Sequence[Any]) -> Values:
    """By the path of `stereometer run`, from an empty cache."""
    with tempfile.TemporaryDirectory() as folder, Cache(Path(folder) / "answers.sqlite") as cache:
        asking = Asking(some, measure, engine.backend)
        return {
            score.item: dict(score.values) for score in computed(asking, engine, cache, Tally())
        }


def contest(competitors: dict[str, Callable[[], Values]]) -> dict[str, float]:
    """Seconds of each, which must give the same numbers."""
    least = dict.fromkeys(competitors, float("inf"))
    for _ in range(ROUNDS):
        outcomes = {name: timed(work) for name, work in competitors.items()}
        least = {name: min(least[name], outcomes[name][0]) for name in least}
        first, second = (values for _, values in outcomes.values())
        apart = max(
            abs(first[item][name] - value)
            for item, values in second.items()
            for name, value in values.items()
        )
        if first.keys() != second.keys() or apart > 1e-3:
            raise SystemExit(f"Workers and threads differ by {apart:.2g} on a score.")
    return least


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    outcome = work()
    return time.perf_counter() - start, outcome
