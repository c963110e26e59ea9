"""Language models scored by us, by the authors' plain loops and by the peers: same weights, same items, same process.

Each competitor's scores are compared with ours before its time is: the ratio is between ways to the same numbers.
`python -m bench models` runs this file in the environment that has the peers.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from bench import environment, weights

PAIRS, CATS = 60, 100
PAIR_ROUNDS, CAT_ROUNDS = 2, 3
PAIR_BLOCK = 12
"""Pairs that competitors take turns on: short enough that a noisy minute does not spoil a whole round."""
AGREE = 1e-3
"""How far two scores of a sentence may be apart: sums over some 20 tokens in float32."""
SIZES = (8, 16, 32)
"""Batch sizes tried for a peer."""

Row = dict[str, Any]


def measure() -> list[Row]:
    """The rows, from a process of the environment with peers."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        _, reason = environment.run("bench.models", str(file))
        rows: list[Row] = json.loads(file.read_text())
    return rows if not reason else [*rows, {"what": f"Peers skipped. {reason}", "value": None, "unit": "", "bar": ""}]


# ------------------------------------------------------------------------------------------------------- items


@dataclass(frozen=True)
class Items:
    pairs: Sequence[Any]
    inside: Sequence[Any]
    across: Sequence[Any]
    source: str


def items() -> Items:
    """Real ones where STEREOMETER_DATA names them, otherwise the starter set's."""
    import os

    from stereometer import api

    if os.environ.get("STEREOMETER_DATA"):
        pairs, cats = api.open_named("crows-pairs").items("pair"), api.open_named("stereoset").items("cat")
        source = "CrowS-Pairs and StereoSet (dev)"
    else:
        starter = api.open_named("starter")
        pairs, cats, source = starter.items("pair"), starter.items("cat"), "the starter set, because STEREOMETER_DATA is not set"
    inside, across = ([item for item in cats if item.task == task] for task in ("intrasentence", "intersentence"))
    return Items(pairs, inside, across, source)


def scorable(found: Sequence[Any], measures: Sequence[Any], count: int) -> Sequence[Any]:
    """So many items, spread evenly, that every measure can plan."""
    from stereometer.runner import limited, planned

    spread = limited(found, min(len(found), count + count // 5))
    kept = [item for item in spread if all(plan.skipped is None for measure in measures for plan in planned([item], measure))]
    return kept[:count]


# --------------------------------------------------------------------------------------------------------- ours


class Ours:
    """The path of `stereometer run`: plan, ask, keep answers on disk, score. Every call begins with an empty cache."""

    def __init__(self, folder: Path) -> None:
        from bench import timing
        from stereometer import api

        self.backend: Any = api.open_model(str(folder), options={"threads": timing.THREADS})
        self.backend.card.identity  # noqa: B018  hashed once, as in a run

    def measure(self, name: str, variant: str) -> Any:
        from stereometer import catalog

        return catalog.find("measure", name)(self.backend, variant)

    def scores(self, measure: Any, some: Sequence[Any]) -> dict[tuple[str, str], float]:
        from stereometer.cache import Cache
        from stereometer.runner import Tally, computed

        with tempfile.TemporaryDirectory() as folder, Cache(Path(folder) / "answers.sqlite") as cache:
            found = computed(some, measure, self.backend, cache, Tally())
            return {(score.item, name): value for score in found for name, value in score.values.items()}


# ------------------------------------------------------------------------------------------------------- contests


def compared(what: str, times: Mapping[str, Any], bars: Mapping[str, float | None]) -> list[Row]:
    """A row for each competitor: how many times our speed, and whether it gave our numbers."""
    rows = []
    for name, bar in bars.items():
        if name not in times:
            continue
        ours, theirs = times["ours"], times[name]
        apart = max(abs(ours.answers[key] - value) for key, value in theirs.answers.items())
        if apart > AGREE or ours.answers.keys() != theirs.answers.keys():
            raise SystemExit(f"{what}: {name} and we differ by {apart:.2g} on a score. A ratio of speeds would compare different things.")
        rows.append(
            {"what": f"{what}, against {name}", "value": theirs.seconds / ours.seconds, "unit": "x", "bar": f">= {bar}" if bar else "none",
             "ours_s": ours.seconds, "theirs_s": theirs.seconds, "apart": apart}
        )  # fmt: skip
    return rows


def masked(found: Items, peak: Any) -> Iterator[Row]:
    from bench.flops import useful_flops
    from bench.loops import MaskedLoop, logged
    from bench.timing import best_size, contest

    made = weights.bert_base()
    ours = Ours(made.folder)
    model, tokenizer = loaded(made.folder, "AutoModelForMaskedLM")
    pairs_measure, fill_measure = ours.measure("pair-likelihood", "paper"), ours.measure("cat-likelihood", "paper")
    pairs, cats = scorable(found.pairs, [pairs_measure], PAIRS), scorable(found.inside, [fill_measure], CATS)
    loop = MaskedLoop(model, ours.backend)
    competitors: dict[str, Any] = {"ours": partial(ours.scores, pairs_measure), "the authors' loop": loop.pairs}
    if find_spec("minicons"):
        from bench.peers import MiniconsMasked

        peer = MiniconsMasked(model, tokenizer)
        size = best_size(peer.pairs, pairs[:3], (1, 2, 4))
        competitors[f"minicons (batches of {size})"] = lambda some: peer.pairs(some, size)
    ours.scores(pairs_measure, pairs[:1])
    times = contest(competitors, pairs, peak, PAIR_ROUNDS, PAIR_BLOCK)
    yield from compared(
        f"CrowS-Pairs pseudo-likelihood ({len(pairs)} pairs)", times, bars(times, {"the authors' loop": 3.5, "minicons": 1.6})
    )
    rate = useful_flops(model.config, pairs, pairs_measure) / times["ours"].seconds
    yield {"what": "CrowS-Pairs pseudo-likelihood, useful FLOPs against the sgemm peak", "value": 100 * rate / peak.rate, "unit": "%", "bar": ">= 88",
           "gflops": rate / 1e9, "peak_gflops": peak.rate / 1e9}  # fmt: skip
    fill = {"ours": lambda some: logged(ours.scores(fill_measure, some)), "the authors' loop": lambda some: logged(loop.fillers(some))}
    times = contest(fill, cats, peak, CAT_ROUNDS, CATS)
    yield from compared(f"StereoSet masked likelihood ({len(cats)} items)", times, {"the authors' loop": 8})
    yield from profiled("BERT", partial(ours.scores, pairs_measure, pairs[:PAIR_BLOCK]))


def causal(found: Items, peak: Any) -> Iterator[Row]:
    from bench.loops import CausalLoop

    made = weights.gpt2_small()
    ours = Ours(made.folder)
    model, tokenizer = loaded(made.folder, "AutoModelForCausalLM")
    loop = CausalLoop(model, ours.backend)
    sound, paper = (ours.measure("cat-pseudo-likelihood", variant) for variant in ("sound", "paper"))
    inside, across = (scorable(some, [sound, paper], CATS) for some in (found.inside, found.across))
    peers = causal_peers(model, tokenizer)
    yield from race("StereoSet causal, intrasentence, as the authors score it", ours, paper, inside, peak,
                    {"the authors' loop": loop.sentences, "the authors' loop with its start mark computed once": loop.sentences_start_once})  # fmt: skip
    yield from race("StereoSet causal, intrasentence", ours, sound, inside, peak, sized(peers, "sentences", inside))
    yield from race(
        "StereoSet causal, intersentence", ours, sound, across, peak, {"the authors' loop": loop.ratios} | sized(peers, "ratios", across)
    )
    yield from profiled("GPT-2", partial(ours.scores, sound, across))


CAUSAL_BARS = {"the authors' loop": 6.0, "lm-evaluation-harness": 2.3, "minicons": 2.7}


def race(what: str, ours: Ours, measure: Any, some: Sequence[Any], peak: Any, others: Mapping[str, Any]) -> list[Row]:
    from bench.timing import contest

    if not others:
        return []
    ours.scores(measure, some[:2])
    times = contest({"ours": partial(ours.scores, measure)} | dict(others), some, peak, CAT_ROUNDS, CATS)
    return compared(f"{what} ({len(some)} items)", times, bars(times, CAUSAL_BARS))


def bars(times: Mapping[str, Any], by_name: Mapping[str, float]) -> dict[str, float | None]:
    """Each competitor's bar; a peer's name goes on with its batch size, and a variant of a loop has none."""
    return {name: by_name.get(name.split(" (")[0]) for name in times if name != "ours"}


def causal_peers(model: Any, tokenizer: Any) -> dict[str, Any]:
    from bench.peers import Harness, MiniconsCausal

    kinds = {"lm-evaluation-harness": ("lm_eval", Harness), "minicons": ("minicons", MiniconsCausal)}
    return {name: kind(model, tokenizer) for name, (package, kind) in kinds.items() if find_spec(package)}


def sized(peers: Mapping[str, Any], method: str, some: Sequence[Any]) -> dict[str, Callable[[Sequence[Any]], Any]]:
    """Each peer at the batch size at which it is fastest on a part of the items."""
    from bench.timing import best_size

    found: dict[str, Callable[[Sequence[Any]], Any]] = {}
    for name, peer in peers.items():
        score = getattr(peer, method)
        size = best_size(score, some[: len(some) // 4], SIZES)
        found[f"{name} (batches of {size})"] = partial(_at_size, score, size)
    return found


def _at_size(score: Callable[[Sequence[Any], int], Any], size: int, some: Sequence[Any]) -> Any:
    return score(some, size)


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
        {"what": f"{name} profile, {event.key}", "value": 100 * event.self_cpu_time_total / whole, "unit": "% of our time", "bar": "none"}
        for event in table[:8]
    ]


def main(file: str) -> None:
    """Rows into a file; progress to the terminal."""
    import torch
    from transformers.utils import logging

    from bench import timing
    from bench.__main__ import line

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(timing.THREADS)
    found, peak, began = items(), timing.Peak(), time.time()
    clock = "CPU seconds of one thread, because the machine was busy" if timing.BUSY else "wall clock, two threads"
    rows: list[Row] = [{"what": f"Timed by {clock}. Items: {found.source}. BERT-base size: {weights.bert_base().vocabulary}. GPT-2-small size: {weights.gpt2_small().vocabulary}",
                        "value": None, "unit": "", "bar": ""}]  # fmt: skip
    for row in chain(masked(found, peak), causal(found, peak)):
        rows.append(row)
        print(f"{time.time() - began:6.0f} s  {line(row)}", file=sys.stderr, flush=True)
    rows.append(
        {"what": f"sgemm peak (2048^3, float32, threads: {timing.THREADS})", "value": peak.rate / 1e9, "unit": "GFLOP/s", "bar": "none"}
    )
    Path(file).write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1])
