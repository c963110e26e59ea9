"""One StereoSet system replayed with 10,000 resamples, and how cost grows with items.

Bars: under 3 s CPU after import, under 400 MB, cost linear in items (twice the items, at most about
twice the time).
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from bench.child import spent

IMPORTS = "import scipy.stats; from stereometer.wings.replay.runs import replay"


def measure() -> list[dict[str, Any]]:
    rows = _grown()
    data = os.environ.get("STEREOMETER_DATA")
    if data:
        file = Path(data) / "stereoset/predictions/predictions_gpt2_ModelNSP_GPT2LM.json.gz"
        real = spent(IMPORTS, f"replay({str(file)!r}, benchmark='stereoset', out=FOLDER + '/run')")
        rows += [
            {
                "what": "StereoSet replay, 10,000 resamples, CPU after import",
                "value": real["cpu"],
                "unit": "s",
                "bar": "< 3",
            },
            {
                "what": "StereoSet replay, largest memory",
                "value": real["mb"],
                "unit": "MB",
                "bar": "< 400",
            },
        ]
    return rows


def _grown() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        cpu = {count: _generated(Path(folder), count)["cpu"] for count in (20_000, 40_000)}
    return [
        {
            "what": "replay of 40,000 generated items against 20,000",
            "value": cpu[40_000] / cpu[20_000],
            "unit": "x CPU",
            "bar": "about 2",
        }
    ]


def _generated(folder: Path, count: int) -> dict[str, float]:
    labels = ("stereotype", "anti-stereotype", "unrelated")
    items = [
        {
            "id": f"i{n}",
            "target": f"t{n % 80}",
            "bias_type": f"d{n % 4}",
            "context": f"About t{n % 80}, number {n}.",
            "sentences": [
                {"id": f"i{n}-{label}", "sentence": f"{label} {n}.", "gold_label": label}
                for label in labels
            ],
        }
        for n in range(count)
    ]
    scores = [
        {"id": f"i{n}-{label}", "score": -((n * 7919 + index * 104729) % 1000) / 100}
        for n in range(count)
        for index, label in enumerate(labels)
    ]
    (folder / "data.json").write_text(json.dumps({"data": {"intersentence": items}}))
    (folder / "scores.json").write_text(json.dumps({"intersentence": scores}))
    return spent(
        IMPORTS,
        f"replay({str(folder / 'scores.json')!r}, benchmark='stereoset',"
        f" data={str(folder / 'data.json')!r}, out=FOLDER + '/run')",
    )
