"""Values that papers published for the same data, method and variant: shown beside ours."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources

from stereometer.types import Estimate, Published, Variant

Place = tuple[str, tuple[tuple[str, str], ...]]
"""A metric and its slice."""
SLICES = ("task", "domain", "direction", "bias_type", "category", "example_set")


@cache
def table() -> Mapping[tuple[str, str, str], Mapping[Place, Published]]:
    """`published.csv` by benchmark, system and measure, then by metric and slice."""
    by_measure: dict[tuple[str, str, str], dict[Place, Published]] = {}
    text = resources.files("stereometer.benchmarks").joinpath("published.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        slice_ = tuple(sorted((name, row[name]) for name in SLICES if row[name]))
        values = by_measure.setdefault((row["benchmark"], row["system"], row["measure"]), {})
        values[row["name"], slice_] = Published(float(row["value"]), row["source"])
    return by_measure


REPLAYED = {"cat-replay": "cat-likelihood", "pair-replay": "pair-likelihood"}
"""A replay may be of any measure of its shape: it is compared with the paper's own."""


def beside(
    estimate: Estimate, benchmark: str, system: str, measure: str, variant: Variant
) -> Estimate:
    """The estimate with the published value, if a paper printed one for exactly this."""
    if variant != "paper":
        return estimate
    name = measure.split("@")[0]
    place = estimate.name, tuple(sorted(estimate.slice.items()))
    for known in (name, REPLAYED.get(name, name)):
        values = table().get((benchmark, system, known), {})
        if place in values:
            return replace(estimate, published=values[place])
    return estimate
