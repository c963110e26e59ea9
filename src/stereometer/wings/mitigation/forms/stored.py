"""A mitigation on disk: one safetensors file with its card in the header; an adapter is a folder.

The card holds a digest of the tensors and of all else that it says, so that a changed file is not
taken for the one that was written.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from safetensors.torch import save as packed
from torch import Tensor

from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.files import make_room, read_json, replacing_folder, to_json, write_json
from stereometer.core.types.document import digest_of, typed
from stereometer.wings.mitigation.card import ADAPTER, MitigationCard

CARD, WEIGHTS, CONFIG = "card.json", "adapter_model.safetensors", "adapter_config.json"
"""The files of an adapter, as peft names the last two; its configuration counts as a tensor."""
UNREADABLE = (StereometerError, OSError, SafetensorError, KeyError, TypeError, ValueError)
"""What reading raises where something else is, or a part of it."""


@dataclass(frozen=True)
class Stored:
    card: MitigationCard
    tensors: Mapping[str, Tensor]
    path: Path
    written: Mapping[str, Any]
    """The card as the file has it."""


def save(card: MitigationCard, tensors: Mapping[str, Tensor], path: Path) -> MitigationCard:
    """The card as it stands in the file, which appears whole or not at all, and which others may
    read as far as the user's mask allows."""
    kept = {
        name: value.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, value in tensors.items()
    }
    for name, value in kept.items():
        if not value.isfinite().all():
            raise ModelError(
                f"The mitigation was not written: {name} has numbers that are not finite. The "
                "model's own states may have such numbers too. Check the model."
            )
    card = replace(card, content=content(kept, card.as_json()))
    if card.form == ADAPTER:
        config = kept.pop(CONFIG).numpy().tobytes()
        with replacing_folder(path) as folder:  # as peft reads it, with the card beside
            (folder / WEIGHTS).write_bytes(packed(kept, metadata={"format": "pt"}))
            (folder / CONFIG).write_bytes(config)
            write_json(folder / CARD, card.as_json())
        return card
    make_room(path)
    partial = path.with_name(f".{path.name}.part")
    header = {"card": to_json(card.as_json(), indent=None)}
    partial.write_bytes(packed(kept, metadata=header))
    partial.replace(path)
    return card


def content(tensors: Mapping[str, Tensor], card: Mapping[str, Any]) -> str:
    """Over the card without its own digest, and names, shapes and numbers of tensors."""
    said = json.loads(to_json({**card, "content": ""}))
    digest = sha256(digest_of(said).encode())
    for name, value in sorted(tensors.items()):
        digest.update(f"{name}:{tuple(value.shape)}:{value.dtype}".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def load(path: Path) -> Stored:
    """Raises ModelError for what is not a whole mitigation."""
    try:
        tensors = load_file(path / WEIGHTS if path.is_dir() else path)
        if path.is_dir():
            config = bytearray((path / CONFIG).read_bytes())
            if not config:
                raise ValueError(f"{CONFIG} is empty")
            tensors[CONFIG] = torch.frombuffer(config, dtype=torch.uint8)
        written = _read_card(path)
        stored = Stored(typed(MitigationCard, written), tensors, path, written)
    except UNREADABLE as error:
        text = str(error).strip().rstrip(".") or type(error).__name__
        reason = f"it has no {text}" if isinstance(error, KeyError) else text
        raise ModelError(
            f"{path} is not a mitigation that can be used: {reason}. It may be cut off, of another "
            "version, or something else. Make it again with `stereometer mitigate`."
        ) from None
    if stored.card.content != content(stored.tensors, stored.written):
        raise ModelError(
            f"{path} does not hold what its card says. The file was changed after it was written. "
            "Make it again with `stereometer mitigate`."
        )
    return stored


def has_card(path: Path) -> bool:
    """Whether a mitigation was written there."""
    try:
        typed(MitigationCard, _read_card(path))
    except UNREADABLE:
        return False
    return True


def _read_card(path: Path) -> Any:
    if path.is_dir():
        return read_json(path / CARD)
    with safe_open(path, framework="pt") as file:
        return json.loads((file.metadata() or {})["card"])
