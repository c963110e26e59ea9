"""100,000 generated items through the fake backend: memory stays flat, cost grows with items.

Bars: under 1 GB; five times the items, at most about five times the time.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from bench.child import spent


def measure() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_run(Path(folder), count) for count in (20_000, 100_000))
    return [
        {
            "what": "100,000 items through the fake backend, largest memory",
            "value": large["mb"],
            "unit": "MB",
            "bar": "< 1000",
        },
        {
            "what": "100,000 items against 20,000",
            "value": large["cpu"] / small["cpu"],
            "unit": "x CPU",
            "bar": "about 5",
        },
        {
            "what": "100,000 items, items per second",
            "value": 100_000 / large["wall"],
            "unit": "items/s",
            "bar": "none",
        },
    ]


def _run(folder: Path, count: int) -> dict[str, float]:
    file = folder / f"{count}.jsonl"
    with file.open("w") as lines:
        for n in range(count):
            item = {
                "task": "intrasentence",
                "target": f"t{n % 500}",
                "domain": f"d{n % 5}",
                "context": f"The t{n % 500} of house {n} was BLANK today.",
                "stereotype": f"calm{n % 97}",
                "anti_stereotype": f"loud{n % 89}",
                "unrelated": f"tin{n % 83}",
            }
            lines.write(json.dumps(item) + "\n")
    return spent(
        "import scipy.stats; from stereometer.core.verbs.run import run",
        f"run({str(file)!r}, model='fake', out=FOLDER + '/run')",
        repeats=1,
    )
