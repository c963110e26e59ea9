"""CrowS-Pairs (Nangia et al. 2020) and its revised English version (Neveol et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stereometer.benchmarks.benchmark import PAIR_MEASURES, Shapes, Source
from stereometer.shapes.pair.files import read_pairs
from stereometer.shapes.pair.items import Pair
from stereometer.shapes.sentences import unique
from stereometer.tables import PLAIN, Layout

TYPES = (
    *("race-color", "socioeconomic", "gender", "disability", "nationality"),
    *("sexual-orientation", "physical-appearance", "religion", "age"),
)
NUMBERED = {str(at): name for at, name in enumerate(TYPES)}
"""As a hub writes bias types."""


def _named(pair: Pair) -> Pair:
    votes = tuple(tuple(NUMBERED.get(name, name) for name in vote) for vote in pair.votes)
    return replace(pair, bias_type=NUMBERED.get(pair.bias_type, pair.bias_type), votes=votes)


def read(files: Sequence[Path], layout: Layout = PLAIN) -> tuple[Shapes, Sequence[str]]:
    pairs = [_named(pair) for path in files for pair in read_pairs(path, layout)]
    unique((pair.id for pair in pairs), f"{files[0]}: pair")
    unscorable = sum(pair.unscorable is not None for pair in pairs)
    note = (
        f"{unscorable} pair(s) cannot be scored: both sentences are the same or one is empty. "
        "`sound` skips them, `paper` counts them as draws."
    )
    untyped = sum(not pair.bias_type for pair in pairs)
    more = f"{untyped} pair(s) have no bias type: they count overall and in no slice of a type."
    return {"pair": pairs}, [*([note] if unscorable else []), *([more] if untyped else [])]


ORIGINAL = Source("crows-pairs", read, {"pair": PAIR_MEASURES}, published=("pair-likelihood",))
REVISED = Source(
    "crows-pairs-revised", read, {"pair": PAIR_MEASURES}, published=("pair-likelihood",)
)
