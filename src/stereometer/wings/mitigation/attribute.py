"""An attribute that a mitigation is about: classes, and words that differ by class alone."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from stereometer.core import catalog
from stereometer.core.errors import DataError, UnknownName
from stereometer.core.files import read_json
from stereometer.core.types.document import Document, digest_of, typed

FOLDER = Path(__file__).parent / "attributes"
GENDER, RACE = FOLDER / "gender.json", FOLDER / "race.json"
ATTRIBUTE_SCHEMA = "attribute@1"

Row = tuple[str, ...]
"""One word, or a few, for each class."""


@dataclass(frozen=True)
class Role(Document):
    """A row of words that another row writes alike in one class: told apart by what follows."""

    words: Row
    before_noun: bool
    """Whether this is the row where a noun follows, as in `her book`."""

    @property
    def lower(self) -> list[str]:
        return [word.lower() for word in self.words]


@dataclass(frozen=True)
class Attribute(Document):
    name: str
    classes: tuple[str, ...]
    rows: tuple[Row, ...]
    held_out: tuple[Row, ...]
    """Never fitted on: by them a probe says whether the words or the attribute went away."""
    domains: tuple[str, ...] = ()
    """Domains of benchmarks that it is about."""
    language: str = "en"
    roles: tuple[Role, ...] = ()
    not_before_noun: tuple[str, ...] = ()
    """Words that do not begin what a possessive belongs to, such as `to` and `and`."""
    schema: str = ATTRIBUTE_SCHEMA
    source: str = field(default="", compare=False)
    """Where it was read, for messages."""

    @cached_property
    def digest(self) -> str:
        value = self.as_json()
        del value["source"]
        return digest_of(value)

    @property
    def trained_rows(self) -> Iterator[Row]:
        """Rows that may be fitted on."""
        yield from self.rows
        yield from (role.words for role in self.roles)

    @property
    def words(self) -> tuple[str, ...]:
        """Every word in lower case, once."""
        rows = (*self.trained_rows, *self.held_out)
        return tuple(sorted({word.lower() for row in rows for word in row}))


def load(name: str) -> Attribute:
    """An attribute by name, or a user's own file by path."""
    names = catalog.names("attribute")
    known = name in names
    path = catalog.find("attribute", name) if known else Path(name)
    if not known and not path.exists() and path.suffix != ".json":
        raise UnknownName("attribute", name, names, "A file of your own is named by path.")
    value = read_json(path)
    try:
        attribute = typed(Attribute, {**value, "source": str(path)})
        _check(attribute)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{path} is not an attribute: {error}. An attribute has classes, rows of one word for "
            "each class, and held-out rows. docs/mitigation.md shows an example."
        ) from None
    return attribute


def _check(attribute: Attribute) -> None:
    """Raises ValueError for what would make swapping or probing impossible."""
    if attribute.schema != ATTRIBUTE_SCHEMA:
        raise ValueError(f"schema: it is {attribute.schema}, and {ATTRIBUTE_SCHEMA} is read")
    if not all(map(str.strip, (attribute.name, *attribute.classes))):
        raise ValueError("name and classes: one of them is empty")
    if len(attribute.classes) < 2 or len(set(attribute.classes)) < len(attribute.classes):
        raise ValueError("classes: at least two different ones are needed")
    if not attribute.rows:
        raise ValueError("rows: there are none to fit on")
    if not attribute.held_out:
        raise ValueError("held_out: there are no words to test on that nothing was fitted on")
    for row in (*attribute.trained_rows, *attribute.held_out):
        is_whole = len(row) == len(attribute.classes)
        if not is_whole or any(word.strip() != word or not word for word in row):
            raise ValueError(f"{' / '.join(row)}: a row has one word for each class")
        if odd := [word for word in row if not word[0].isalnum()]:
            raise ValueError(f"'{odd[0]}': a word that begins with a mark is never found")
    _check_words(attribute)


def _check_words(attribute: Attribute) -> None:
    """A word of two classes has no label; one of two rows has no counterpart, roles aside."""
    plain = [word.lower() for row in (*attribute.rows, *attribute.held_out) for word in row]
    by_role = {word.lower() for role in attribute.roles for word in role.words}
    for word in plain:
        if plain.count(word) > 1 or word in by_role:
            raise ValueError(f"'{word}' stands in two rows, so that it cannot be swapped back")
    rows = [role.lower for role in attribute.roles]
    for number, name in enumerate(attribute.classes):
        own = {row[number] for row in rows}
        others = {word for row in rows for at, word in enumerate(row) if at != number}
        if own & others:
            raise ValueError(f"'{min(own & others)}' is a word of {name} and of another class")
