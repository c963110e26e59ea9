"""Values that the papers published for the same data, method and variant: shown beside ours, never instead of it."""

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
    found: dict[tuple[str, str, str], dict[Place, Published]] = {}
    text = resources.files("stereometer.benchmarks").joinpath("published.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        slice_ = tuple(sorted((name, row[name]) for name in SLICES if row[name]))
        values = found.setdefault((row["benchmark"], row["system"], row["measure"]), {})
        values[row["name"], slice_] = Published(float(row["value"]), row["source"])
    return found


def beside(one: Estimate, benchmark: str, system: str, measure: str, variant: Variant) -> Estimate:
    """The estimate with the published value, if a paper printed one for exactly this; a replay may be of any measure of its shape."""
    if variant != "paper":
        return one
    plain = measure.split("@")[0]
    place = one.name, tuple(sorted(one.slice.items()))
    for (of, by, how), values in table().items():
        if (
            (of, by) == (benchmark, system)
            and plain in (how, REPLAY_OF.get(how))
            and place in values
        ):
            return replace(one, published=values[place])
    return one


REPLAY_OF = {"cat-likelihood": "cat-replay", "pair-likelihood": "pair-replay"}
