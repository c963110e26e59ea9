"""Causal models: StereoSet within and across sentences, on GPT-2-small's size. `python -m bench
causal`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from bench import weights
from bench.models import Items, Ours, Row, bars, compared, loaded, measured, profiled, run, scorable

CATS, ROUNDS = 100, 3
SIZES = (8, 16, 32)
"""Batch sizes tried for a peer."""


def measure() -> list[Row]:
    return measured("causal")


def causal(found: Items, peak: Any) -> Iterator[Row]:
    from bench.loops import CausalLoop

    made = weights.gpt2_small()
    ours = Ours(made.folder)
    model, tokenizer = loaded(made.folder, "AutoModelForCausalLM")
    loop = CausalLoop(model, ours.backend)
    sound, paper = (
        ours.measure("cat-pseudo-likelihood", variant) for variant in ("sound", "paper")
    )
    inside, across = (scorable(some, [sound, paper], CATS) for some in (found.inside, found.across))
    peers = causal_peers(model, tokenizer)
    yield from race(
        "StereoSet causal, intrasentence, as the authors score it",
        ours,
        paper,
        inside,
        peak,
        {
            "the authors' loop": loop.sentences,
            "the authors' loop with its start mark computed once": loop.sentences_start_once,
        },
    )
    yield from race(
        "StereoSet causal, intrasentence",
        ours,
        sound,
        inside,
        peak,
        sized(peers, "sentences", inside),
    )
    yield from race(
        "StereoSet causal, intersentence",
        ours,
        sound,
        across,
        peak,
        {"the authors' loop": loop.ratios} | sized(peers, "ratios", across),
    )
    yield from profiled("GPT-2", partial(ours.scores, sound, across))


CAUSAL_BARS = {"the authors' loop": 6.0, "lm-evaluation-harness": 2.3, "minicons": 2.7}


def race(
    what: str, ours: Ours, measure: Any, some: Sequence[Any], peak: Any, others: Mapping[str, Any]
) -> list[Row]:
    from bench.timing import contest

    if not others:
        return []
    ours.scores(measure, some[:2])
    times = contest(
        {"ours": partial(ours.scores, measure)} | dict(others), some, peak, ROUNDS, CATS
    )
    return compared(f"{what} ({len(some)} items)", times, bars(times, CAUSAL_BARS))


def causal_peers(model: Any, tokenizer: Any) -> dict[str, Any]:
    from bench.peers import Harness, MiniconsCausal

    kinds = {
        "lm-evaluation-harness": ("lm_eval", Harness),
        "minicons": ("minicons", MiniconsCausal),
    }
    return {
        name: kind(model, tokenizer)
        for name, (package, kind) in kinds.items()
        if find_spec(package)
    }


def sized(
    peers: Mapping[str, Any], method: str, some: Sequence[Any]
) -> dict[str, Callable[[Sequence[Any]], Any]]:
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


if __name__ == "__main__":
    run(causal, f"GPT-2-small size: {weights.gpt2_small().vocabulary}", sys.argv[1])
