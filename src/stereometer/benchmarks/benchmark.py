"""What a benchmark is: a card, items in one or more shapes, and the digest of their content."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from stereometer.errors import DataError, UsageError
from stereometer.types import Item, digest_of

Shapes = Mapping[str, Sequence[Item]]
"""Items by the shape a measure reads: `cat`, `pair`."""


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
    """One a file, pinned to a commit; empty where there is no public place to pull from."""
    known_problems: tuple[str, ...]
    not_concluded: tuple[str, ...]
    paper: str = ""
    """BibTeX key in CITATION.cff terms: a DOI or arXiv id."""
    notice: str = ""
    """Said with every result."""


def load_card(name: str, package: str = "stereometer.benchmarks") -> Card:
    text = resources.files(package).joinpath("cards", f"{name}.toml").read_text("utf-8")
    fields: dict[str, Any] = tomllib.loads(text)
    fields = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
    return Card(**fields)


MADE = {
    "sentences": "ceat needs running text, in which it finds sentences about groups. None was given. Name one: `stereometer run abc --measure ceat --text FILE`.",
    "sentence-pairs": "ceat-two-group needs running text, and two groups of one domain or just two groups. There is no such pair here. Give --text FILE, and name the groups with --groups.",
}
"""How items of a shape come to be that no set carries: what is said where there are none."""


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
    def as_released(self) -> bool:
        return bool(self.card.digest) and self.digest == self.card.digest

    def described(self, *notes: str) -> Benchmark:
        """The same with notes, among them whether the content is what was released."""
        if self.as_released or not self.card.digest:
            return replace(self, notes=(*self.notes, *notes)) if notes else self
        counts = " and ".join(
            f"{len(items)} of shape {shape}" for shape, items in self.shapes.items()
        )
        change = f"The items are not those released as {self.name}: {counts}, content digest {self.digest[:12]}."
        return replace(self, notes=(*self.notes, *notes, change))

    def sentence_shapes(self) -> list[str]:
        """The shapes made of sentences that are set against each other: `cat`, `pair`."""
        found = [
            shape for shape in self.shapes if shape in self.measures and shape in ("cat", "pair")
        ]
        if not found:
            raise UsageError(
                f"{self.name} has neither CATs nor pairs. Its items have no sentences to look at. Choose another benchmark."
            )
        return found

    def items(self, shape: str) -> Sequence[Item]:
        if shape in MADE and not self.shapes.get(shape):
            raise UsageError(MADE[shape])
        if shape not in self.shapes:
            raise UsageError(
                f"{self.name} has no items of shape '{shape}'. It offers {' and '.join(self.shapes)}. Choose a measure that reads those."
            )
        return self.shapes[shape]


def content(item: Item) -> str:
    """What two copies of the same item share; some ask for more than their texts show."""
    more = getattr(item, "also_asked", None)
    return digest_of([item.id, dict(item.slices), dict(item.texts), *([more] if more else [])])


@dataclass(frozen=True)
class Source:
    """How the catalog names a benchmark: its card and how its files are read."""

    name: str
    read: Callable[[Sequence[Path]], tuple[Shapes, Sequence[str]]]
    """Files to shapes and notes."""
    measures: Mapping[str, Sequence[str]]
    packaged: Callable[[], Sequence[Path]] | None = None
    """Files that ship with the package, for a benchmark that needs no download."""
    package: str = "stereometer.benchmarks"
    """The package whose folder `cards` holds the card."""
    read_faulty: Callable[[Sequence[Path]], tuple[Shapes, Sequence[str]]] | None = None
    """The same with items that `read` refuses because they cannot be measured; where it is None there are none such."""

    def for_audit(self) -> Source:
        return replace(self, read=self.read_faulty or self.read)

    @property
    def card(self) -> Card:
        return load_card(self.name, self.package)

    def load(self, files: Sequence[Path]) -> Benchmark:
        expected = max(1, len(self.card.files))
        if len(files) != expected:
            raise DataError(
                f"{self.name} is made of {expected} file(s), not {len(files)}. They are {', '.join(self.card.files)}. Name the folder that holds them."
            )
        shapes, notes = self.read(files)
        found = Benchmark(
            self.card, shapes, ", ".join(file.name for file in files), tuple(notes), self.measures
        )
        return found.described()


CAT_MEASURES = ("cat-pseudo-likelihood", "cat-likelihood")
PAIR_MEASURES = ("pair-likelihood", "pair-sentence-likelihood")
