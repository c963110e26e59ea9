"""A pack as a benchmark: its files read as the pack says, into the shapes we have."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, Card, Content, Shapes, Source, find
from stereometer.core.errors import DataError, DataMissing
from stereometer.core.files import digest_of_content
from stereometer.core.options import Data, verb
from stereometer.core.shapes.sentences import unique
from stereometer.core.show.view import View, line
from stereometer.core.tables import gathered, read_rows
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown
from stereometer.kinds.cats.benchmarks import content_of
from stereometer.kinds.cats.files import COLUMNS as CAT_COLUMNS
from stereometer.kinds.cats.files import read_cats, read_row
from stereometer.kinds.cats.items import BLANK, Cat
from stereometer.kinds.cats.shape import SHAPE as CATS
from stereometer.kinds.pairs.benchmarks import read_crows_pairs
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.shape import SHAPE as PAIRS
from stereometer.kinds.traits.abc.files import SocialGroup, read_groups, read_traits
from stereometer.kinds.traits.abc.items import TRAIT_MEASURES, Grid, TraitWords
from stereometer.kinds.traits.abc.templates import Grammar, read_forms, read_templates
from stereometer.wings.packs.pack import Pack, open_pack
from stereometer.wings.packs.schema import Syntax


@dataclass(frozen=True, kw_only=True)
class PackSource(Source):
    """A benchmark whose card and reading are data."""

    pack: Pack
    path: str = ""
    """Where it was named by its folder."""

    @property
    def called(self) -> str:
        return self.path or self.name

    @property
    def card(self) -> Card:
        return self.pack.card

    @property
    def sentence(self) -> str:
        """What it is, for lists."""
        card, count = self.card, next(iter(self.card.counts.values()), None)
        items = "" if count is None else f", {count:,} items"
        untried = "" if self.pack.written.expect.verified else "; never tried on its file"
        return f"{card.title} ({card.language}, {card.origin}{items}{untried})."

    def benchmark(self, shapes: Shapes, files: str, notes: tuple[str, ...] = ()) -> Benchmark:
        return super().benchmark(shapes, files, (*notes, *self.pack.notes))


def source_of(folder: Path) -> PackSource:
    """The benchmark that a folder with `pack.toml` describes."""
    pack = open_pack(folder)
    read, measures, published = SHAPES[pack.written.shape]
    files = [folder / name for name in pack.card.files]
    return PackSource(
        pack.name,
        partial(read, pack),
        {pack.written.shape: measures},
        packaged=(lambda: files) if all(file.is_file() for file in files) else None,
        published=published,
        pack=pack,
    )


def _read_pairs(pack: Pack, files: Sequence[Path]) -> Content:
    types = pack.written.read.types
    parts = [read_crows_pairs([file], pack.layout) for file in files]
    pairs = [
        replace(pair, bias_type=types.get(pair.bias_type, pair.bias_type))
        for shapes, _ in parts
        for pair in shapes["pair"]
        if isinstance(pair, Pair)
    ]
    unique((pair.id for pair in pairs), f"{pack.name}: pair")
    return {"pair": pairs}, [note for _, notes in parts for note in notes]


def _read_cats(pack: Pack, files: Sequence[Path]) -> Content:
    types = pack.written.read.types
    cats = [
        replace(cat, domain=types.get(cat.domain, cat.domain))
        for file in files
        for cat in _cats(pack, file)
    ]
    unique((cat.id for cat in cats), f"{pack.name}: item")
    return content_of(cats)


def _cats(pack: Pack, file: Path) -> Iterator[Cat]:
    """StereoSet's JSON, or a table with a column for each candidate."""
    layout, blank = pack.layout, pack.written.read.blank
    if file.name.removesuffix(".gz").endswith(".json"):
        for cat in read_cats(file, layout.encoding):
            yield replace(cat, context=cat.context.replace(blank, BLANK))
        return
    rows = read_rows(file, CAT_COLUMNS, "Name it in [read] columns.", layout, CAT_COLUMNS)
    mended = (
        (line, {**row, "context": str(row["context"]).replace(blank, BLANK)}) for line, row in rows
    )
    yield from gathered(file, mended, lambda line, row: read_row(row, file, line))


def _read_traits(pack: Pack, files: Sequence[Path]) -> Content:
    syntax = pack.written.grammar
    assert syntax is not None  # the schema asks one of every pack of this shape
    columns = tuple(dict.fromkeys(syntax.determiners.values()))
    groups, traits = read_groups(files[0], columns), read_traits(files[1])
    persons = tuple(_persons(syntax, columns))
    verbs: Mapping[str, tuple[str, ...]] = syntax.verbs.model_dump()
    grammar = Grammar(syntax.determiners, persons, verbs, {}, syntax.spaces)
    templates = read_templates(files[2], grammar)
    if pack.forms is not None:
        numbers = dict.fromkeys(template.number for template in templates)
        words = TraitWords(traits).everything
        forms = read_forms(pack.forms, words, (*groups, *persons), numbers)
        grammar = replace(grammar, forms=forms)
    return Grid(groups, traits, templates, grammar).shapes, []


def _persons(syntax: Syntax, columns: Sequence[str]) -> Iterator[SocialGroup]:
    for person in syntax.persons:
        determiners = tuple((column, person.determiners[column]) for column in columns)
        words = (person.singular, "", person.singular, person.plural, "")
        yield SocialGroup(*words, agrees=person.agrees, determiners=determiners)


Read = Callable[[Pack, Sequence[Path]], Content]
SHAPES: Mapping[str, tuple[Read, Sequence[str], tuple[str, ...]]] = {
    "pair": (_read_pairs, PAIRS.measures, ("pair-likelihood",)),
    "cat": (_read_cats, CATS.measures, ("cat-likelihood",)),
    "trait": (_read_traits, TRAIT_MEASURES, ()),
}
"""How a shape is read, its default measures, and those of its paper."""
ABSENT = "Its data are not on this machine: only what it says of itself was checked."
SLICES = ("bias_type", "domain")


@dataclass(frozen=True, repr=False)
class PackCheck(Shown, Document):
    """A pack, and what came out of its files."""

    name: str
    shape: str
    language: str
    country: str
    origin: str
    licence: str
    verified: bool
    files: tuple[str, ...]
    sha256: tuple[str, ...]
    """Of each file, unpacked."""
    counts: Mapping[str, int]
    digest: str
    types: Mapping[str, int]
    """Items by bias type or domain."""
    skipped: Mapping[str, int]
    """Items that no method can score, by reason."""
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    schema: str = "pack-check@1"

    def view(self) -> View:
        about = f" ({self.language}, {self.country}, {self.origin}, {self.licence})"
        parts = [line(about, bold=self.name)]
        if self.digest:
            parts += [line(f"read: {', '.join(self.files)}"), line(f"types: {_words(self.types)}")]
            if self.skipped:
                parts.append(line(f"cannot be scored: {_words(self.skipped)}"))
            parts += [line("what pack.toml may state:\n"), line(self._lines_to_copy(), whole=True)]
        return View(parts=tuple(parts), notes=self.notes)

    def _lines_to_copy(self) -> str:
        """The lines to copy into pack.toml."""
        counts = ", ".join(f"{shape} = {count}" for shape, count in self.counts.items())
        files = [
            line
            for name, digest in zip(self.files, self.sha256, strict=False)
            for line in ("[[files]]", f'name = "{name}"', f'sha256 = "{digest}"', "")
        ]
        expect = ("[expect]", f"counts = {{ {counts} }}", f'digest = "{self.digest}"')
        return "\n".join((*files, *expect, "verified = true\n"))

    def check(self) -> None:
        """Raises where the files are not what the pack says."""
        if self.faults:
            raise DataError(
                f"{self.name} is not what its pack says: {'; '.join(self.faults)}. The file or "
                "the pack was changed. Fix pack.toml, or take the file it was made for."
            )


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


@verb
def check(
    folder: Annotated[str | Path, "A folder with pack.toml, or the name of a pack."],
    *,
    data: Data = None,
) -> PackCheck:
    """Check a pack, and read its data if they are on this machine."""
    source: PackSource = catalog.pack(str(folder))
    card, written = source.card, source.pack.written
    files: Sequence[Path] = ()
    with suppress(DataMissing):
        files = find(source, Path(data) if data else None)
    loaded = source.load(files) if files else None
    items = loaded.shapes.get(written.shape, ()) if loaded else ()
    sha256 = tuple(map(digest_of_content, files)) if card.sha256 else ()
    wrong = (
        f"{file.name} has the sha256 {actual} instead of {stated}"
        for file, actual, stated in zip(files, sha256, card.sha256, strict=False)
        if stated and actual != stated
    )
    return PackCheck(
        name=source.name,
        shape=written.shape,
        language=card.language,
        country=card.country,
        origin=card.origin,
        licence=card.licence,
        verified=written.expect.verified,
        files=tuple(file.name for file in files),
        sha256=sha256,
        counts={name: len(of) for name, of in loaded.shapes.items()} if loaded else {},
        digest=loaded.digest if loaded else "",
        types=Counter(
            item.slices[name] for item in items for name in SLICES if name in item.slices
        ),
        skipped=Counter(item.unscorable for item in items if item.unscorable),
        faults=(*(loaded.differences if loaded else ()), *wrong),
        notes=loaded.notes if loaded else (*source.pack.notes, ABSENT),
    )
