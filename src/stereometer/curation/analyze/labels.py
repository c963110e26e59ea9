"""How far validators agree: by target term (Table 10), over the raw labels (Krippendorff's alpha), and by level (footnote 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from stereometer.benchmarks.stereoset import Cat
from stereometer.curation.analyze.items import Kind, cluster_of, votes_for
from stereometer.stats.agreement import Alpha, alpha
from stereometer.stats.intervals import generator
from stereometer.types import Settings


def levels(items: Sequence[Kind]) -> dict[str, int]:
    """Items by how many validators gave the item's own label; a CAT stands at the level of its least agreed candidate."""
    counted: Counter[str] = Counter()
    for item in items:
        votes = votes_for(item)
        counted["not validated" if votes is None else f"{votes[0]} of {votes[1]}"] += 1
    return dict(sorted(counted.items()))


def agreed(items: Sequence[Kind], least: int) -> set[str]:
    """Ids of the items whose own label at least `least` validators gave (for a CAT: every candidate's)."""
    return {
        item.id for item in items if (votes := votes_for(item)) is not None and votes[0] >= least
    }


def raw_alpha(items: Sequence[Kind], settings: Settings) -> Alpha:
    """Over the candidates of CATs, or over pairs, where a validator's label is the set of bias types named."""
    clusters: dict[Hashable, list[Sequence[Hashable]]] = {}
    for item in items:
        units: list[Sequence[Hashable]]
        units = (
            [one.votes for one in item.candidates.values()]
            if isinstance(item, Cat)
            else [[frozenset(vote) for vote in item.votes]]
        )
        clusters.setdefault(cluster_of(item), []).extend(units)
    return alpha(
        clusters, settings.resamples, settings.level, generator(settings.seed, {}, "alpha")
    )
