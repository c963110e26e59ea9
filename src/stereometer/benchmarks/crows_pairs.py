"""CrowS-Pairs (Nangia et al. 2020) and its revised English version (Neveol et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer.benchmarks.benchmark import PAIR_MEASURES, Shapes, Source
from stereometer.shapes.pair.files import read_pairs
from stereometer.shapes.sentences import unique
from stereometer.tables import PLAIN, Layout


def read(files: Sequence[Path], layout: Layout = PLAIN) -> tuple[Shapes, Sequence[str]]:
    (path,) = files
    pairs = read_pairs(path, layout)
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
