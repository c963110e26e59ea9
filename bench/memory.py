"""What scoring needs beside the model, and how cost grows: our masked path in processes of its own
on some items and on five times as many.

Bars: the model and 300 MB at any number of items; the time of a token stays the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import weights

PAIRS = 32
FACTOR = 5


def measure() -> list[dict[str, Any]]:
    small, large = (_child(count) for count in (PAIRS, PAIRS * FACTOR))
    return [
        {
            "what": f"masked scoring of {PAIRS * FACTOR} pairs, peak over the loaded process",
            "value": large["grown"],
            "unit": "MB",
            "bar": "< 300",
        },
        {
            "what": f"masked scoring of {PAIRS} pairs, peak over the loaded process",
            "value": small["grown"],
            "unit": "MB",
            "bar": "< 300",
        },
        {
            "what": "the process with torch, transformers and the model loaded, less the model",
            "value": large["loaded"] - large["model"],
            "unit": "MB",
            "bar": "none",
        },
        {
            "what": f"time per token, {FACTOR} times the pairs against one",
            "value": (large["s"] / large["tokens"]) / (small["s"] / small["tokens"]),
            "unit": "x",
            "bar": "about 1",
        },
    ]


def _child(count: int) -> dict[str, float]:
    folder = weights.bert_base().folder
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-m", "bench.memory", str(folder), str(count)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(folder: str, count: int) -> None:
    """In a process of its own: loads, scores two pairs, then counts from there."""
    import time

    from bench.models import Ours, items, scorable

    ours = Ours(Path(folder))
    asked = ours.measure("pair-likelihood", "paper")
    pairs = scorable(items().pairs, [asked], count)
    tokens = sum(
        request.tokens for pair in pairs for some in asked.plan(pair).values() for request in some
    )
    loaded = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here, not from loading
    start = time.process_time()
    ours.scores(asked, pairs)
    model = (
        sum(one.numel() * one.element_size() for one in ours.backend.model.parameters()) / 1024**2
    )
    print(
        json.dumps(
            {
                "grown": _status("VmHWM") - loaded,
                "loaded": loaded,
                "model": model,
                "s": time.process_time() - start,
                "tokens": tokens,
            }
        )
    )


def _status(name: str) -> float:
    """Of this process, in MB."""
    line = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)
    )
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
