"""The form `adapter`: low-rank changes of a model's linear layers (LoRA), merged into the weights.

`peft` makes and merges them. Its folder is read from files of ours alone: never from a hub, never
from a pickle.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from stereometer.core.errors import ModelError
from stereometer.models.local.adapter import merged, peft, with_tensors
from stereometer.models.local.language_model import LanguageModel
from stereometer.wings.mitigation.forms.stored import CONFIG, Stored

TARGETS = "all-linear"
"""Every linear layer but the output layer, whose weights may be those of the embeddings."""


def apply_adapter(stored: Stored, base: LanguageModel) -> LanguageModel:
    """The model with the adapter in its weights."""
    from stereometer.models.local.opener import backend_for

    try:
        model = merged(with_adapter(base.model, stored.tensors))
    except (RuntimeError, KeyError, TypeError, ValueError) as error:
        text = str(error).strip().splitlines()[0][:200]
        raise ModelError(
            f"{stored.path} does not fit {base.checkpoint.name}: {text}. Its files are damaged, or "
            "those of another adapter. Make it again with `stereometer mitigate cda`."
        ) from None
    checkpoint = replace(base.checkpoint, model=model, next_sentence=None)
    return backend_for(checkpoint, tuple(base.notes))


def begun(model: Any, rank: int, alpha: float) -> Any:
    """A model with an adapter that changes nothing yet; the model itself is used up."""
    from transformers.pytorch_utils import Conv1D

    # Linear layers of GPT-2, whose weights stand the other way.
    turned = any(isinstance(part, Conv1D) for part in model.modules())
    lora = peft()
    config = lora.LoraConfig(
        r=rank, lora_alpha=alpha, target_modules=TARGETS, fan_in_fan_out=turned
    )
    return lora.get_peft_model(model, config)


def tensors_of(tuned: Any, base: str) -> dict[str, Tensor]:
    """What an adapter's folder holds: its weights, and the bytes of its configuration with the name
    of its base, which other tools look for."""
    config = tuned.peft_config["default"].to_dict()
    # Sets in order, so that the same adapter gives the same bytes; a name, no path of this machine.
    config |= {name: sorted(value) for name, value in config.items() if isinstance(value, set)}
    config |= {"inference_mode": True, "base_model_name_or_path": base, "auto_mapping": None}
    written = json.dumps(config, indent=1, sort_keys=True).encode()
    weights = peft().get_peft_model_state_dict(tuned, save_embedding_layers=False)
    return {
        **{name: value.detach().cpu().clone() for name, value in weights.items()},
        CONFIG: torch.frombuffer(bytearray(written), dtype=torch.uint8),
    }


def with_adapter(model: Any, tensors: Mapping[str, Tensor]) -> Any:
    """A model with an adapter read from tensors; raises ValueError where they are not all of it."""
    weights = {name: value for name, value in tensors.items() if name != CONFIG}
    return with_tensors(model, json.loads(tensors[CONFIG].numpy().tobytes()), weights)
