"""A set of items parted by target term (Nadeem et al. 2021, section 5.1): one part to work with, one held back.

No term is on both sides, so that what is learnt from one part says nothing by itself about the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer import api
from stereometer.benchmarks.benchmark import content
from stereometer.benchmarks.pairs import Pair, edits
from stereometer.errors import DataError, UsageError
from stereometer.files import write_json
from stereometer.types import digest_of
from stereometer.writing import SUFFIX, write_items

SHARE = 0.25
PARTS = ("dev", "test")


@dataclass(frozen=True)
class Part:
    """One side of a split: what its file holds."""

    part: str
    shape: str
    file: str
    items: int
    terms: int
    digest: str
    hidden: bool
    groups: Mapping[str, int]
    """Items by domain or bias type."""


def term_of(item: Any) -> tuple[str, str]:
    """Domain and target term; a pair's term is the words that only its more stereotyping sentence has."""
    if not isinstance(item, Pair):
        return item.domain, item.target
    changed = [word for left, _ in edits(item.sent_more.lower().split(), item.sent_less.lower().split()) for word in left]
    return item.bias_type, " ".join(changed).strip(".,;:!?\"'") or item.id


def parted(items: Sequence[Any], share: float, seed: int) -> tuple[list[Any], list[Any]]:
    """About `share` of the terms of every domain, drawn by lot, and the rest; the order of items is kept."""
    domains: dict[str, list[str]] = {}
    placed: set[str] = set()
    for domain, term in sorted({term_of(item) for item in items}, key=lambda one: digest_of([seed, *one])):
        if term not in placed:
            placed.add(term)
            domains.setdefault(domain, []).append(term)
    if len(placed) < 2:
        raise UsageError("The items are about a single target term. A split needs terms on both sides. Choose another set.")
    chosen = {term for terms in domains.values() for term in terms[: _count(len(terms), share)]}
    if not chosen:
        chosen = {min(placed, key=lambda term: digest_of([seed, term]))}
    elif len(chosen) == len(placed):
        chosen.discard(min(placed, key=lambda term: digest_of([seed, term])))
    return [item for item in items if term_of(item)[1] in chosen], [item for item in items if term_of(item)[1] not in chosen]


def _count(terms: int, share: float) -> int:
    """Of a domain's terms: rounded, and at least one on each side where there are two."""
    return round(share * terms) if terms < 2 else min(max(round(share * terms), 1), terms - 1)


def split(
    name: str, out: str | Path, *, data: str | Path | None = None, share: float = SHARE, seed: int = 0, hide: bool = True
) -> dict[str, Any]:
    """Writes both parts of every shape and `split.json`, and gives what that holds."""
    if not 0 < share < 1:
        raise UsageError(f"The share is {share}. It is the part of the terms in dev. Choose a number between 0 and 1.")
    if seed < 0:
        raise UsageError(f"The seed is {seed}. A seed is a number from 0 up. The default is 0.")
    benchmark, folder = api.open_named(name, data), Path(out)
    if (folder / MANIFEST).exists():
        raise DataError(f"{folder} already holds a split. A second one would mix with it. Choose another folder with --out.")
    found: list[Part] = []
    for shape in benchmark.sentence_shapes():
        for part, items in zip(PARTS, parted(benchmark.items(shape), share, seed), strict=True):
            found.append(_written(folder, part, shape, items, hide and part == "test"))
    told = {
        "schema": "split@1",
        "benchmark": benchmark.name,
        "digest": benchmark.digest,
        "licence": benchmark.card.licence,
        "citation": benchmark.card.citation,
        "share": share,
        "seed": seed,
        "parts": [dict(vars(part)) for part in found],
    }
    write_json(folder / MANIFEST, told)
    return told


MANIFEST = "split.json"


def _written(folder: Path, part: str, shape: str, items: Sequence[Any], hidden: bool) -> Part:
    path = folder / f"{part}-{shape}{SUFFIX[shape]}"
    write_items(path, items, hidden)
    if hidden:
        path.chmod(0o600)
    groups: dict[str, int] = {}
    for item in items:
        groups[term_of(item)[0]] = groups.get(term_of(item)[0], 0) + 1
    terms = len({term_of(item) for item in items})
    digest = digest_of(sorted(content(item) for item in items))
    return Part(part, shape, path.name, len(items), terms, digest, hidden, dict(sorted(groups.items())))
