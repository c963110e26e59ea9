"""What older results do not say of themselves; it is inferred here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stereometer import catalog
from stereometer.types import Settings

DEFAULT = Settings()
STAGES = {"alignment": "alignment", "intersection": "intersection"}
"""What a measure's name ends with after `+`, where the result is not of a benchmark's items."""
BY_METRIC = {
    "ss": "cat",
    "pair_preference": "pair",
    "association": "trait",
    "accuracy": "comment",
    "flipped": "comment",
}
NO_EFFECT = ("not ", "undecided", "undetermined", "within ")
"""What verdicts that name no effect begin with."""


def completed(result: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a result with its kind, and with `beyond_noise` where something is tested."""
    known = {**result, "kind": kind_of(result)}
    if "estimates" not in result:  # damage, which is for the reader to name
        return known
    level = result.get("settings", {}).get("level", DEFAULT.level)
    return {**known, "estimates": [_judged(row, level) for row in result["estimates"]]}


def _judged(row: Mapping[str, Any], level: float) -> Mapping[str, Any]:
    verdict, p = row.get("verdict"), row.get("p_adjusted")
    if "beyond_noise" in row or verdict is None or p is None:
        return row
    return {**row, "beyond_noise": p < 1 - level and not verdict.startswith(NO_EFFECT)}


def kind_of(result: Mapping[str, Any]) -> str:
    """From the JSON of a result."""
    if result.get("kind"):
        return str(result["kind"])
    measure = str(result.get("measure", ""))
    name, _, stage = measure.partition("+")
    if stage in STAGES:
        return STAGES[stage]
    if method := catalog.method(name):
        return catalog.shape(method.kind).name
    metrics = [str(estimate.get("name")) for estimate in result.get("estimates", ())]
    return next((BY_METRIC[metric] for metric in metrics if metric in BY_METRIC), "plain")
