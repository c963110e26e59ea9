"""Masked models: CrowS-Pairs pseudo-likelihood on BERT-base's size. `python -m bench masked`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from bench import weights
from bench.models import Items, Ours, Row, bars, compared, loaded, measured, profiled, run, scorable

PAIRS = 60
PAIR_ROUNDS, LOOP_ROUNDS = 4, 2
PAIR_BLOCK = 12
"""Pairs that competitors take turns on: short enough that a noisy minute does not spoil a whole
round."""


def measure() -> list[Row]:
    return measured("masked")


def masked(found: Items, peak: Any) -> Iterator[Row]:
    from bench.flops import useful_flops
    from bench.loops import MaskedLoop
    from bench.timing import IN_A_ROW, contest

    made = weights.bert_base()
    ours = Ours(made.folder)
    model, tokenizer = loaded(made.folder, "AutoModelForMaskedLM")
    pairs_measure = ours.measure("pair-likelihood", "paper")
    pairs = scorable(found.pairs, [pairs_measure], PAIRS)
    loop = MaskedLoop(model, ours.backend)
    score = partial(ours.scores, pairs_measure)
    ours.scores(pairs_measure, pairs[:1])
    what = f"CrowS-Pairs pseudo-likelihood ({len(pairs)} pairs)"
    peers = masked_peers(model, tokenizer, pairs)
    times = contest({"ours": score} | peers, pairs, peak, PAIR_ROUNDS, PAIR_BLOCK)
    yield from compared(what, times, bars(times, {"minicons": 1.6}))
    rate = useful_flops(model.config, pairs, pairs_measure) / times["ours"].seconds
    for name, best in (
        (f"{IN_A_ROW} sgemms in a row, timed in turn by the same rule", times["ours"].peak),
        ("the best single sgemm of the run", peak.rate),
        (f"{IN_A_ROW} sgemms in a row, the best of the run", peak.sustained),
    ):
        yield {
            "what": f"CrowS-Pairs pseudo-likelihood, useful FLOPs against {name}",
            "value": 100 * rate / best,
            "unit": "%",
            "bar": ">= 88",
            "gflops": rate / 1e9,
            "peak_gflops": best / 1e9,
        }
    times = contest(
        {"ours": score, "the authors' loop": loop.pairs}, pairs, peak, LOOP_ROUNDS, PAIR_BLOCK
    )
    yield from compared(what, times, {"the authors' loop": 3.5})
    yield from profiled("BERT", partial(ours.scores, pairs_measure, pairs[:PAIR_BLOCK]))


def masked_peers(model: Any, tokenizer: Any, pairs: Sequence[Any]) -> dict[str, Any]:
    if not find_spec("minicons"):
        return {}
    from bench.peers import MiniconsMasked
    from bench.timing import best_size

    peer = MiniconsMasked(model, tokenizer)
    size = best_size(peer.pairs, pairs[:3], (1, 2, 4))
    return {f"minicons (batches of {size})": lambda some: peer.pairs(some, size)}


if __name__ == "__main__":
    run(masked, f"BERT-base size: {weights.bert_base().vocabulary}", sys.argv[1])
