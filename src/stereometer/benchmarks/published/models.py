"""Which system of a published table a model is: by a name that is listed, or by its weights."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stereometer.benchmarks.published.tables import data_text
from stereometer.types import digest_of_file

WEIGHTS = "model.safetensors"


@dataclass(frozen=True)
class Alias:
    """What one system goes by."""

    names: tuple[str, ...]
    bytes: int = 0
    sha256: str = ""


@cache
def aliases() -> dict[str, Alias]:
    entries = tomllib.loads(data_text("models.toml"))
    return {system: Alias(tuple(entry.pop("names")), **entry) for system, entry in entries.items()}


def system_of(model: str) -> str | None:
    """A folder is known by its weights alone: whatever it is called, they may be others."""
    if Path(model).is_dir():
        return _by_weights(Path(model) / WEIGHTS)
    return next((system for system, alias in aliases().items() if model in alias.names), None)


def _by_weights(file: Path) -> str | None:
    """Files of another size are not read."""
    size = file.stat().st_size if file.is_file() else 0
    for system, alias in aliases().items():
        if size and alias.bytes == size and digest_of_file(file) == alias.sha256:
            return system
    return None
