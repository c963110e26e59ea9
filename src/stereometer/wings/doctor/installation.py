"""What is installed and ready: versions, data, default models, cache, devices."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stereometer.core import catalog
from stereometer.core.errors import StereometerError
from stereometer.core.runs.cache import Cache
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown
from stereometer.models.local.opener import devices
from stereometer.wings.data.verbs import where
from stereometer.wings.doctor import view as views

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

    view = views.installation

    @property
    def parts(self) -> Mapping[str, str]:
        """The optional part that each package belongs to."""
        return PARTS


def installation() -> Installation:
    return Installation(
        {"python": platform.python_version()}
        | {name: _version(name) for name in ("stereometer", "numpy", "scipy", *PARTS)},
        {name: files[0] if files else None for name, files in where().files.items()},
        _models(),
        _cache(),
        devices(),
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _models() -> dict[str, bool]:
    models = {name: catalog.find("model", name) for name in catalog.names("model")}
    return {
        name: model.source is not None or (model.folder / "config.json").exists()
        for name, model in models.items()
    }


def _cache() -> dict[str, Any]:
    try:
        with Cache() as cache:
            return cache.info()
    except StereometerError as error:
        return {"problem": str(error)}
