"""Language models scored by us, by the authors' plain loops and by the peers: same weights, same
items, same process.

Each competitor's scores are compared with ours before its time is: the ratio is between ways to the
same numbers. `bench.masked` and `bench.causal` are the contests; they run in the environment that
has the peers.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import environment

AGREE = 1e-3
"""How far two scores of a sentence may be apart: sums over some 20 tokens in float32."""
Row = dict[str, Any]


def measured(name: str) -> list[Row]:
    """The rows of a contest (`masked`, `causal`), from a process of the environment with peers."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        _, reason = environment.run(f"bench.{name}", str(file))
        rows: list[Row] = json.loads(file.read_text())
    return (
        rows
        if not reason
        else [*rows, {"what": f"Peers skipped. {reason}", "value": None, "unit": "", "bar": ""}]
    )


# -------------------------------------------------------------------------------------------- items


@dataclass(frozen=True)
class Items:
    pairs: Sequence[Any]
    inside: Sequence[Any]
    across: Sequence[Any]
    source: str


def items() -> Items:
    """Real ones where STEREOMETER_DATA names them, otherwise the starter set's."""
    import os

    from stereometer.core.runs.open import open_benchmark

    if os.environ.get("STEREOMETER_DATA"):
        pairs, cats = (
            open_benchmark("crows-pairs").items("pair"),
            open_benchmark("stereoset").items("cat"),
        )
        source = "CrowS-Pairs and StereoSet (dev)"
    else:
        starter = open_benchmark("starter")
        pairs, cats, source = (
            starter.items("pair"),
            starter.items("cat"),
            "the starter set, because STEREOMETER_DATA is not set",
        )
    inside, across = (
        [item for item in cats if item.slices["task"] == task]
        for task in ("intrasentence", "intersentence")
    )
    return Items(pairs, inside, across, source)


def scorable(found: Sequence[Any], measures: Sequence[Any], count: int) -> Sequence[Any]:
    """So many items, spread evenly, that every measure can plan."""
    from stereometer.core.runs.job import limited
    from stereometer.core.runs.runner import planned

    spread = limited(found, min(len(found), count + count // 5))
    kept = [
        item
        for item in spread
        if all(plan.skipped is None for measure in measures for plan in planned([item], measure))
    ]
    return kept[:count]


# --------------------------------------------------------------------------------------------- ours


class Ours:
    """The path of `stereometer run`: plan, ask, keep answers on disk, score. Every call begins with
    an empty cache."""

    def __init__(self, folder: Path) -> None:
        from bench import timing
        from stereometer.core.runs.open import open_model

        self.backend: Any = open_model(str(folder), options={"threads": timing.THREADS})
        self.backend.card.identity  # noqa: B018  hashed once, as in a run

    def measure(self, name: str, variant: str) -> Any:
        from stereometer.core import catalog

        method = catalog.find("method", name)
        return method.bind(self.backend, variant, method.options())

    def scores(self, measure: Any, some: Sequence[Any]) -> dict[tuple[str, str], float]:
        from stereometer.core.runs.cache import Cache
        from stereometer.core.runs.runner import Serial, Tally, computed
        from stereometer.core.types import Asking

        with (
            tempfile.TemporaryDirectory() as folder,
            Cache(Path(folder) / "answers.sqlite") as cache,
        ):
            found = computed(
                Asking(some, measure, self.backend), Serial(self.backend), cache, Tally()
            )
            return {
                (score.item, name): value for score in found for name, value in score.values.items()
            }


# ----------------------------------------------------------------------------------------- contests


def compared(what: str, times: Mapping[str, Any], bars: Mapping[str, float | None]) -> list[Row]:
    """A row for each competitor: how many times our speed, and whether it gave our numbers."""
    rows = []
    for name, bar in bars.items():
        if name not in times:
            continue
        ours, theirs = times["ours"], times[name]
        apart = max(abs(ours.answers[key] - value) for key, value in theirs.answers.items())
        if apart > AGREE or ours.answers.keys() != theirs.answers.keys():
            raise SystemExit(
                f"{what}: {name} and we differ by {apart:.2g} on a score. A ratio of speeds would"
                " compare different things."
            )
        rows.append(
            {
                "what": f"{what}, against {name}",
                "value": theirs.seconds / ours.seconds,
                "unit": "x",
                "bar": f">= {bar}" if bar else "none",
                "ours_s": ours.seconds,
                "theirs_s": theirs.seconds,
                "apart": apart,
            }
        )
    return rows


def bars(times: Mapping[str, Any], by_name: Mapping[str, float]) -> dict[str, float | None]:
    """Each competitor's bar; a peer's name goes on with its batch size, and a variant of a loop has
    none."""
    return {name: by_name.get(name.split(" (")[0]) for name in times if name != "ours"}


def loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    """The weights once more, for the competitors: nothing of ours is in their model."""
    import torch
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder, dtype=torch.float32).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def profiled(name: str, work: Callable[[], Any]) -> list[Row]:
    """Where our time goes, by operator: the five that take most."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as seen:
        work()
    table = sorted(seen.key_averages(), key=lambda event: -event.self_cpu_time_total)
    whole = sum(event.self_cpu_time_total for event in table)
    return [
        {
            "what": f"{name} profile, {event.key}",
            "value": 100 * event.self_cpu_time_total / whole,
            "unit": "% of our time",
            "bar": "none",
        }
        for event in table[:8]
    ]


Contest = Callable[[Items, Any], Iterator[Row]]


def run(contest: Contest, weights_line: str, file: str) -> None:
    """Rows into a file; progress to the terminal."""
    import torch
    from transformers.utils import logging

    from bench import timing
    from bench.__main__ import line

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(timing.THREADS)
    found, peak, began = items(), timing.Peak(), time.time()
    clock = (
        "CPU seconds of one thread, because the machine was busy"
        if timing.BUSY
        else "wall clock, two threads"
    )
    rows: list[Row] = [
        {
            "what": f"Timed by {clock}. Items: {found.source}. {weights_line}",
            "value": None,
            "unit": "",
            "bar": "",
        }
    ]
    for row in contest(found, peak):
        rows.append(row)
        print(f"{time.time() - began:6.0f} s  {line(row)}", file=sys.stderr, flush=True)
    for name, best in (("one product", peak.rate), (f"{timing.IN_A_ROW} in a row", peak.sustained)):
        what = f"sgemm peak (2048^3, float32, threads: {timing.THREADS}), {name}"
        rows.append({"what": what, "value": best / 1e9, "unit": "GFLOP/s", "bar": "none"})
    Path(file).write_text(json.dumps(rows))
