"""Files that a model's own files name: shards of weights, and versions of a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

from stereometer.backends.local.place import CONFIG
from stereometer.errors import ModelError

ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
SAFE = ".safetensors"
"""The ending of weights that cannot run code when they are read: all others may be pickles."""
SANE = 1000
"""Layers or experts: from here on each must have a weight of its own in the files."""


def named_files(folder: Path) -> Iterator[str]:
    """Every name in a model's folder that loading may follow."""
    yield from _named_weights(folder)
    versions = _read(folder / "tokenizer_config.json").get("fast_tokenizer_files")
    yield from map(str, versions) if isinstance(versions, list) else ()


def _named_weights(folder: Path) -> Iterator[str]:
    for index in sorted(folder.glob("*.index.json")):
        weights = _read(index).get("weight_map")
        yield from set(map(str, weights.values())) if isinstance(weights, dict) else ()
    weights = _read(folder / CONFIG).get("transformers_weights")
    yield from [weights] if isinstance(weights, str) else []


def check_named_files(spec: str, folder: Path, allow_pickle: bool) -> None:
    """Raises for a name that leads out of the folder, or to a pickle that is not allowed."""
    for name in named_files(folder):
        if is_outside(name):
            raise ModelError(
                f"{spec} names a file outside its folder: {name}. What is loaded would not be this "
                "model alone. Put its files into one folder."
            )
    for name in _named_weights(folder):
        if not allow_pickle and not name.endswith(SAFE):
            raise _pickled(spec, name)
    if not (folder / ADAPTER).is_file():
        return
    base = str(_read(folder / ADAPTER).get("base_model_name_or_path") or "")
    if Path(base).exists() or is_outside(base):
        raise ModelError(
            f"{spec} is an adapter of a model outside its folder: {base}. What is loaded would not "
            "be this model alone. Merge the adapter into its model first."
        )
    if not allow_pickle and not (folder / ADAPTER_WEIGHTS).is_file():
        raise _pickled(spec, "adapter_model.bin")


def _pickled(spec: str, name: str) -> ModelError:
    return ModelError(
        f"{spec} has weights that are not safetensors: {name}. Other formats can run code when "
        "loaded. Convert it, or add --allow-pickle if you trust it."
    )


def is_outside(name: str) -> bool:
    """Whether a name, read as a path of any system, leads out of the folder it is written in."""
    path = PureWindowsPath(name)  # knows both separators
    return bool(path.drive or path.root) or ".." in path.parts


def check_depth(spec: str, config: Any, folder: Path) -> None:
    """Raises for numbers of layers or experts beyond the weights in the files: building the model
    would take minutes before the first of them is missed."""
    from safetensors import SafetensorError, safe_open

    weights = 0
    for index in folder.glob("*.safetensors.index.json"):
        weights += len(_read(index).get("weight_map") or ())
    for file in filter(Path.is_file, folder.glob("*.safetensors")):
        try:
            with safe_open(file, framework="np") as tensors:
                weights += len(tensors.keys())
        except (SafetensorError, OSError):  # loading says what is wrong with it
            continue
    for name, value in config.to_dict().items():
        counts = isinstance(value, int) and ("layer" in name or "expert" in name)
        if counts and value > max(SANE, weights):
            raise ModelError(
                f"{spec} has no usable weights for {name} = {value} in its configuration: its "
                f"files hold {weights}. They do not belong together. Check config.json."
            )


def _read(file: Path) -> dict[str, Any]:
    """An object of JSON; empty where there is none, which loading then says."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
