"""What identifies a loaded model: digests of its weights, configuration and tokenizer."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

WITHOUT_EFFECT = ("name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures")
"""Entries of a configuration that change no number, besides those that begin with an underscore.

The precision stands on the card by itself.
"""


def weights_digest(model: Any) -> str:
    """Over names, shapes and numbers: the same weights in another file give the same digest."""
    import torch

    digest = sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}:{tuple(tensor.shape)}:{tensor.dtype}".encode())
        if tensor.numel():
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            digest.update(flat.view(torch.uint8).numpy())
    return digest.hexdigest()


def config_digest(model: Any, tokenizer: Any) -> str:
    """How the same weights are read: configuration, special tokens, and code of the checkpoint."""
    entries = {
        name: value
        for name, value in model.config.to_dict().items()
        if name not in WITHOUT_EFFECT and not name.startswith("_")
    }
    parts = [
        entries,
        sorted(tokenizer.special_tokens_map.items(), key=str),
        tokenizer.mask_token_id,
        own_code(model),
        *_end_tokens(model),
    ]
    return _of_json(parts)[:16]


def own_code(model: Any) -> str | list[str]:
    """Every file of the code that came with the checkpoint; empty where it brought none."""
    module = type(model).__module__
    file = sys.modules[module].__file__ if module.startswith("transformers_modules") else None
    return (
        [path.read_text("utf-8") for path in sorted(Path(file).parent.glob("*.py"))] if file else ""
    )


def _end_tokens(model: Any) -> Iterator[Any]:
    """Where a model stops writing, if generation_config.json says other than the configuration."""
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if ends is not None and ends != getattr(model.config, "eos_token_id", None):
        yield ends


def tokenizer_digest(tokenizer: Any) -> str:
    """Of what decides ids and offsets; the first call switches padding and truncation."""
    parts = json.loads(tokenizer.backend_tokenizer.to_str())
    return _of_json(parts | {"padding": None, "truncation": None})


def _of_json(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
