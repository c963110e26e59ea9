"""Where a model is: a folder, a .gguf file or a name on the hub; and what it is called. Imports
nothing heavy: a slip in a path is found before torch is asked for."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath

from stereometer.errors import ModelError, did_you_mean
from stereometer.types.names import ModelName

CONFIG = "config.json"
GGUF = ".gguf"
PATH_SIGNS = (".", "/", "\\", "~")


def name_of(spec: str, shown: int | None = 1) -> str:
    """The last parts of a path, or all of them; what is no path here is called as it is written."""
    if not Path(spec).exists():
        return spec
    whole = PureWindowsPath(os.path.abspath(spec))  # knows the separators of every system
    parts = [part for part in whole.parts if part != whole.anchor]
    return "/".join(parts[-(shown or 0) :]) or spec


def check_place(spec: str) -> None:
    """Raises where a spec can only be a path, and no model is there."""
    path = Path(spec)
    if not path.exists():
        if _is_path(spec):
            is_there = path.parent.is_dir()
            nothing = "Nothing beside it has a similar name."
            far = nothing if is_there else f"There is no folder {path.parent}."
            raise ModelError(
                f"{spec} was not found. {near(spec) or far} A model is a folder, a "
                ".gguf file or org/name on the hub."
            )
    elif path.is_file() and path.suffix != GGUF:
        raise ModelError(
            f"{spec} is a file, but not a .gguf file. A model is a folder, a .gguf file or "
            "org/name. Name the folder."
        )
    elif path.is_dir() and not (path / CONFIG).exists():
        inner = sorted(file.parent for file in path.glob(f"*/{CONFIG}"))
        example = f", such as {inner[-1]}" if inner else ""
        raise ModelError(
            f"{spec} is a folder without {CONFIG}. It holds no model that transformers can load. "
            f"Name the folder that holds {CONFIG}{example}."
        )


def near(spec: str) -> str:
    """Models beside the place that a spec names, with names like its own."""
    path = Path(spec)
    start = spec[: len(spec.rstrip("/\\")) - len(path.name)]
    try:
        beside = [each for each in path.parent.iterdir() if each.is_dir() or each.suffix == GGUF]
    except OSError:
        return ""
    return did_you_mean(path.name, {each.name: f"{start}{each.name}" for each in beside})


def _is_path(spec: str) -> bool:
    """Whether it cannot be a name on the hub: org/name, with a revision after @."""
    name = ModelName.parse(spec).path
    signs = spec.startswith(PATH_SIGNS) or "\\" in name or bool(PureWindowsPath(spec).drive)
    return signs or name.count("/") > 1 or name.endswith(("/", GGUF))
