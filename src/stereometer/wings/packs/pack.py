"""A pack in its folder: what it says, checked, and the card it makes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from stereometer.core.benchmarks.benchmark import Card
from stereometer.core.errors import DataError
from stereometer.core.tables import Layout
from stereometer.wings.packs import schema

SHIPPED = Path(__file__).parent / "data"
LARGEST_TABLE = 4 * 1024 * 1024
"""Bytes of a table of groups, traits, templates or forms."""
SHIPPED_FOLDERS = {"crows-pairs-french": "crows_pairs"}
"""Where data folders made before packs hold a file."""
UNTRIED = (
    "This pack was never tried on the released file: nobody has checked its columns, count or "
    "content. Look at a few items before you trust a number."
)


@dataclass(frozen=True)
class Pack:
    """Data only: nothing in its folder is ever run."""

    folder: Path
    written: schema.PackFile

    @property
    def name(self) -> str:
        return self.written.name

    @property
    def layout(self) -> Layout:
        read = self.written.read
        return Layout(read.encoding, dict(read.columns), schema.SEPARATORS.get(read.separator, ""))

    @property
    def forms(self) -> Path | None:
        """The table of adjectives that agree, where there is one."""
        path = self.folder / schema.FORMS
        return path if path.is_file() else None

    @cached_property
    def card(self) -> Card:
        written, expect, files = self.written, self.written.expect, self.written.files
        urls = [file.url for file in files if file.url is not None]
        # A pack from elsewhere has a folder of its own: it must not replace another set's file.
        ours = self.folder.parent == SHIPPED
        return Card(
            **written.card.model_dump(),
            name=self.name,
            counts={str(shape): count for shape, count in expect.counts.items()},
            digest=expect.digest or "",
            folder=SHIPPED_FOLDERS.get(self.name, "packs") if ours else f"packs/{self.name}",
            files=schema.TABLES if written.brings_tables else tuple(file.name for file in files),
            urls=tuple(urls) if len(urls) == len(files) else (),
            sha256=tuple(file.sha256 or "" for file in files),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return () if self.written.expect.verified else (UNTRIED,)


def is_pack(folder: Path) -> bool:
    return (folder / schema.FILE).is_file()


def open_pack(folder: Path) -> Pack:
    """Reads `pack.toml`; tables that the pack brings must be small enough and its own."""
    content = schema.read_file(folder, schema.FILE, schema.LARGEST)
    pack = Pack(folder, schema.parse(content, str(folder / schema.FILE)))
    brought = schema.TABLES if pack.written.brings_tables else ()
    for name in (*brought, *([schema.FORMS] if brought and pack.forms else [])):
        schema.read_file(folder, name, LARGEST_TABLE)
    return pack


def shipped() -> dict[str, Path]:
    """The packs of this package, by name."""
    return {folder.name: folder for folder in sorted(SHIPPED.iterdir()) if is_pack(folder)}


GROUP = "stereometer.packs"


def installed() -> dict[str, EntryPoint]:
    """By name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def folder_of(point: EntryPoint) -> Path:
    """The folder that an entry point names as a top-level package; a package need not be imported
    to be found, but one inside another must be."""
    places: Iterable[str] = ()
    if point.value.isidentifier():
        spec = PathFinder.find_spec(point.value)
        places = (spec.submodule_search_locations or ()) if spec else ()
    for place in places:
        if is_pack(Path(place)):
            return Path(place)
    raise DataError(
        f"The pack {point.name} cannot be found: {point.value!r} is not a folder with pack.toml. "
        "An entry point of a pack names the folder that its wheel installs. Ask whoever made it."
    )
