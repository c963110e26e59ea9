"""What a head on a frozen trunk costs: one forward pass over the pairs, as tokens per second and as a
share of the sgemm peak."""

from __future__ import annotations

from typing import Any

MODELS = ("smollm2-135m", "minilm-mlm")
ROUNDS = 3


def measure() -> list[dict[str, Any]]:
    import torch

    from bench import timing
    from stereometer.core.runs.open import open_benchmark

    torch.set_num_threads(timing.THREADS)
    peak = timing.Peak()
    texts = [
        item
        for item in open_benchmark("starter").items("cat")
        if item.slices["task"] == "intersentence"
    ]
    return [row for name in MODELS for row in _rows(name, texts, peak)]


def _rows(name: str, items: Any, peak: Any) -> list[dict[str, Any]]:
    from bench import timing
    from bench.flops import trunk_flops
    from stereometer.core.runs.open import open_model
    from stereometer.models.local.sentence_pairs import Features, read_pair

    backend: Any = open_model(name, options={"threads": timing.THREADS})
    pairs = [
        read_pair(backend, item.context, text) for item in items for text in item.texts.values()
    ]
    features, seconds = Features(backend, "parts", 0), float("inf")
    for _ in range(ROUNDS):
        peak.probe()
        began = timing.clock()
        features.rows(pairs)
        seconds = min(seconds, timing.clock() - began)
    tokens, rate = (
        sum(map(len, pairs)),
        sum(trunk_flops(backend.split.inner, len(pair)) for pair in pairs) / seconds,
    )
    return [
        {
            "what": f"{name}: states of {len(pairs)} pairs",
            "value": tokens / seconds,
            "unit": "tokens/s",
            "bar": "none",
        },
        {
            "what": f"{name}: useful FLOPs against the sgemm peak",
            "value": 100 * rate / peak.rate,
            "unit": "%",
            "bar": "none",
            "gflops": rate / 1e9,
            "peak_gflops": peak.rate / 1e9,
        },
    ]
