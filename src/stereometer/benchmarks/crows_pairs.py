"""CrowS-Pairs (Nangia et al. 2020), its revised English and its French version (Neveol et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stereometer.benchmarks.benchmark import PAIR_MEASURES, Shapes, Source
from stereometer.benchmarks.stereoset import unique
from stereometer.shapes.pair.items import DIRECTIONS, Pair, read_pairs


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    (path,) = files
    pairs = read_pairs(path)
    unique((pair.id for pair in pairs), f"{path}: pair")
    same = sum(pair.unscorable is not None for pair in pairs)
    return {"pair": pairs}, [
        f"{same} pair(s) cannot be scored: both sentences are the same or one is empty. `sound` skips them, `paper` counts them as draws."
    ] if same else []


def statistics(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Counts of the paper's Table 2 by bias type and direction, with mean words and how many validators named the pair's own type."""
    types = sorted(
        {pair.bias_type for pair in pairs},
        key=lambda name: (-sum(pair.bias_type == name for pair in pairs), name),
    )
    rows = [_row(name, [pair for pair in pairs if pair.bias_type == name]) for name in types]
    return [*rows, _row("all", pairs)]


def _row(bias_type: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    shares = [agreement_of(pair) for pair in pairs if pair.votes]
    lengths = [len(text.split()) for pair in pairs for text in pair.texts.values()]
    directions = {
        direction: sum(pair.direction == direction for pair in pairs) for direction in DIRECTIONS
    }
    return {
        "bias_type": bias_type,
        "pairs": len(pairs),
        **directions,
        "words": sum(lengths) / len(lengths) if lengths else None,
        "agreement": sum(shares) / len(shares) if shares else None,
        "contested": sum(share < 0.5 for share in shares) if shares else None,
    }


def agreement_of(pair: Pair) -> float:
    """The share of validators who named the pair's own bias type."""
    return sum(pair.bias_type in vote for vote in pair.votes) / len(pair.votes)


ORIGINAL = Source("crows-pairs", read, {"pair": PAIR_MEASURES})
REVISED = Source("crows-pairs-revised", read, {"pair": PAIR_MEASURES})
FRENCH = Source("crows-pairs-french", read, {"pair": PAIR_MEASURES})
