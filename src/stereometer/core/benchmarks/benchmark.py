"""What a benchmark is: a card, items in one or more shapes, and the digest of their content."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from stereometer.core.errors import DataError, DataMissing, UsageError
from stereometer.core.tables import PLAIN, Layout, is_parquet
from stereometer.core.types import Item, NoOptions, digest_of

Shapes = Mapping[str, Sequence[Item]]
"""Items by the shape a measure reads: `cat`, `pair`."""
Content = tuple[Shapes, Sequence[str]]
"""Items by shape, and notes."""


@dataclass(frozen=True)
class Card:
    """What a person must know before trusting a number: `cards/<name>.toml`."""

    name: str
    title: str
    citation: str
    licence: str
    language: str
    population: str
    year: int
    counts: Mapping[str, int]
    """Items by shape."""
    digest: str
    """sha256 of the parsed content, whatever its layout; empty for a user's own file."""
    folder: str
    """Folder under the data folder that holds the files."""
    files: tuple[str, ...]
    get: str
    """Where the data can be had, in words."""
    urls: tuple[str, ...]
    """One per file, pinned to a commit; empty where there is no public place to pull from."""
    known_problems: tuple[str, ...]
    not_concluded: tuple[str, ...]
    paper: str = ""
    """BibTeX key in CITATION.cff terms: a DOI or arXiv id."""
    notice: str = ""
    """Said with every result."""
    publishable: bool = True
    """Whether its numbers may stand on a model's page as a measurement of it."""
    country: str = ""
    """Of a set in another language: whose stereotypes they are, or where it was translated."""
    origin: str = ""
    """How a set in another language was made: `native`, `translated` or `mixed`."""
    sha256: tuple[str, ...] = ()
    """One per file, unpacked; what is pulled must have it."""
    mirrors: tuple[str, ...] = ()
    """Where the same items can be had otherwise, perhaps in another layout."""


def load_card(name: str, package: str = "stereometer.core.benchmarks") -> Card:
    text = resources.files(package).joinpath("cards", f"{name}.toml").read_text("utf-8")
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in tomllib.loads(text).items()
    }
    return Card(**fields)


@dataclass(frozen=True)
class Benchmark:
    """Loaded items."""

    card: Card
    shapes: Shapes
    source: str
    """The files read, by name."""
    notes: tuple[str, ...] = ()
    measures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Default measures by shape, the first that the model can answer is taken."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Options of its measures that go with these items."""
    advice: Mapping[str, str] = field(default_factory=dict)
    """By shape, what to do where there are no items of it yet."""

    @property
    def name(self) -> str:
        return self.card.name

    @cached_property
    def digest(self) -> str:
        """Of what is asked, not of how the file is laid out or ordered."""
        return digest_of(
            {shape: sorted(content(item) for item in items) for shape, items in self.shapes.items()}
        )

    @property
    def is_own(self) -> bool:
        """Whether the items are of a file of the user's own, which no release is held against."""
        return not self.card.digest and bool(self.source)

    @property
    def as_released(self) -> bool:
        return bool(self.card.digest) and self.digest == self.card.digest

    @property
    def differences(self) -> tuple[str, ...]:
        """How items differ from what the card says, in words; without a digest only in number."""
        if self.as_released:
            return ()
        counts = [
            f"{len(self.shapes.get(shape, ()))} items of shape {shape} instead of {expected}"
            for shape, expected in self.card.counts.items()
            if len(self.shapes.get(shape, ())) != expected
        ]
        known = self.card.digest
        other = [f"content digest {self.digest[:16]} instead of {known[:16]}"] if known else []
        return (*counts, *other)

    def described(self, *notes: str) -> Benchmark:
        """The benchmark with notes, among them whether the content is what was released."""
        if self.as_released or not self.card.digest:
            return replace(self, notes=(*self.notes, *notes)) if notes else self
        counts = " and ".join(
            f"{len(items)} of shape {shape}" for shape, items in self.shapes.items()
        )
        change = (
            f"The items are not those released as {self.name}: {counts}, content digest "
            f"{self.digest[:12]}."
        )
        return replace(self, notes=(*self.notes, *notes, change))

    def items(self, shape: str) -> Sequence[Item]:
        if shape in self.advice and not self.shapes.get(shape):
            raise UsageError(self.advice[shape])
        if shape not in self.shapes:
            raise UsageError(
                f"{self.name} has no items of shape '{shape}'. It offers "
                f"{' and '.join(self.shapes)}. Choose a measure that reads those."
            )
        return self.shapes[shape]


def content(item: Item) -> str:
    """What two copies of the same item share; some ask for more than their texts show."""
    more = [dict(item.also_asked)] if item.also_asked else []
    slices = {name: of for name, of in item.slices.items() if name not in item.unasked}
    return digest_of([item.id, slices, dict(item.texts), *more])


def _nothing_to_choose(options: object) -> Benchmark:
    raise UsageError("This benchmark has nothing to choose. Leave the options out.")


@dataclass(frozen=True)
class Source:
    """How the catalog names a benchmark: its card and how its files are read."""

    name: str
    read: Callable[..., Content]
    """From files."""
    measures: Mapping[str, Sequence[str]]
    packaged: Callable[[], Sequence[Path]] | None = None
    """Files that ship with the package, for a benchmark that needs no download."""
    package: str = "stereometer.core.benchmarks"
    """The package whose folder `cards` holds the card."""
    read_faulty: Callable[..., Content] | None = None
    """Reads items too that `read` refuses because they cannot be measured, if there are any."""
    takes_layout: bool = False
    """Whether both also read files in other encodings and with other columns: `layout`."""
    options: type[Any] = NoOptions
    """What only this benchmark lets a user choose."""
    choose: Callable[[Any], Benchmark] = _nothing_to_choose
    """From such options to the benchmark."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Options of its measures that go with its items."""
    nouns: Mapping[str, str] = field(default_factory=dict)
    """Other names of its categories, where it has some."""
    advice: Mapping[str, str] = field(default_factory=dict)
    """By shape that its files do not hold, how its items come to be."""
    published: tuple[str, ...] = ()
    """The methods of its paper, which `--like-paper` takes."""
    about: str = ""
    """The domain of all its items, where they do not say it."""

    @property
    def called(self) -> str:
        """What a command finds it by."""
        return self.name

    def for_audit(self) -> Source:
        return replace(self, read=self.read_faulty or self.read)

    def laid_out(self, layout: Layout) -> Source:
        """The source of files with such columns and encoding."""
        if layout == PLAIN:
            return self
        if not self.takes_layout:
            raise UsageError(
                f"{self.name} is read as it was released. --column and --encoding are for files of "
                "your own. Name the file in place of the benchmark."
            )
        return replace(self, read=partial(self.read, layout=layout))

    @cached_property
    def card(self) -> Card:
        return load_card(self.name, self.package)

    def load(self, files: Sequence[Path]) -> Benchmark:
        expected = max(1, len(self.card.files))
        if len(files) != expected and not self.in_parts(files):
            raise DataError(
                f"{self.name} is made of {expected} file(s), not {len(files)}. They are "
                f"{', '.join(self.card.files)}. Name the folder that holds them."
            )
        shapes, notes = self.read(files)
        names = ", ".join(file.name for file in files)
        return self.benchmark(shapes, names, tuple(notes)).described()

    def in_parts(self, files: Sequence[Path]) -> bool:
        """Whether these are a hub's parts of what was released as a single file."""
        return len(self.card.files) == 1 and bool(files) and all(map(is_parquet, files))

    def benchmark(self, shapes: Shapes, files: str, notes: tuple[str, ...] = ()) -> Benchmark:
        """Items of this source."""
        return Benchmark(self.card, shapes, files, notes, self.measures, self.defaults, self.advice)


VARIABLE = "STEREOMETER_DATA"


def user_folder() -> Path:
    return user_data_path("stereometer", appauthor=False)


def folders() -> Iterator[Path]:
    if os.environ.get(VARIABLE):
        yield Path(os.environ[VARIABLE])
    yield user_folder()


def open_benchmark(source: Source, data: Path | None = None) -> Benchmark:
    return source.load(find(source, data))


def find(source: Source, data: Path | None = None) -> Sequence[Path]:
    """The files of a benchmark, in the first place that has them."""
    if data is not None:
        return files_at(source.card, data)
    if source.packaged is not None:
        return source.packaged()
    for folder in folders():
        for name in (source.card.folder, source.name):
            files = [_plain_or_gz(folder / name / file) for file in source.card.files]
            present = [file for file in files if file is not None]
            if len(present) == len(files):
                return present
    raise DataMissing(_how_to_get(source.card, source.called))


def files_at(card: Card, data: Path) -> Sequence[Path]:
    if not data.exists():
        raise DataError(
            f"There is no {data}. The data of {card.name} should be there. Check the path."
        )
    if not data.is_dir():
        return [data]
    if len(card.files) == 1 and (parts := sorted(data.rglob("*.parquet"))):
        return parts
    files = [_plain_or_gz(data / name) for name in card.files]
    missing = [name for name, file in zip(card.files, files, strict=True) if file is None]
    if not card.files:
        raise DataError(
            f"{data} is a folder. {card.name} items come in a single file. Name the file."
        )
    if missing:
        raise DataError(
            f"{data} does not hold {', '.join(missing)}. {card.name} is made of {len(card.files)} "
            "file(s). Name the right folder or file."
        )
    return [file for file in files if file is not None]


def _plain_or_gz(path: Path) -> Path | None:
    packed = path.with_name(path.name + ".gz")
    return path if path.is_file() else packed if packed.is_file() else None


def _how_to_get(card: Card, name: str) -> str:
    pull = f"Run `stereometer data pull {name}` to fetch it, or " if card.urls else "Run "
    places = " and ".join(str(folder / card.folder) for folder in folders())
    path = "FILE" if len(card.files) == 1 else "FOLDER"
    return (
        f"{card.title} is not on this machine. Looked for {', '.join(card.files)} in {places}. "
        f"{pull}`stereometer data add {name} {path}` if you have it. ({card.get})"
    )
