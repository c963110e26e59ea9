"""Names and what they stand for: the one table, `catalog.toml`. Other packages add to it with entry
points of the same groups."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stereometer.core.errors import DataError, ModelError, UnknownName, respelled
from stereometer.core.types.names import MeasureName, ModelName

if TYPE_CHECKING:
    from stereometer.core.shapes.shape import Shape
    from stereometer.core.types.method import Method
    from stereometer.core.types.wrapper import Wrapper

TABLE: Mapping[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("catalog.toml").read_text("utf-8")
)
PACKAGE = "stereometer"
LOG = logging.getLogger(PACKAGE)
METHOD = "method"
NOUNS = {METHOD: "measure"}
"""What users call a kind, where that is another word."""


def names(kind: str) -> list[str]:
    """Every name of a kind, ours first."""
    ours = [*TABLE[kind], *_shipped(kind)]
    return [*ours, *sorted({*_plugins(kind), *_installed(kind)} - set(ours))]


def find(kind: str, name: str) -> Any:
    """What a name stands for; a versioned one (`pair-likelihood@1`) is that version or unknown."""
    asked = _asked(kind, name)
    if asked.name in names(kind):
        entry = _load(kind, asked.name)
        if not asked.options and asked.version in ("", getattr(entry, "version", "")):
            return entry
    elif _is_folder(kind, name):
        return replace(_pack(Path(name)), path=name)
    name = str(asked)
    if kind == PACKED and name in (installed := pack_folders().installed()):
        # One that cannot be read says why.
        return _pack(pack_folders().folder_of(installed[name]), name)
    raise UnknownName(NOUNS.get(kind, kind), name, names(kind))


def every(kind: str) -> dict[str, Any]:
    """What all names of a kind stand for. Another package's that cannot be loaded costs a warning:
    it must not keep the others from being used."""
    found = {}
    for name in names(kind):
        try:
            found[name] = find(kind, name)
        except Exception as error:  # a package may raise whatever it likes
            if name not in _plugins(kind):
                raise
            _warn(f"The {kind} {name} is left out: {type(error).__name__} {error}.")
    return found


@cache
def _warn(text: str) -> None:
    """Once in a process."""
    LOG.warning(text)


def spelled(kind: str, name: str) -> str:
    """A name as the catalog writes it; as it is where nothing has it, or where it is a path."""
    return str(_asked(kind, name))


def _asked(kind: str, name: str) -> MeasureName:
    """Only methods have versions."""
    asked = MeasureName.parse(name) if kind == METHOD else MeasureName(name)
    known = names(kind)
    found = asked.name in known or Path(name).exists()
    return asked if found else replace(asked, name=respelled(asked.name, known))


def _load(kind: str, name: str) -> Any:
    if name in TABLE[kind]:
        module, _, attribute = TABLE[kind][name].partition(":")
        found = import_module(module, PACKAGE)
        return getattr(found, attribute) if attribute else found
    if name in _shipped(kind):
        return packs().source_of(_shipped(kind)[name])
    if name in _plugins(kind):
        return _plugins(kind)[name].load()
    return _pack(_installed(kind)[name], name)


def place(kind: str, name: str) -> str:
    """Where a name's object is, as `module:object`."""
    name = spelled(kind, name)
    if name in TABLE[kind]:
        module, colon, attribute = TABLE[kind][name].partition(":")
        return f"{resolve_name(module, PACKAGE)}{colon}{attribute}"
    return str(_plugins(kind)[name].value)


def has(kind: str, name: str) -> bool:
    return _asked(kind, name).name in names(kind) or _is_folder(kind, name)


def shape(kind: str) -> Shape:
    """The shape of a kind of result; the plain one for a kind that nobody declared."""
    from stereometer.core.shapes.shape import Shape

    declared: Shape = find("shape", kind) if has("shape", kind) else Shape()
    return declared


def method(measure: str) -> Method | None:
    """The method behind a result's measure; None where nothing here has its name."""
    name = MeasureName.parse(measure).name
    return find(METHOD, name) if has(METHOD, name) else None


def model_name(text: str) -> ModelName:
    """A model's name with the schemes that are known."""
    return ModelName.parse(text, names("opener"))


def wrappers() -> list[Wrapper]:
    return list(every("wrapper").values())


def wrapper(path: Path) -> Wrapper:
    """The one that puts this file onto a model."""
    known = wrappers()
    if not known:
        raise ModelError(
            f"Nothing that is installed puts {path} onto a model. What stands after the + is the "
            "file of a wrapper, such as a mitigation. Leave it out, or install the wrapper."
        )
    return next((each for each in known[1:] if each.recognises(path)), known[0])


@cache
def _plugins(kind: str) -> Mapping[str, Any]:
    return {point.name: point for point in entry_points(group=f"stereometer.{kind}s")}


# ------------------------------------------------------------------------------------------- packs

PACKED = "benchmark"
"""The kind that packs are of."""


def pack_folders() -> Any:
    """Where packs are, imported when a benchmark is looked for: a list of commands needs none."""
    return import_module("stereometer.wings.packs.pack")


def packs() -> Any:
    """What reads them, imported when the first is opened."""
    return import_module("stereometer.wings.packs.source")


def pack(name: str) -> Any:
    """A pack by its name or its folder, and nothing else."""
    source = find(PACKED, name) if has(PACKED, name) else None
    if not isinstance(source, packs().PackSource):
        raise DataError(
            f"{name} is not a pack. A pack is a folder with pack.toml, or the name of one. Check "
            "the path."
        )
    return source


def _is_folder(kind: str, name: str) -> bool:
    """Whether a name that nothing else has is the path of a pack."""
    return kind == PACKED and bool(pack_folders().is_pack(Path(name)))


def _pack(folder: Path, name: str | None = None) -> Any:
    """A pack from elsewhere, whose name must be its own."""
    source = packs().source_of(folder)
    ours = _shipped(PACKED).get(source.name)
    if ours is not None and ours.resolve() == folder.resolve():
        return source
    taken = source.name in (*TABLE[PACKED], *_shipped(PACKED), *_plugins(PACKED))
    if taken or source.name != (name or source.name):
        raise DataError(
            f"The pack in {folder} calls itself {source.name!r}. "
            f"{'That is another set' if taken else f'It was installed as {name!r}'}, and results "
            "of the two could not be told apart. Give it another name."
        )
    return source


@cache
def _shipped(kind: str) -> Mapping[str, Path]:
    return pack_folders().shipped() if kind == PACKED else {}


@cache
def _installed(kind: str) -> Mapping[str, Path]:
    """Those that can be read: a broken one must not keep others from being listed."""
    folders: dict[str, Path] = {}
    if kind != PACKED:
        return folders
    for name, point in pack_folders().installed().items():
        with suppress(DataError):
            folder = pack_folders().folder_of(point)
            _pack(folder, name)
            folders[name] = folder
    return folders
