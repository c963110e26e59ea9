"""A set of items split by target term (Nadeem et al. 2021, section 5.1): one part to work with, one
held back.

No term is on both sides, so that what is learnt from one part says nothing by itself about the
other: items about the same group, found by their words, stay together. The terms are drawn once
over the items of all shapes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from stereometer.core.benchmarks.benchmark import content
from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import UTF8, write_json
from stereometer.core.options import Benchmark, Column, Data, Encoding, Seed, verb
from stereometer.core.runs.open import open_benchmark
from stereometer.core.shapes.sentences import SentenceItem, SentenceShape
from stereometer.core.show.view import View, records
from stereometer.core.stats.clusters import connected
from stereometer.core.tables import Layout
from stereometer.core.types import digest_of
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.groups import lists_by_key
from stereometer.core.types.shown import Shown
from stereometer.wings.curation.english import AGREEMENT, FUNCTION_WORDS, base_form
from stereometer.wings.curation.runs import curated_shapes

SHORTEST = 3
"""Letters of a word that can name a group."""
Marks = Callable[[SentenceItem], frozenset[str]]
"""The words that an item shares with items about the same group."""


@dataclass(frozen=True)
class ItemBundle:
    """Items that are connected by the words of their changes or by their target term."""

    domain: str
    """Shape and domain or bias type of most of its items."""
    words: tuple[str, ...]
    items: tuple[SentenceItem, ...]


def group_words(words: Iterable[str]) -> frozenset[str]:
    """Base forms of words that can name a group; parts of a compound stand by themselves."""
    empty = FUNCTION_WORDS | AGREEMENT
    parts = [
        part
        for word in words
        if word not in empty and "n't" not in word
        for part in word.split("-")
    ]
    return frozenset(
        base_form(part) for part in parts if len(part) >= SHORTEST and part not in empty
    )


def _of_term(item: SentenceItem) -> frozenset[str]:
    return group_words(item.about) | {base_form(" ".join(item.term.lower().split()))}


def of_both(item: SentenceItem) -> frozenset[str]:
    """The target term, or the words that either sentence of a pair has alone."""
    return _of_term(item) if item.term else group_words([*item.about, *item.instead])


def of_named(items: Sequence[SentenceItem]) -> Marks:
    """Only the words that name the group a stereotype is of: those oftener in the sentence about it
    than in the other.

    `white` and `American` stand in for so many groups that they would connect nearly all of
    CrowS-Pairs.
    """
    pairs = [item for item in items if not item.term]
    about = Counter(word for pair in pairs for word in group_words(pair.about))
    instead = Counter(word for pair in pairs for word in group_words(pair.instead))

    def marks(item: SentenceItem) -> frozenset[str]:
        if item.term:
            return _of_term(item)
        words = group_words(item.about)
        naming = frozenset(word for word in words if about[word] > instead[word])
        return naming or frozenset({" ".join(sorted(words))} - {""})

    return marks


CONNECTED = "words that only one sentence of a pair has, and target terms"
NAMED = "words that name the group a stereotype is of, and target terms"


def bundles_of(items: Sequence[SentenceItem], largest: float) -> tuple[list[ItemBundle], str]:
    """Bundles and what connects them: fewer words where one would exceed the share `largest`."""
    bundles = bundled(items, of_both)
    if max(len(bundle.items) for bundle in bundles) <= largest * len(items):
        return bundles, CONNECTED
    return bundled(items, of_named(items)), NAMED


def bundled(items: Sequence[SentenceItem], marks: Marks) -> list[ItemBundle]:
    """Items connected by marks, directly or through others; one without a mark stands by itself."""
    words, bundles = [marks(item) for item in items], []
    for places in connected(words):
        its = tuple(items[at] for at in places)
        shared = sorted(frozenset().union(*(words[at] for at in places)))
        counts = Counter(f"{item.shape} {item.domain}" for item in its)
        domain = min(counts, key=lambda name: (-counts[name], name))
        bundles.append(ItemBundle(domain, tuple(shared) or (its[0].id,), its))
    return bundles


SHARE = 0.25
PARTS = ("dev", "test")
MANIFEST = "split.json"


@dataclass(frozen=True)
class SplitPart:
    """One side of a split: what its file holds."""

    part: str
    shape: str
    file: str
    items: int
    terms: int | None
    """Target terms; a pair has none."""
    connected: int
    """Bundles of items that share a word, which stay together."""
    digest: str
    hidden: bool
    groups: Mapping[str, int]
    """Items by domain or bias type."""


@dataclass(frozen=True, repr=False)
class SplitParts(Shown, Document):
    """Both parts of a data set, and where they came from."""

    benchmark: str
    digest: str
    licence: str
    citation: str
    share: float
    seed: int
    connected_by: str
    parts: Sequence[SplitPart]
    folder: Path = field(metadata=UNSTORED)
    schema: str = "split@1"

    def view(self) -> View:
        rows = [
            {
                "part": f"{part.part}{' (hidden)' if part.hidden else ''}",
                "items": part.items,
                "terms": "" if part.terms is None else part.terms,
                "connected groups": part.connected,
                "file": part.file,
            }
            for part in self.parts
        ]
        return View(parts=tuple(records(rows)))

    @property
    def remarks(self) -> list[str]:
        return [f"Written to {self.folder}. Licence: {self.licence}."]


@dataclass(frozen=True)
class Parted:
    dev: Sequence[ItemBundle]
    test: Sequence[ItemBundle]
    by: str
    """What connects the items of a bundle."""


def parted(items: Sequence[Any], share: float, seed: int) -> Parted:
    """About `share` of each domain's items, drawn at random in whole bundles, and the rest."""
    bundles, by = bundles_of(items, max(share, 1 - share))
    if len(bundles) < 2:
        raise UsageError(
            "The items are about a single target term. A split needs terms on both sides. Choose "
            "another set."
        )
    lots = sorted(bundles, key=lambda bundle: digest_of([seed, bundle.domain, *bundle.words]))
    domains = lists_by_key((bundle.domain, bundle) for bundle in lots)
    chosen = {bundle.words for lot in domains.values() for bundle in _drawn(lot, share)}
    if not chosen:
        chosen = {_smallest(lots).words}
    elif len(chosen) == len(lots):
        chosen.discard(_smallest(lots).words)
    dev = [bundle for bundle in lots if bundle.words in chosen]
    return Parted(dev, [bundle for bundle in lots if bundle.words not in chosen], by)


def _drawn(bundles: Sequence[ItemBundle], share: float) -> list[ItemBundle]:
    """In their order, those that bring the items nearer to the share; at least one on each side
    where there are two."""
    wanted, count = share * sum(len(bundle.items) for bundle in bundles), 0
    drawn: list[ItemBundle] = []
    for bundle in bundles:
        if abs(count + len(bundle.items) - wanted) < abs(count - wanted):
            drawn.append(bundle)
            count += len(bundle.items)
    if len(bundles) > 1 and len(drawn) in (0, len(bundles)):
        least = _smallest(bundles)
        return [bundle for bundle in bundles if (bundle is least) is not bool(drawn)]
    return drawn


def _smallest(bundles: Sequence[ItemBundle]) -> ItemBundle:
    return min(bundles, key=lambda bundle: len(bundle.items))


@verb
def split(
    name: Benchmark,
    *,
    out: Annotated[str | Path, "Folder for the parts."],
    data: Data = None,
    column: Column = None,
    encoding: Encoding = UTF8,
    share: Annotated[
        float, "Share of the items in dev, in whole target terms; the rest is test."
    ] = SHARE,
    seed: Seed = 0,
    hide: Annotated[bool, "Mark test as hidden: runs on it keep no texts."] = True,
) -> SplitParts:
    """Writes both parts of every shape and `split.json`, and returns what that holds."""
    if not 0 < share < 1:
        raise UsageError(
            f"The share is {share}. It is the part of the items in dev. Choose a number between 0 "
            "and 1."
        )
    if seed < 0:
        raise UsageError(f"The seed is {seed}. A seed is a number from 0 up. The default is 0.")
    layout = Layout(encoding, column or {})
    benchmark, folder = open_benchmark(str(name), data, layout=layout), Path(out)
    if (folder / MANIFEST).exists():
        raise DataError(
            f"{folder} already holds a split. A second one would mix with it. Choose another "
            "folder with --out."
        )
    shapes = curated_shapes(benchmark)
    items: list[Any] = [item for shape in shapes for item in benchmark.items(shape.name)]
    order = {(item.shape, item.id): at for at, item in enumerate(items)}
    drawn = parted(items, share, seed)
    parts = [
        _written(folder, part, shape, bundles, order, hide and part == "test")
        for shape in shapes
        for part, bundles in zip(PARTS, (drawn.dev, drawn.test), strict=True)
    ]
    made = SplitParts(
        benchmark.name,
        benchmark.digest,
        benchmark.card.licence,
        benchmark.card.citation,
        share,
        seed,
        drawn.by,
        [part for part in parts if part.items],
        folder,
    )
    write_json(folder / MANIFEST, made.as_json())
    return made


def _written(
    folder: Path,
    part: str,
    shape: SentenceShape,
    bundles: Sequence[ItemBundle],
    order: Mapping[tuple[str, str], int],
    hidden: bool,
) -> SplitPart:
    """The items of one shape in their released order; nothing is written where there are none."""
    of_shape = [[item for item in bundle.items if item.shape == shape.name] for bundle in bundles]
    items = sorted(chain(*of_shape), key=lambda item: order[item.shape, item.id])
    path = folder / f"{part}-{shape.name}{shape.suffix}"
    if items:
        shape.write(path, items, hidden)
    if items and hidden:
        path.chmod(0o600)
    return SplitPart(
        part,
        shape.name,
        path.name,
        len(items),
        len({item.term for item in items}) if shape.has_terms else None,
        sum(map(bool, of_shape)),
        digest_of(sorted(content(item) for item in items)),
        hidden,
        dict(sorted(Counter(item.domain for item in items).items())),
    )
