"""What the analyses ask of an item, whatever its shape."""

from __future__ import annotations

import re

from stereometer.benchmarks.stereoset import Cat
from stereometer.shapes.pair.items import Pair

Kind = Cat | Pair
CONTRAST = {"cat": ("stereotype", "anti-stereotype"), "pair": ("sent_more", "sent_less")}
"""The stereotyping candidate and the other one."""
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("’", "'"))


def group_of(item: Kind) -> str:
    """The domain of a CAT, the bias type of a pair."""
    return item.domain if isinstance(item, Cat) else item.bias_type


def cluster_of(item: Kind) -> str:
    """Items that are alike for more than chance: those about one target term. A pair stands by itself."""
    return item.target if isinstance(item, Cat) else item.id


def votes_for(item: Kind) -> tuple[int, int] | None:
    """How many validators gave the item's own label, of how many; for a CAT the candidate they agree on least."""
    if isinstance(item, Pair):
        return (
            (sum(item.bias_type in vote for vote in item.votes), len(item.votes))
            if item.votes
            else None
        )
    counted = [
        (one.votes.count(label), len(one.votes))
        for label, one in item.candidates.items()
        if one.votes
    ]
    return min(counted) if counted and len(counted) == len(item.candidates) else None
