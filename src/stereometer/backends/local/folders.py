"""Model folders that we write: what `save_pretrained` of the architecture writes, and so what any
tool finds. A tied matrix stands under the one name that the architecture keeps."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any


def write_folder(model: Any, tokenizer: Any, folder: Path) -> None:
    """Whole, with its tokenizer; None where the tokenizer's files come from elsewhere."""
    _plain(model).save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)


def _plain(model: Any) -> Any:
    """transformers refuses to save what it read from GGUF, although it is plain numbers by then:
    they are moved into a model that was read from nowhere."""
    if getattr(model.config, "quantization_config", None) is None:
        return model
    config = deepcopy(model.config)
    del config.quantization_config
    plain = type(model)(config).to(model.dtype)
    plain.load_state_dict(model.state_dict())
    if model.can_generate():
        plain.generation_config = model.generation_config
    return plain
