"""GPUs of this machine."""

from __future__ import annotations


def gpus() -> int:
    """How many there are; none without torch."""
    try:
        import torch
    except ModuleNotFoundError:
        return 0
    return int(torch.cuda.device_count())
