"""CrowS-Pairs (Nangia et al. 2020), its revised English and its French version (Neveol et al.
2022)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer.benchmarks.benchmark import PAIR_MEASURES, Shapes, Source
from stereometer.shapes.pair.files import read_pairs
from stereometer.shapes.sentences import unique


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    (path,) = files
    pairs = read_pairs(path)
    unique((pair.id for pair in pairs), f"{path}: pair")
    unscorable = sum(pair.unscorable is not None for pair in pairs)
    note = (
        f"{unscorable} pair(s) cannot be scored: both sentences are the same or one is empty. "
        "`sound` skips them, `paper` counts them as draws."
    )
    return {"pair": pairs}, [note] if unscorable else []


ORIGINAL = Source("crows-pairs", read, {"pair": PAIR_MEASURES}, published=("pair-likelihood",))
REVISED = Source(
    "crows-pairs-revised", read, {"pair": PAIR_MEASURES}, published=("pair-likelihood",)
)
FRENCH = Source("crows-pairs-french", read, {"pair": PAIR_MEASURES}, published=("pair-likelihood",))
