"""The builds that most models have today: real SmolLM2 weights (rotary positions, grouped keys, gated
layers) and ModernBERT-base's size. `python -m bench builds`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bench import weights
from bench.causal import causal_peers, sized
from bench.flops import plain_flops
from bench.models import Items, Ours, Row, bars, compared, loaded, measured, profiled, run, scorable
from bench.timing import Peak, clock, contest

CATS, PAIRS, ROUNDS = 100, 12, 3
INSIDE = {"lm-evaluation-harness": 1.95, "minicons": 2.0}
ACROSS = {"lm-evaluation-harness": 1.8, "minicons": 2.0}
Work = Callable[[], Any]


def measure() -> list[Row]:
    return measured("builds")


def builds(found: Items, peak: Peak) -> Iterator[Row]:
    yield from smollm2(found, peak)
    yield from modernbert(found)


def smollm2_folder() -> Path:
    from stereometer.core import catalog

    entry: Any = catalog.find("model", "smollm2-135m")
    folder: Path = entry.folder if entry.is_whole() else entry.add()
    return folder


def smollm2(found: Items, peak: Peak) -> Iterator[Row]:
    folder = smollm2_folder()
    ours = Ours(folder)
    sound = ours.measure("cat-pseudo-likelihood", "sound")
    peers = causal_peers(*loaded(folder, "AutoModelForCausalLM"))
    for task, items, method, least in (
        ("intrasentence", found.inside, "sentences", INSIDE),
        ("intersentence", found.across, "ratios", ACROSS),
    ):
        some = scorable(items, [sound], CATS)
        what = f"SmolLM2, StereoSet {task} ({len(some)} items)"
        score = partial(ours.scores, sound)
        score(some)
        times = contest({"ours": score} | sized(peers, method, some), some, peak, ROUNDS, len(some))
        yield from compared(what, times, bars(times, least))
        yield from shares(what, partial(score, some), 88, plain_flops(ours.backend, some, sound))
        yield from profiled(f"SmolLM2 {task}", partial(score, some))


def modernbert(found: Items) -> Iterator[Row]:
    ours = Ours(weights.modernbert_base().folder)
    likelihood = ours.measure("pair-likelihood", "sound")
    some = scorable(found.pairs, [likelihood], PAIRS)
    work = partial(ours.scores, likelihood, some)
    work()
    useful = plain_flops(ours.backend, some, likelihood)
    yield from shares(f"ModernBERT-base size, CrowS-Pairs ({len(some)} pairs)", work, 85, useful)
    yield from profiled("ModernBERT", work)


# ---------------------------------------------------------------------------- of the same sgemms


class Products(TorchDispatchMode):
    """Counts the matrix products of what runs inside, by their sizes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes: Counter[tuple[int, int, int]] = Counter()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function.overloadpacket.__name__
        if name == "linear":
            rows = args[0].numel() // args[0].shape[-1]
            self.sizes[rows, args[0].shape[-1], len(args[1])] += 1
        elif name in ("mm", "addmm", "addmm_"):
            left, right = args[-2:]
            self.sizes[*left.shape, right.shape[1]] += 1
        return function(*args, **(kwargs or {}))


def shares(what: str, work: Work, bar: int, useful: float) -> Iterator[Row]:
    """Our matrix products alone, as a share of our time, both at their least: rows are not
    padded, and attention is not counted. And the useful FLOPs a second, as a share of the rate of
    those products: more than all of them where texts that begin alike are computed together."""
    with Products() as products:
        work()
    sizes = products.sizes
    ours, alone = float("inf"), dict.fromkeys(sizes, float("inf"))
    for _ in range(ROUNDS):
        ours = min(ours, _seconds(work))
        for size in sizes:
            alone[size] = min(alone[size], _product(*size))
    seconds = sum(alone[size] * count for size, count in sizes.items())
    flops = sum(2 * rows * deep * wide * count for (rows, deep, wide), count in sizes.items())
    for words, done in (("the products that we compute", flops), ("useful FLOPs", useful)):
        yield {
            "what": f"{what}, {words} against sgemms of the same shapes",
            "value": 100 * seconds / ours * done / flops,
            "unit": "%",
            "bar": f">= {bar}",
            "gflops": done / ours / 1e9,
        }


def _product(rows: int, deep: int, wide: int) -> float:
    left, right, out = torch.randn(rows, deep), torch.randn(wide, deep), torch.empty(rows, wide)
    return min(_seconds(lambda: torch.mm(left, right.t(), out=out)) for _ in range(3))


def _seconds(work: Work) -> float:
    start = clock()
    work()
    return clock() - start


if __name__ == "__main__":
    run(builds, "SmolLM2-135M's real weights; ModernBERT-base size", sys.argv[1])
