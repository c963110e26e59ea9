"""A set of items parted by target term (Nadeem et al. 2021, section 5.1): one part to work with, one held back.

No term is on both sides, so that what is learnt from one part says nothing by itself about the other. The lot is drawn once
over the items of all shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer import api
from stereometer.benchmarks.benchmark import content
from stereometer.benchmarks.stereoset import Cat
from stereometer.curation.analyze.items import group_of
from stereometer.curation.groups import Group, groups_of
from stereometer.curation.write import SUFFIX, write_items
from stereometer.errors import DataError, UsageError
from stereometer.files import write_json
from stereometer.shapes.pair.items import Pair
from stereometer.types import digest_of

SHARE = 0.25
PARTS = ("dev", "test")


@dataclass(frozen=True)
class Part:
    """One side of a split: what its file holds."""

    part: str
    shape: str
    file: str
    items: int
    terms: int | None
    """Target terms; a pair has none."""
    connected: int
    """Groups of items that share a word, which stay together."""
    digest: str
    hidden: bool
    groups: Mapping[str, int]
    """Items by domain or bias type."""


@dataclass(frozen=True)
class Parted:
    dev: Sequence[Group]
    test: Sequence[Group]
    by: str
    """What connects the items of a group."""


def parted(items: Sequence[Any], share: float, seed: int) -> Parted:
    """About `share` of the items of every domain, drawn by lot in whole groups, and the rest."""
    groups, by = groups_of(items, max(share, 1 - share))
    if len(groups) < 2:
        raise UsageError(
            "The items are about a single target term. A split needs terms on both sides. Choose another set."
        )
    lots = sorted(groups, key=lambda group: digest_of([seed, group.domain, *group.words]))
    domains: dict[str, list[Group]] = {}
    for group in lots:
        domains.setdefault(group.domain, []).append(group)
    chosen = {group.words for some in domains.values() for group in _drawn(some, share)}
    if not chosen:
        chosen = {_smallest(lots).words}
    elif len(chosen) == len(lots):
        chosen.discard(_smallest(lots).words)
    return Parted(
        [one for one in lots if one.words in chosen],
        [one for one in lots if one.words not in chosen],
        by,
    )


def _drawn(groups: Sequence[Group], share: float) -> list[Group]:
    """In their order, those that bring the items nearer to the share; at least one on each side where there are two."""
    wanted, count = share * sum(len(group.items) for group in groups), 0
    found: list[Group] = []
    for group in groups:
        if abs(count + len(group.items) - wanted) < abs(count - wanted):
            found.append(group)
            count += len(group.items)
    if len(groups) > 1 and len(found) in (0, len(groups)):
        least = _smallest(groups)
        return [group for group in groups if (group is least) is not bool(found)]
    return found


def _smallest(groups: Sequence[Group]) -> Group:
    return min(groups, key=lambda group: len(group.items))


def split(
    name: str,
    out: str | Path,
    *,
    data: str | Path | None = None,
    share: float = SHARE,
    seed: int = 0,
    hide: bool = True,
) -> dict[str, Any]:
    """Writes both parts of every shape and `split.json`, and gives what that holds."""
    if not 0 < share < 1:
        raise UsageError(
            f"The share is {share}. It is the part of the items in dev. Choose a number between 0 and 1."
        )
    if seed < 0:
        raise UsageError(f"The seed is {seed}. A seed is a number from 0 up. The default is 0.")
    benchmark, folder = api.open_named(name, data), Path(out)
    if (folder / MANIFEST).exists():
        raise DataError(
            f"{folder} already holds a split. A second one would mix with it. Choose another folder with --out."
        )
    shapes = {shape: list(benchmark.items(shape)) for shape in benchmark.sentence_shapes()}
    drawn = parted([item for items in shapes.values() for item in items], share, seed)
    found = [
        _written(folder, part, shape, groups, _places(items), hide and part == "test")
        for shape, items in shapes.items()
        for part, groups in zip(PARTS, (drawn.dev, drawn.test), strict=True)
    ]
    told = {
        "schema": "split@1",
        "benchmark": benchmark.name,
        "digest": benchmark.digest,
        "licence": benchmark.card.licence,
        "citation": benchmark.card.citation,
        "share": share,
        "seed": seed,
        "connected_by": drawn.by,
        "parts": [dict(vars(part)) for part in found if part.items],
    }
    write_json(folder / MANIFEST, told)
    return told


MANIFEST = "split.json"
KINDS: Mapping[str, type[Any]] = {"cat": Cat, "pair": Pair}


def _places(items: Sequence[Any]) -> dict[str, int]:
    return {item.id: at for at, item in enumerate(items)}


def _written(
    folder: Path,
    part: str,
    shape: str,
    groups: Sequence[Group],
    order: Mapping[str, int],
    hidden: bool,
) -> Part:
    """The items of one shape in their released order; nothing is written where there are none."""
    of_shape = [
        [item for item in group.items if isinstance(item, KINDS[shape])] for group in groups
    ]
    items = sorted((item for some in of_shape for item in some), key=lambda item: order[item.id])
    path = folder / f"{part}-{shape}{SUFFIX[shape]}"
    if items:
        write_items(path, items, hidden)
    if items and hidden:
        path.chmod(0o600)
    counts = Counter(group_of(item) for item in items)
    digest = digest_of(sorted(content(item) for item in items))
    terms = len({item.target for item in items}) if shape == "cat" else None
    return Part(
        part,
        shape,
        path.name,
        len(items),
        terms,
        sum(map(bool, of_shape)),
        digest,
        hidden,
        dict(sorted(counts.items())),
    )
