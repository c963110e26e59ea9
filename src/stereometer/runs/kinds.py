"""What kind of numbers a stored result holds; for older results, inferred here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stereometer import catalog

STAGES = {"alignment": "alignment", "intersection": "intersection"}
"""What a measure's name ends with after `+`, where the result is not of a benchmark's items."""
BY_METRIC = {
    "ss": "cat",
    "pair_preference": "pair",
    "association": "trait",
    "accuracy": "comment",
    "flipped": "comment",
}


def kind_of(result: Mapping[str, Any]) -> str:
    """From the JSON of a result."""
    if result.get("kind"):
        return str(result["kind"])
    measure = str(result.get("measure", ""))
    name, _, stage = measure.partition("+")
    if stage in STAGES:
        return STAGES[stage]
    plain = name.split("@")[0]
    if catalog.has("method", plain):
        return catalog.shape(catalog.find("method", plain).kind).name
    metrics = [str(estimate.get("name")) for estimate in result.get("estimates", ())]
    return next((BY_METRIC[metric] for metric in metrics if metric in BY_METRIC), "plain")
