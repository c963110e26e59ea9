"""Weights that a checkpoint brings and the loaded model does not use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from stereometer.errors import ModelError

HEADS = re.compile(
    r"(^|\.)(cls|lm_head|vocab_\w+|pooler|seq_relationship|sop_classifier|classifier|"
    r"classification_head|qa_outputs|score|discriminator_predictions)(\.|$)"
)
"""Heads for another task than the one asked about, by the names that transformers gives them."""
BUFFERS = re.compile(r"(^|\.)(position_ids|inv_freq|masked_bias|(attn|attention)\.bias)$")
"""What older versions stored although it follows from the configuration."""


def unused_weights(spec: str, report: Mapping[str, Any], model: Any) -> tuple[str, ...]:
    """Names for the result to mention; raises where they belong to the layers of the model, which
    is then another model than the one in the file."""
    keys: Iterable[str] = report.get("unexpected_keys", ())
    unused = sorted(key for key in keys if not BUFFERS.search(key))
    layers = {_layer(name) for name in model.state_dict()} - {""}
    prefix = f"{model.base_model_prefix}."
    layers |= {layer.removeprefix(prefix) for layer in layers}
    inside = [key for key in unused if _layer(key) in layers]
    if inside:
        others = f" and {len(inside) - 1} others" if inside[1:] else ""
        raise ModelError(
            f"{spec} brings weights that its configuration leaves out: {inside[0]}{others}. "
            "What would be measured is not the model in the file. "
            "Check the number of layers and the architecture in config.json."
        )
    return tuple(key for key in unused if not HEADS.search(key))


def _layer(name: str) -> str:
    """Where the numbered layer of a weight stands in the model; empty for a weight of none."""
    return re.sub(r"\.\d+(?=\.)", ".#", name).rpartition(".#.")[0]


def unused_note(names: tuple[str, ...]) -> str:
    others = f" and {len(names) - 3} others" if names[3:] else ""
    return f"The file holds weights that the model does not use: {', '.join(names[:3])}{others}."
