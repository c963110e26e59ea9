"""Where a model runs and in which precision, where that is left open: an idle GPU that holds it, in
float32 if it can be; else this machine's processor.

GPUs count by all of their memory, not by what is free at the moment: the same model on the same
machine gets the same precision.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stereometer.core.errors import ModelError

if TYPE_CHECKING:
    from stereometer.models.local.checkpoint import LoadingOptions

LOG = logging.getLogger("stereometer")
AUTO = "auto"
SPREAD = "gpus"
"""The device of a model that is laid over all GPUs a process has."""
CPU, FULL, HALF = "cpu", "float32", "bfloat16"
BYTES = {"float64": 8, FULL: 4, HALF: 2, "float16": 2}
IDLE = 0.8
"""The share of a GPU's memory that others leave free, from which on it stands idle: a screen or a
context takes the rest."""
WEIGHTS = 0.75
"""The share of a GPU's memory that weights may take: the rest is for states and logits."""
DRIVERS = ("/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/kfd", "/dev/dxg")
"""One of these is there where Linux has a GPU that torch computes on."""
BUSY = "GPUs: %s, taken by others, so not used. --device cuda takes one all the same."
TOO_LARGE = "%s does not fit on a GPU of this machine in %s, so it runs on the CPU."
COARSER = "%s does not fit on a GPU of this machine in float32, so it runs in bfloat16."


@dataclass(frozen=True)
class Gpu:
    """One that torch can compute on."""

    device: str
    memory: int
    """Bytes, taken or not."""
    idle: bool = True

    def holds(self, weights: int) -> bool:
        return weights <= WEIGHTS * self.memory


def gpus() -> list[Gpu]:
    """Those of this process; what it took itself does not make a GPU busy."""
    # Seen without torch, whose import takes seconds.
    there = any(Path(driver).exists() for driver in DRIVERS) or sys.platform == "win32"
    if not there and "torch" not in sys.modules:
        return []
    import torch

    found = []
    for at in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(at)
        found.append(
            Gpu(f"cuda:{at}", total, free + torch.cuda.memory_reserved(at) >= IDLE * total)
        )
    return found


def what_decides(options: LoadingOptions) -> list[int]:
    """What else than files and options says where a model runs: the sizes of GPUs it may have."""
    is_open = AUTO in (options.device, options.dtype)
    return [each.memory for each in _allowed(options)] if is_open else []


def _allowed(options: LoadingOptions) -> list[Gpu]:
    """The GPUs that a model may be put on."""
    if options.device.partition(":")[0] not in (AUTO, SPREAD, "cuda"):
        return []
    given = "cuda:0" if options.device == "cuda" else options.device
    is_free = options.device == AUTO
    return [
        each
        for each in gpus()
        if (is_free and each.idle) or options.device == SPREAD or each.device == given
    ]


def settled(options: LoadingOptions, name: str, size: Callable[[str], int]) -> LoadingOptions:
    """With what `auto` stands for, for a model whose weights have a size in bytes by precision."""
    if AUTO not in (options.device, options.dtype):
        return options
    allowed = _allowed(options)
    wanted = (FULL, HALF) if options.dtype == AUTO else (options.dtype,)
    for dtype in wanted:
        device = _place(options.device, allowed, size(dtype)) if allowed else None
        if device is not None:
            if dtype != wanted[0]:
                LOG.warning(COARSER, name)
            return replace(options, device=device, dtype=dtype)
    if options.device != AUTO:  # it is tried, with an open precision as coarse as may be
        return replace(options, dtype=wanted[-1] if allowed else wanted[0])
    if allowed:
        LOG.warning(TOO_LARGE, name, " or ".join(wanted))
    elif there := gpus():
        LOG.warning(BUSY, len(there))
    return replace(options, device=CPU, dtype=wanted[0])


def _place(asked: str, allowed: Sequence[Gpu], weights: int) -> str | None:
    """The GPU that holds the weights, or all of them together."""
    one = next((each for each in allowed if each.holds(weights)), None)
    if one is not None and asked != SPREAD:
        return asked if asked != AUTO else one.device
    several = allowed if asked == SPREAD else allowed[1:] and asked == AUTO
    return SPREAD if several and sum(each.memory for each in allowed) * WEIGHTS >= weights else None


def too_small(name: str, device: object) -> ModelError:
    """Of a GPU whose memory ran out."""
    return ModelError(
        f"{name} does not fit into the memory of '{device}'. Nothing is lost: answers so far "
        "are kept. Take half the precision (--dtype bfloat16), --device gpus for all of them "
        f"together, or --device {CPU}."
    )
