"""Folders of models with something wrong in them, and the command that is put to them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from tests.builders.commands import Said, call
from tests.builders.models.zoo import Zoo

MODEL_ERROR = 3


def run(model: object, *more: object) -> Said:
    return call("run", "starter", "--model", model, "--limit", 2, "--resamples", 100, *more)


def copied(zoo: Zoo, name: str, to: Path, *without: str) -> Path:
    """A model's folder, some files left out."""
    shutil.copytree(zoo.folder(name), to)
    for pattern in without:
        for file in to.glob(pattern):
            file.unlink()
    return to


def rewritten(folder: Path, change: Any) -> Path:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def changed_config(folder: Path, **change: Any) -> Path:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    return folder
