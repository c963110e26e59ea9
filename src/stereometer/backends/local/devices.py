"""What models of this machine can run on."""

from __future__ import annotations


def gpus() -> int:
    """How many GPUs there are; none without torch."""
    try:
        import torch
    except ModuleNotFoundError:
        return 0
    return int(torch.cuda.device_count())


def devices() -> list[str]:
    """By the names that `--device` takes; none without torch."""
    try:
        import torch
    except ModuleNotFoundError:
        return []
    others = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return ["cpu", *(name for name, there in others.items() if there)]
