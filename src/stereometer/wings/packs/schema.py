"""What `pack.toml` says, held to its types: a pack is written by others."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from stereometer.core.errors import DataError

SCHEMA = "pack@1"
FILE = "pack.toml"
LARGEST = 256 * 1024
"""Bytes of a `pack.toml`."""
TABLES = ("groups.csv", "traits.csv", "templates.csv")
"""What a pack of groups and traits brings itself."""
FORMS = "forms.csv"
SHOWN = 5
"""Faults that an error names."""
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[\w+-][\w.+ -]{0,120}", name) or name.endswith((".", " ")):
        raise ValueError("a file name must be plain, without folders")
    return name


def _encoding(name: str) -> str:
    try:
        "abc".encode(name).decode(name)
    except (LookupError, UnicodeError):
        raise ValueError("there is no such text encoding") from None
    return name


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc or re.search(r"[\s\x00]", url):
        raise ValueError("only http and https addresses are fetched")
    return url


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,63}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\n\r]*$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, AfterValidator(_file_name)]
Encoding = Annotated[str, AfterValidator(_encoding)]
Address = Annotated[str, AfterValidator(_address)]
Texts = Annotated[tuple[Text, ...], Field(max_length=50)]
Names = Annotated[dict[Line, Line], Field(max_length=200)]


class PackPart(BaseModel):
    """Says no more and no less than it is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class About(PackPart):
    """`[card]`: what a person must know before trusting a number."""

    title: Line
    """What tables and reports call the set."""
    citation: Text
    """What to cite."""
    paper: Line = ""
    """`doi:...`, `arXiv:...` or an address."""
    licence: Line
    """As its authors state it; `none stated` where they do not."""
    language: Line
    """Its English name."""
    country: Line
    """Whose stereotypes they are, or where the translation was made."""
    origin: Literal["native", "translated", "mixed"]
    """`native` where the items were written in the language, `translated`, or `mixed`."""
    population: Text
    """Who wrote, translated and labelled the items."""
    year: Annotated[int, Field(ge=1900, le=2100)]
    """Of publication."""
    get: Text
    """Where the data can be had, in words."""
    known_problems: Annotated[Texts, Field(min_length=1)]
    """What is wrong with the items."""
    not_concluded: Annotated[Texts, Field(min_length=1)]
    """What a number of this set does not show."""
    notice: str = Field("", max_length=2000)
    """Said with every result."""


class DataFile(PackPart):
    """`[[files]]`: a file that holds items; a pack of groups and traits has none."""

    name: FileName
    """Its name, without a folder; `NAME.gz` is read too."""
    url: Address | None = None
    """Where `data pull` fetches it, pinned to a commit."""
    sha256: Digest | None = None
    """Of the file as released, unpacked; required with an address."""

    @model_validator(mode="after")
    def _pinned(self) -> Self:
        if self.url is not None and self.sha256 is None:
            raise ValueError("a file with an address needs its sha256")
        return self


class FileReading(PackPart):
    """`[read]`: how the file is written."""

    encoding: Encoding = "utf-8-sig"
    """A text encoding that Python knows."""
    separator: Literal["", "comma", "semicolon", "tab"] = ""
    """Of a table; found by itself where it is empty."""
    columns: Names = {}
    """By our name of a column, the file's."""
    types: Names = {}
    """By the file's name of a bias type or domain, ours."""
    blank: Line = "BLANK"
    """What stands for the blank in a context."""


class Expected(PackPart):
    """`[expect]`: what must come out, as `pack check` prints it."""

    counts: Annotated[
        dict[Literal["cat", "pair", "trait"], Annotated[int, Field(ge=1)]], Field(max_length=3)
    ] = {}
    """Items by shape."""
    digest: Digest | None = None
    """Of their content."""
    verified: bool = False
    """Whether somebody has read the released file with this pack, and found count and digest."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.verified and not (self.counts and self.digest):
            raise ValueError("a verified pack states counts and digest")
        return self


class Person(PackPart):
    """`[[grammar.persons]]`: the word for an unnamed person."""

    singular: Line
    """Of one."""
    plural: Line
    """Of several."""
    agrees: str = Field("", max_length=40)
    """It stands for groups that agree in the same way; the first for those without one."""
    determiners: Names = {}
    """By column of groups.csv, its own."""


class Verbs(PackPart):
    """`[grammar.verbs]`: forms that must go with the number of a template."""

    singular: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    """After a group in the singular only."""
    plural: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    """After a group in the plural only."""


class Syntax(PackPart):
    """`[grammar]`: what filling a template takes; only for groups and traits."""

    determiners: Annotated[dict[Line, Line], Field(max_length=20)] = {}
    """By the word in a slot, such as `der` in {der group}, the column of groups.csv; `WORD plural`
    for templates in the plural."""
    persons: Annotated[tuple[Person, ...], Field(min_length=1, max_length=20)]
    """The word for a person, for each way of agreeing."""
    verbs: Verbs = Verbs()
    """Checked in templates."""
    spaces: bool = True
    """Whether words stand apart, so that a slot beside a letter is a mistake."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        columns = set(self.determiners.values())
        if any(set(person.determiners) != columns for person in self.persons):
            raise ValueError("every person needs each determiner of groups.csv, and no other")
        return self


class PackFile(PackPart):
    """`pack.toml`"""

    schema_: Literal["pack@1"] = Field(alias="schema")
    """Name and version of this layout."""
    name: Name
    """What commands call it: small letters, digits and hyphens."""
    shape: Literal["cat", "pair", "trait"]
    """What an item is: `cat` (context association test), `pair` or `trait` (of a group)."""
    card: About
    """What a person must know."""
    files: Annotated[tuple[DataFile, ...], Field(max_length=20)] = ()
    """The files of items."""
    read: FileReading = FileReading()
    """How they are written."""
    expect: Expected = Expected()
    """What must come out."""
    grammar: Syntax | None = None
    """How templates are filled."""

    @property
    def brings_tables(self) -> bool:
        """Items made of groups, traits and templates have no files of their own."""
        return self.shape == "trait"

    @model_validator(mode="after")
    def _fits_its_shape(self) -> Self:
        if self.brings_tables and (self.files or self.grammar is None):
            raise ValueError(
                "a pack of groups and traits brings its tables itself: [grammar], no [[files]]"
            )
        if not self.brings_tables and (not self.files or self.grammar is not None):
            raise ValueError("a pack of sentences names its [[files]] and has no [grammar]")
        if len({file.name for file in self.files}) != len(self.files):
            raise ValueError("two files have the same name")
        return self


PARTS: tuple[type[PackPart], ...] = (
    *(PackFile, About, DataFile, FileReading, Expected),
    *(Syntax, Person, Verbs),
)
"""In the order in which a reader meets them."""


def parse(content: bytes, where: str) -> PackFile:
    """Raises DataError for whatever is wrong with it."""
    try:
        written: dict[str, Any] = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(
            f"{where} is not TOML: {str(error)[:200]}. A pack is described in TOML. Fix it."
        ) from None
    try:
        return PackFile.model_validate(written)
    except ValidationError as error:
        raise DataError(
            f"{where} does not describe a pack: {_faults(error)}. Fix it by docs/reference/pack.md."
        ) from None


def _faults(error: ValidationError) -> str:
    every = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [
        f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: "
        f"{fault['msg'].removeprefix('Value error, ')[:200].rstrip('.').lower()}"
        for fault in every[:SHOWN]
    ]
    more = [f"{len(every) - SHOWN} more"] if len(every) > SHOWN else []
    return "; ".join((*shown, *more))


def read_file(folder: Path, name: str, largest: int) -> bytes:
    """A file of a pack that lies in its folder, not behind a link that leads out of it."""
    path = folder / name
    if not path.is_file() or path.resolve().parent != folder.resolve():
        raise DataError(
            f"{folder} has no file {name} of its own. A pack's folder holds it. Check the folder."
        )
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise DataError(
            f"{path} is larger than {largest} bytes. No pack needs that. Is it the right file?"
        )
    return content
