"""What is installed and ready: versions, data, default models, cache, devices."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stereometer.cli import render
from stereometer.cli.data import files_here
from stereometer.errors import StereometerError

PARTS = {
    "torch": "hf",
    "transformers": "hf",
    "httpx2": "server",
    "fastapi": "serve",
    "wordfreq": "lexicon",
    "vaderSentiment": "lexicon",
    "sentencex": "train",
    "concept_erasure": "mitigate",
    "peft": "mitigate",
}
"""Packages of the optional parts."""


def installation() -> dict[str, Any]:
    """Everything that a first run may lack."""
    from stereometer.backends.local.devices import devices

    return {
        "schema": "installation@1",
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in ("stereometer", "numpy", "scipy", *PARTS)},
        "data_files": {name: files[0] if files else None for name, files in files_here().items()},
        "models_ready": _models(),
        "cache": _cache(),
        "devices": devices(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _models() -> dict[str, bool]:
    from stereometer import catalog

    models = {name: catalog.find("model", name) for name in catalog.names("model")}
    return {
        name: model.source is not None or (model.folder / "config.json").exists()
        for name, model in models.items()
    }


def _cache() -> dict[str, Any]:
    from stereometer.runs.cache import Cache

    try:
        with Cache() as cache:
            return dict(cache.info())
    except StereometerError as error:
        return {"problem": str(error)}


def print_installation(state: dict[str, Any]) -> None:
    render.line(bold="versions")
    for name, number in state["versions"].items():
        absent = f"not installed; part of `pip install '.[{PARTS.get(name)}]'`"
        render.line(f"  {name}: {number or absent}")
    render.line(bold="\ndata")
    for name, place in state["data_files"].items():
        if place:
            render.line(f"  {name}: {place}")
    if missing := [name for name, place in state["data_files"].items() if not place]:
        render.line(f"  not on this machine: {', '.join(missing)}")
        render.line("  `stereometer show NAME` says where to get one of them")
    render.line(bold="\ndefault models")
    for name, ready in state["models_ready"].items():
        render.line(f"  {name}: {'ready' if ready else f'run `stereometer model add {name}`'}")
    cache = state["cache"]
    kept = f"{cache['path']}, {cache['answers']} answers" if "path" in cache else cache["problem"]
    render.line(f"\n  {kept}", bold="\ncache")
    render.line(f"\n  {', '.join(state['devices']) or 'none: torch is missing'}", bold="\ndevices")
