"""Rows that are kept on disk part by part: what a kill can cost is one part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor


def kept_part(file: Path, count: int, make: Callable[[], Tensor]) -> Tensor:
    """So many rows, from their file or made and written there; one that is cut is made again."""
    stored = _stored(file, count)
    if stored is None:
        stored = make().float().cpu()
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".part")
        with partial.open("wb") as out:
            np.save(out, stored.numpy())
        partial.replace(file)
    return stored


def _stored(file: Path, count: int) -> Tensor | None:
    """The rows that are there; nothing where a file is cut or damaged."""
    try:
        rows = torch.from_numpy(np.load(file))
    except (OSError, ValueError, EOFError):
        return None
    return rows if len(rows) == count else None
