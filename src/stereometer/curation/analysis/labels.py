"""How far validators agree: over the raw labels (Krippendorff's alpha), and by level (footnote 2 of
Nadeem et al. 2021)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from stereometer.shapes.sentences import SentenceItem
from stereometer.stats.agreement import Alpha, alpha
from stereometer.stats.intervals import generator
from stereometer.types import Settings


def levels(items: Sequence[SentenceItem]) -> dict[str, int]:
    """Items by how many validators gave the item's own label; a CAT is as its least agreed
    candidate."""
    counts = Counter(
        "not validated" if item.own_votes is None else "{} of {}".format(*item.own_votes)
        for item in items
    )
    return dict(sorted(counts.items()))


def agreed(items: Sequence[SentenceItem], least: int) -> set[str]:
    """Ids of the items whose own label at least `least` validators gave (of a CAT: every
    candidate's)."""
    return {item.id for item in items if item.own_votes and item.own_votes[0] >= least}


def raw_alpha(items: Sequence[SentenceItem], settings: Settings) -> Alpha:
    """Over the candidates of CATs, or over pairs; items about one term are drawn together."""
    clusters: dict[Hashable, list[Any]] = {}
    for item in items:
        clusters.setdefault(item.term or item.id, []).extend(item.labels)
    return alpha(
        clusters, settings.resamples, settings.level, generator(settings.seed, {}, "alpha")
    )
