"""`BASE+FOLDER`: what peft trained beside a model (LoRA and others that can be merged) is put into
its weights. Imports no torch.

The folder is read from its own files alone: never from a hub, never from a pickle.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from stereometer.core.errors import ModelError
from stereometer.core.types import Wrapper
from stereometer.core.types.names import ModelName
from stereometer.models.local.files import ADAPTER, ADAPTER_WEIGHTS, first_line

if TYPE_CHECKING:
    from stereometer.models.local.checkpoint import Checkpoint
    from stereometer.models.local.language_model import LanguageModel

SETTING = "adapter"
"""The name of what is said of it among a model's settings."""
SAID = ("peft_type", "r", "lora_alpha", "base_model_name_or_path")
OWN_CARD = "card.json"
"""Beside an adapter that is also something else, whose own wrapper reads it."""
BEGINS = ("lora_A", "lora_embedding_A")
"""Tensors that change nothing without the others."""


class AdapterWrapper(Wrapper):
    about = "Adapters, as peft writes them: LoRA and other kinds that can be merged."

    def recognises(self, path: Path) -> bool:
        return (path / ADAPTER).is_file() and not (path / OWN_CARD).exists()

    def wrap(self, base: LanguageModel, path: Path) -> LanguageModel:
        return adapted(base, path)


WRAPPER = AdapterWrapper()


def adapted(base: LanguageModel, path: Path) -> LanguageModel:
    """The base with the adapter in its weights; the base itself is used up."""
    from stereometer.models.local.opener import backend_for

    config, tensors = _read(path)
    _check_base(path, str(config.get("base_model_name_or_path") or ""), base)
    try:
        model = merged(with_tensors(base.model, config, tensors))
    except (RuntimeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{path} does not fit {base.checkpoint.name}: {first_line(error)}. It was trained on "
            "another model, or its files are damaged. Name the model that it was trained on."
        ) from None
    point = base.checkpoint
    name, spec = f"{point.name}+{path.name}", f"{point.spec}+{path}"
    checkpoint = replace(point, model=model, next_sentence=None, name=name, spec=spec)
    backend = backend_for(checkpoint, (*base.notes, f"With an adapter, merged: {path.name}."))
    backend.added[SETTING] = {name: config[name] for name in SAID if name in config}
    return backend


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if (path / ADAPTER).is_file() and not (path / ADAPTER_WEIGHTS).is_file():
        raise ModelError(
            f"{path} is an adapter without {ADAPTER_WEIGHTS}. Weights in other formats can run "
            "code when they are loaded. Save it again with peft."
        )
    try:
        config, tensors = (
            json.loads((path / ADAPTER).read_text("utf-8")),
            load_file(path / ADAPTER_WEIGHTS),
        )
        if not any(tensors[name].any() for name in tensors if not any(at in name for at in BEGINS)):
            raise ValueError("it changes nothing, so its numbers would be the base's")
        return dict(config), tensors
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise ModelError(
            f"{path} is not an adapter that can be used: {first_line(error)}. An adapter is a "
            f"folder with {ADAPTER} and {ADAPTER_WEIGHTS}. Get it from where it was trained."
        ) from None


def _check_base(path: Path, named: str, base: LanguageModel) -> None:
    """Same shapes are no proof: adapters of a model fit all that were trained on from it."""
    if base.added.keys() - {"next_sentence_head"}:
        raise ModelError(
            f"{path} comes after something else that was put onto {base.checkpoint.name}. An "
            "adapter changes what that one reads. Put the adapter first: MODEL+ADAPTER+FILE."
        )
    if named and not _is(named, base.checkpoint):
        raise ModelError(
            f"{path} was trained on {named}, the model is {base.checkpoint.name}. On other weights "
            "an adapter means nothing. Name that model before the +; where it is the same under "
            f"another name, write this one as base_model_name_or_path in {ADAPTER}."
        )


def _is(named: str, base: Checkpoint) -> bool:
    """Whether a name is that of the base: the same folder, or alike in its last part."""
    here, there = Path(base.spec), Path(named)
    if here.exists() and there.exists():
        return here.samefile(there)
    last = PureWindowsPath(named).name.lower()
    names = (base.name, base.commit, ModelName.parse(base.spec).path)
    return last in {PureWindowsPath(name).name.lower() for name in names if name}


def with_tensors(model: Any, config: Mapping[str, Any], tensors: Mapping[str, Any]) -> Any:
    """A model with an adapter; raises ValueError where the tensors are not all of it."""
    lora = peft()
    kind = lora.PEFT_TYPE_TO_CONFIG_MAPPING[config["peft_type"]]
    # Which model it is for was looked at; peft would compare names alone.
    known = {**config, "base_model_name_or_path": None}
    unknown = sorted(name for name in known.keys() - vars(kind()).keys() if known[name])
    if unknown:
        raise ValueError(f"this version of peft does not know {unknown[0]}")
    chosen = kind(**{name: known[name] for name in known.keys() & vars(kind()).keys()})
    tuned = lora.get_peft_model(model, chosen)
    own = lora.get_peft_model_state_dict(tuned, save_embedding_layers=False)
    if own.keys() != tensors.keys():
        odd = sorted(own.keys() ^ tensors.keys())[0]
        raise ValueError(f"{odd} is missing, or is not part of the model")
    lora.set_peft_model_state_dict(tuned, dict(tensors))
    return tuned


def merged(tuned: Any) -> Any:
    """The base with what the adapter learned added to its own weights, in place, for measuring."""
    if not hasattr(tuned.base_model, "merge_and_unload"):
        raise ValueError("an adapter of this kind cannot be merged into weights")
    return tuned.merge_and_unload().eval().requires_grad_(False)


def peft() -> Any:
    """The library; what it says of torch and transformers is not for users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import peft as library
        except ImportError:
            raise ModelError(
                "Adapters need the package peft. It is in the optional part `mitigate` of the "
                "package. From a clone: `pip install '.[mitigate]'`, or `pip install peft`."
            ) from None
    return library
