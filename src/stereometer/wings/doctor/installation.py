"""What is installed and ready: versions, data, default models, cache, devices."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stereometer.core import catalog
from stereometer.core.errors import StereometerError
from stereometer.core.runs.cache import Cache
from stereometer.core.show.view import Paragraph, View, line
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown
from stereometer.models.local.opener import devices
from stereometer.wings.data.verbs import where

PARTS = {
    "torch": "hf",
    "transformers": "hf",
    "httpx2": "server",
    "stamina": "server",
    "fastapi": "serve",
    "wordfreq": "lexicon",
    "vaderSentiment": "lexicon",
    "sentencex": "train",
    "concept_erasure": "mitigate",
    "peft": "mitigate",
}
"""Packages of the optional parts."""


@dataclass(frozen=True, repr=False)
class Installation(Shown, Document):
    """Everything that a first run may lack."""

    versions: Mapping[str, str | None]
    data_files: Mapping[str, str | None]
    models_ready: Mapping[str, bool]
    cache: Mapping[str, Any]
    devices: Sequence[str]
    schema: str = "installation@1"

    def view(self) -> View:
        return View(parts=tuple(self._lines()))

    def _lines(self) -> Iterator[Paragraph]:
        yield line(bold="versions")
        for name, number in self.versions.items():
            absent = f"not installed; part of `pip install '.[{PARTS.get(name)}]'`"
            yield line(f"  {name}: {number or absent}")
        yield line(bold="\ndata")
        missing = [name for name, place in self.data_files.items() if place is None]
        yield from (line(f"  {name}: {place}") for name, place in self.data_files.items() if place)
        if missing:
            yield line(f"  not on this machine: {', '.join(missing)}")
            yield line("  `stereometer show NAME` says where to get one of them")
        yield line(bold="\ndefault models")
        for name, ready in self.models_ready.items():
            yield line(f"  {name}: {'ready' if ready else f'run `stereometer model add {name}`'}")
        answers = "{path}, {answers} answers" if "path" in self.cache else "{problem}"
        yield line(f"\n  {answers.format(**self.cache)}", bold="\ncache")
        yield line(f"\n  {', '.join(self.devices) or 'none: torch is missing'}", bold="\ndevices")


def installation() -> Installation:
    models = {name: catalog.find("model", name) for name in catalog.names("model")}
    return Installation(
        {"python": platform.python_version()}
        | {name: _version(name) for name in ("stereometer", "numpy", "scipy", *PARTS)},
        {name: files[0] if files else None for name, files in where().files.items()},
        {
            name: model.source is not None or (model.folder / "config.json").exists()
            for name, model in models.items()
        },
        _cache(),
        devices(),
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cache() -> dict[str, Any]:
    try:
        with Cache() as cache:
            return cache.info()
    except StereometerError as error:
        return {"problem": str(error)}
