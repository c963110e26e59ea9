"""From a model spec to weights, tokenizer and family. torch and transformers are imported here and below, nowhere else.

A spec is a folder, a `.gguf` file, or `org/name[@revision]` on the Hugging Face hub. The family is read from the
configuration and the model's own interface, never from a name.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from stereometer.errors import ModelError

HUB_PATIENCE = 5
"""Seconds until the hub counts as out of reach."""
DTYPES = ("float32", "float64", "bfloat16", "float16")


@dataclass(frozen=True)
class Options:
    """How a model is loaded; what is not the default is named in the result."""

    device: str = "cpu"
    dtype: str = "float32"
    threads: int | None = None
    allow_pickle: bool = False
    trust_remote_code: bool = False
    head: str = ""
    """A next-sentence head for the model, as `stereometer train nsp` writes it."""


DEFAULTS = Options()


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model."""

    name: str
    family: str
    """`masked`, `causal` or `permuted`."""
    model: Any
    tokenizer: Any
    options: Options
    quantized: str = ""
    """The storage of the weights where it is not their own precision, such as GGUF's Q4_1."""
    next_sentence: Any = None
    """The same model with the next-sentence head that came with it, where one did."""


Choose = Callable[[Any, str], tuple[str, Any]]
"""From a configuration to the family and what loads it."""


def load(
    spec: str, options: Options = DEFAULTS, name: str | None = None, choose: Choose | None = None
) -> Checkpoint:
    """Weights and tokenizer, or a ModelError that says what to do. Without `choose` it is a language model."""
    quiet()
    import torch
    from transformers import AutoConfig, AutoTokenizer

    if options.dtype not in DTYPES:
        raise ModelError(
            f"There is no dtype '{options.dtype}'. There are {', '.join(DTYPES)}. float32 is the default."
        )
    if options.threads:
        torch.set_num_threads(options.threads)
    source, extra = _source(spec)
    common = {**extra, "trust_remote_code": options.trust_remote_code}
    try:
        config = AutoConfig.from_pretrained(source, **common)
        family, loader = (choose or _family)(config, spec)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **common)
        weights = (
            {}
            if "gguf_file" in extra
            else {"use_safetensors": None if options.allow_pickle else True}
        )
        model, loaded = loader.from_pretrained(
            source,
            dtype=getattr(torch, options.dtype),
            output_loading_info=True,
            **common,
            **weights,
        )
        _all_there(spec, loaded)
        _fits(spec, tokenizer, model)
        own = _with_own_head(source, model, loaded, {"dtype": model.dtype, **common, **weights})
    except ModelError:
        raise
    except Exception as error:
        raise _explained(spec, error) from None
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{spec} has no fast tokenizer. Character offsets are needed to know which tokens a word has. Convert it with transformers, or choose another model."
        )
    model.eval()
    _moved(model, options.device)
    model.requires_grad_(False)
    if own is not None:
        _moved(own.eval().requires_grad_(False), options.device)
    return Checkpoint(
        name or spec,
        "permuted" if _is_permuted(model) else family,
        model,
        tokenizer,
        options,
        _storage(source, extra),
        own,
    )


def _all_there(spec: str, loaded: Mapping[str, Any]) -> None:
    """Weights that a file does not hold would be made up at random."""
    missing = sorted(
        {*loaded.get("missing_keys", ()), *(key[0] for key in loaded.get("mismatched_keys", ()))}
    )
    if missing:
        raise ModelError(
            f"{spec} has no usable weights for {missing[0]}{f' and {len(missing) - 1} others' if missing[1:] else ''}. "
            "It may be an encoder without its language-model head, or of another shape than its configuration says. "
            "Name a checkpoint that has them."
        )


def _with_own_head(
    source: str, model: Any, loaded: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
    """The model once more with the next-sentence head that the file holds besides; both share one trunk."""
    from transformers import AutoModelForNextSentencePrediction

    if not any("seq_relationship" in key for key in loaded.get("unexpected_keys", ())):
        return None
    try:
        own, found = AutoModelForNextSentencePrediction.from_pretrained(
            source, output_loading_info=True, **options
        )
    except ValueError:  # a head of that name on a model that has no such task, as ALBERT's for the order of sentences
        return None
    if found["missing_keys"]:
        return None
    for name, part in model.base_model.named_children():
        setattr(own.base_model, name, part)
    return own


def _fits(spec: str, tokenizer: Any, model: Any) -> None:
    """A tokenizer that knows nothing, or more words than the model, belongs to another one."""
    table = getattr(model.get_input_embeddings(), "weight", None)
    if table is None:
        raise ModelError(
            f"{spec} has no table of token embeddings ({type(model).__name__}). It cannot be seen which tokens it knows. Choose another model."
        )
    rows = int(table.shape[0])
    ids = tokenizer("The cat sat on the mat.", add_special_tokens=False)["input_ids"]
    if not ids or set(ids) <= {tokenizer.unk_token_id}:
        raise ModelError(
            f"{spec} has no tokenizer that can read a text. Its tokenizer files are missing or damaged. Add them to the model."
        )
    if tokenizer.vocab_size > rows:
        raise ModelError(
            f"{spec} has a tokenizer of {tokenizer.vocab_size} tokens and a model of {rows}. They do not belong together. Check its files."
        )


def _moved(model: Any, device: str) -> None:
    if device.split(":")[0] == "meta":
        raise ModelError(
            "The device 'meta' cannot be used: it has no numbers. Nothing could be computed. Name one that is there, such as cpu."
        )
    try:
        model.to(device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ModelError(
            f"The device '{device}' cannot be used: {first_line(error)}. Name one that is there, such as cpu."
        ) from None


def first_line(error: Exception) -> str:
    """What an error says first, without the full stop that a sentence around it brings."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300].rstrip(".")


def quiet() -> None:
    """Standard error is ours: no progress bars, reports or advice from the libraries below."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TQDM_DISABLE", "1")
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _source(spec: str) -> tuple[str, dict[str, Any]]:
    path = Path(spec)
    if spec.endswith(".gguf"):
        if not path.is_file():
            raise ModelError(
                f"{spec} does not exist. A .gguf spec is a file on this machine. Check the path."
            )
        return str(path.parent), {"gguf_file": path.name}
    if path.is_dir():
        if not (path / "config.json").exists():
            raise ModelError(
                f"{spec} is a folder without config.json. It holds no model that transformers can load. Name the folder that holds config.json."
            )
        return str(path), {}
    if path.exists():
        raise ModelError(
            f"{spec} is a file and no .gguf. A model is a folder, a .gguf file or org/name. Name the folder."
        )
    name, _, revision = spec.partition("@")
    return name, ({"revision": revision} if revision else {}) | (
        {} if _hub_answers() else {"local_files_only": True}
    )


def _hub_answers() -> bool:
    """Asked once and briefly: without a network the hub's library tries again for half a minute before it says so."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=HUB_PATIENCE).close()
    except HTTPError as error:
        error.close()
    except OSError:
        return False
    return True


def _family(config: Any, spec: str) -> tuple[str, Any]:
    """From the configuration's class and the architecture it names."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_MASKED_LM_MAPPING,
    )

    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"{spec} is an encoder-decoder model, which is not supported. Masked, causal and XLNet-like models are. Choose one of those."
        )
    kind = type(config)
    masked, causal = kind in MODEL_FOR_MASKED_LM_MAPPING, kind in MODEL_FOR_CAUSAL_LM_MAPPING
    written_as_causal = getattr(config, "is_decoder", False) or any(
        one.endswith(("ForCausalLM", "LMHeadModel")) for one in config.architectures or []
    )
    if masked and not (causal and written_as_causal):
        return "masked", AutoModelForMaskedLM
    if causal:
        return "causal", AutoModelForCausalLM
    if config.auto_map if hasattr(config, "auto_map") else None:
        return (
            ("masked", AutoModelForMaskedLM)
            if "AutoModelForMaskedLM" in config.auto_map
            else ("causal", AutoModelForCausalLM)
        )
    raise ModelError(
        f"{spec} ({config.model_type}) is no language model that transformers can load. Masked, causal and XLNet-like models are supported. Choose one of those."
    )


def _is_permuted(model: Any) -> bool:
    """XLNet's interface: what is hidden from whom, and which position is asked."""
    return {"perm_mask", "target_mapping"} <= set(inspect.signature(model.forward).parameters)


def _explained(spec: str, error: Exception) -> ModelError:
    text = first_line(error)
    if "no file named" in text and Path(spec).is_dir() and not any(Path(spec).glob("*.bin")):
        return ModelError(
            f"{spec} holds no weights. There is a configuration and nothing to go with it. Add model.safetensors."
        )
    if "safetensors" in text.lower() and (
        "does not appear to have" in text or "no file named" in text
    ):
        return ModelError(
            f"{spec} has no safetensors weights. Other formats can run code when loaded. Convert it, or add --allow-pickle if you trust it."
        )
    if "trust_remote_code" in str(error):
        return ModelError(
            f"{spec} needs code of its own to be loaded. Such code runs with your rights. Add --trust-remote-code if you trust it."
        )
    local = Path(spec).exists()
    if not local and isinstance(error, OSError):
        return ModelError(
            f"{spec} could not be found or fetched: {text}. There may be no such model, or no network. Offline, name a local folder, a .gguf file or one of the default models (`stereometer list`)."
        )
    return ModelError(
        f"{spec} could not be loaded: {type(error).__name__}: {text}. The files may be damaged or of another kind. Check the folder or fetch it again."
    )


def _storage(source: str, extra: Mapping[str, str]) -> str:
    if "gguf_file" not in extra:
        return ""
    from gguf import GGUFReader

    kinds: dict[str, int] = {}
    for tensor in GGUFReader(str(Path(source) / extra["gguf_file"])).tensors:
        kinds[tensor.tensor_type.name] = kinds.get(tensor.tensor_type.name, 0) + int(
            tensor.n_elements
        )
    return max(kinds, key=kinds.__getitem__)


def weights_digest(model: Any) -> str:
    """sha256 over names, shapes and numbers: the same weights in another file give the same digest."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}:{tuple(tensor.shape)}:{tensor.dtype}".encode())
        digest.update(
            tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            if tensor.numel()
            else b""
        )
    return digest.hexdigest()


WITHOUT_EFFECT = frozenset(
    ["name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures"]
)
"""Entries of a configuration that change no number, besides those that begin with an underscore; the precision stands on the card by itself."""


def config_digest(model: Any, tokenizer: Any) -> str:
    """Of what the same weights may be read by: configuration, ids of special tokens, and code that a checkpoint brings."""
    entries = {
        name: value
        for name, value in model.config.to_dict().items()
        if name not in WITHOUT_EFFECT and not name.startswith("_")
    }
    code = (
        sys.modules[type(model).__module__].__file__
        if type(model).__module__.startswith("transformers_modules")
        else None
    )
    parts = [
        entries,
        sorted(tokenizer.special_tokens_map.items(), key=str),
        tokenizer.mask_token_id,
        Path(code).read_text() if code else "",
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def tokenizer_digest(tokenizer: Any) -> str:
    """Of what decides ids and offsets: padding and truncation are switched by the first call and are not part of it."""
    parts = json.loads(tokenizer.backend_tokenizer.to_str())
    return hashlib.sha256(
        json.dumps(parts | {"padding": None, "truncation": None}, sort_keys=True).encode()
    ).hexdigest()
