"""From a model spec to weights, tokenizer and family.

A spec is a folder, a `.gguf` file, or `org/name[@revision]` on the Hugging Face hub. The family is
read from the configuration and the model's own interface, never from a name.
"""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types.names import ModelName, name_of
from stereometer.models.local import checks, files
from stereometer.models.local.places import AUTO, BYTES, SPREAD, settled, too_small
from stereometer.models.local.quantised import Quantisation, check_quantisation, quantisation_of

DTYPES = ("float32", "float64", "bfloat16", "float16")


@dataclass(frozen=True)
class LoadingOptions:
    """How a model is loaded; what is not the default is named in the result."""

    device: str = AUTO
    dtype: str = AUTO
    threads: int | None = None
    allow_pickle: bool = False
    trust_remote_code: bool = False
    head: str = ""
    """A next-sentence head for the model, as `stereometer train nsp` writes it."""
    room: int = 0
    """Tokens beside an answer's own in which the model may think."""
    thinking: bool = True


DEFAULTS = LoadingOptions()


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model."""

    name: str
    family: str
    """`masked`, `causal` or `permuted`."""
    model: Any
    tokenizer: Any
    options: LoadingOptions
    """As it was loaded: with a device and a precision."""
    quantized: str = ""
    """The storage of the weights where it is not their own precision, such as GGUF's Q4_1."""
    next_sentence: Any = None
    """The model with the next-sentence head that came with it, where one did."""
    unused: tuple[str, ...] = ()
    """Weights of the file that the model does not use, besides heads for other tasks."""
    spec: str = ""
    """What opens it again."""
    commit: str = ""
    """The hub's, of the snapshot that was loaded; empty for other folders and files."""

    @cached_property
    def weights(self) -> str:
        """The digest of the weights."""
        return files.weights_digest(self.model)

    def described(self, **changes: Any) -> Checkpoint:
        """Said otherwise of the same weights, whose digest is not taken again."""
        other = replace(self, **changes)
        vars(other).update({name: vars(self)[name] for name in ("weights",) if name in vars(self)})
        return other


Choose = Callable[[Any, str], tuple[str, Any]]
"""From a configuration to the family and what loads it."""


def load(
    spec: str,
    options: LoadingOptions = DEFAULTS,
    name: str | None = None,
    choose: Choose | None = None,
) -> Checkpoint:
    """A loaded model, or a ModelError that says what to do; a language model without `choose`."""
    quiet()
    import torch

    if options.dtype not in (AUTO, *DTYPES):
        raise ModelError(
            f"There is no dtype '{options.dtype}'. The choices are {', '.join(DTYPES)}. Left out, "
            "it is float32 where the model fits."
        )
    if options.threads:
        torch.set_num_threads(options.threads)
    source, extra = source_of(spec)
    try:
        found = _loaded(spec, source, extra, options, choose or family_of)
    except ModelError:
        raise
    except Exception as error:
        raise explained(spec, error) from None
    for part in (found.model, found.next_sentence):
        if part is not None:
            _place(spec, part, found.options.device)
            part.eval().requires_grad_(False)
    family = "permuted" if is_permuted(found.model) else found.family
    return replace(found, name=name or name_of(spec), family=family, spec=name or spec)


def _loaded(
    spec: str, source: str, extra: Mapping[str, Any], options: LoadingOptions, choose: Choose
) -> Checkpoint:
    """Everything but its place on a device."""
    import torch
    from huggingface_hub import snapshot_download
    from transformers import AutoConfig, AutoTokenizer

    common = {**extra, "trust_remote_code": options.trust_remote_code}
    config = AutoConfig.from_pretrained(source, **common)
    family, loader = choose(config, spec)
    is_gguf = "gguf_file" in extra
    stored = None if is_gguf else quantisation_of(config)
    check_quantisation(spec, stored)
    commit = ""
    if not is_gguf:
        if not Path(folder := source).is_dir():
            # The small files of a model on the hub are looked at before they are used.
            small = [files.CONFIG, "*.index.json", *checks.TOKENIZER_FILES]
            folder = snapshot_download(source, allow_patterns=small, **extra)
            common["revision"] = Path(folder).name
        check_files(spec, Path(folder), config, options)
        commit = Path(folder).name if files.COMMIT.fullmatch(Path(folder).name) else ""
    options = _settled(spec, options, stored, loader, config)
    tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, **common)
    if not is_gguf:
        common["use_safetensors"] = None if options.allow_pickle else True
    common["dtype"] = getattr(torch, options.dtype)
    spread = _laid_out(options, stored)
    model, report = loader.from_pretrained(source, output_loading_info=True, **common, **spread)
    checks.check_weights(spec, report)
    unused = checks.unused_weights(spec, report, model)
    checks.check_tokenizer(spec, tokenizer, model)
    own = None if spread else _with_own_head(source, model, report, common)
    kept = str(stored) if stored else _storage(source, extra)
    return Checkpoint(spec, family, model, tokenizer, options, kept, own, unused, commit=commit)


def _settled(
    spec: str, options: LoadingOptions, stored: Quantisation | None, loader: Any, config: Any
) -> LoadingOptions:
    """With a device and a precision that the model fits into; one in few bits has its own."""
    import torch

    @cache
    def parameters() -> int:
        with torch.device("meta"):
            trusted = {"trust_remote_code": options.trust_remote_code}
            return int(loader.from_config(deepcopy(config), **trusted).num_parameters())

    def size(dtype: str) -> int:
        return parameters() * stored.bits // 8 if stored else parameters() * BYTES[dtype]

    if stored and options.dtype == AUTO:
        options = replace(options, dtype=stored.dtype)
    return settled(options, spec, size)


def _laid_out(options: LoadingOptions, stored: Quantisation | None) -> dict[str, Any]:
    """How the loader places a model itself: over GPUs, or weights that cannot be moved later."""
    if options.device == SPREAD:
        return {"device_map": "auto"}
    return {"device_map": {"": options.device}} if stored else {}


def check_files(spec: str, folder: Path, config: Any, options: LoadingOptions) -> None:
    """What files could do to this process, before any of them is loaded."""
    files.check_named_files(spec, folder, options.allow_pickle)
    files.check_depth(spec, config, folder)
    if Path(spec).is_dir() or not options.trust_remote_code:
        _check_has_tokenizer(spec, os.listdir(folder))
    if not options.trust_remote_code:
        checks.try_tokenizer(spec, folder)


def _check_has_tokenizer(spec: str, names: Iterable[str]) -> None:
    """Without its files transformers makes some kinds up, empty."""
    starts, ends = ("tokeniz", "vocab", "merges", "spiece"), (".model", ".tiktoken")
    if not any(name.startswith(starts) or name.endswith(ends) for name in names):
        raise ModelError(
            f"{spec} has no tokenizer. A model cannot read a text without the tokenizer it was "
            "trained with. Add its files, such as tokenizer.json: tokenizer.save_pretrained(...)."
        )


def _with_own_head(
    source: str, model: Any, report: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
    """The model once more with the next-sentence head in its file; both share one trunk."""
    from transformers import AutoModelForNextSentencePrediction as NextSentenceModel

    if not any("seq_relationship" in key for key in report.get("unexpected_keys", ())):
        return None
    try:
        own, own_report = NextSentenceModel.from_pretrained(
            source, output_loading_info=True, **options
        )
    except ValueError:  # a head of that name for another task: ALBERT's is for sentence order
        return None
    if own_report["missing_keys"]:
        return None
    for name, part in model.base_model.named_children():
        setattr(own.base_model, name, part)
    return own


def _place(spec: str, model: Any, device: str) -> None:
    """Moves a model where it is not there already."""
    layout = getattr(model, "hf_device_map", None)
    if device == SPREAD:
        checks.check_layout(spec, layout or {})
    if device == SPREAD or layout is not None:
        return
    if device.split(":")[0] == "meta":
        raise ModelError(
            "The device 'meta' cannot be used: it holds no numbers. Nothing can be computed on "
            "it. Name an available device, such as cpu."
        )
    try:
        model.to(device)
    except (RuntimeError, AssertionError, NotImplementedError, ValueError) as error:
        if "out of memory" in str(error):
            raise too_small(spec, device) from None
        raise ModelError(
            f"The device '{device}' cannot be used: {files.first_line(error)}. Name an available "
            "device, such as cpu."
        ) from None


def quiet() -> None:
    """Standard error is ours: no progress bars, reports or advice from the libraries below."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TQDM_DISABLE", "1")
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def source_of(spec: str) -> tuple[str, dict[str, Any]]:
    files.check_place(spec)
    path = Path(spec)
    if path.is_file():
        return str(path.parent), {"gguf_file": path.name}
    if path.is_dir():
        return str(path), {}
    name = ModelName.parse(spec)
    pinned = {"revision": name.revision} if name.revision else {}
    return name.path, pinned if files.hub_answers() else {**pinned, "local_files_only": True}


def family_of(config: Any, spec: str) -> tuple[str, Any]:
    """From the configuration's class and the architecture it names."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.models.auto import modeling_auto as auto

    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"{spec} is an encoder-decoder model, which is not supported. "
            "Masked, causal and XLNet-like models are. Choose one of those."
        )
    masked = type(config) in auto.MODEL_FOR_MASKED_LM_MAPPING
    causal = type(config) in auto.MODEL_FOR_CAUSAL_LM_MAPPING
    written_as_causal = looks_back(config, config.architectures or [])
    own_code = getattr(config, "auto_map", None) or {}
    if (masked and not (causal and written_as_causal)) or (
        not causal and "AutoModelForMaskedLM" in own_code
    ):
        return "masked", AutoModelForMaskedLM
    if causal or own_code:
        return "causal", AutoModelForCausalLM
    raise ModelError(
        f"{spec} ({config.model_type}) is not a language model that transformers can load. "
        "Masked, causal and XLNet-like models are supported. Choose one of those."
    )


def looks_back(config: Any, names: Iterable[str]) -> bool:
    """Whether a model with heads of these names is written as a causal one. One class of
    transformers is for both kinds, and its configuration says which it is (XLM)."""
    from transformers.models.auto import modeling_auto as auto

    return any(getattr(config, sign, False) for sign in ("is_decoder", "causal")) or any(
        name.endswith(("ForCausalLM", "LMHeadModel"))
        for name in {*names} - {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()}
    )


def is_permuted(model: Any) -> bool:
    """XLNet's interface: what is hidden from whom, and which position is asked."""
    return {"perm_mask", "target_mapping"} <= set(inspect.signature(model.forward).parameters)


def explained(spec: str, error: Exception) -> ModelError:
    text = files.first_line(error)
    if "out of memory" in text:
        return too_small(spec, "cuda")
    if "no file named" in text and Path(spec).is_dir() and not any(Path(spec).glob("*.bin")):
        return ModelError(
            f"{spec} holds no weights. It has a configuration and nothing else. Add "
            "model.safetensors."
        )
    lacking = "does not appear to have" in text or "no file named" in text
    if "safetensors" in text.lower() and lacking:
        return ModelError(
            f"{spec} has no safetensors weights. Other formats can run code when loaded. "
            "Convert it, or add --allow-pickle if you trust it."
        )
    if any(sign in str(error) for sign in ("Weights only load", "weights_only")):
        return ModelError(
            f"{spec} has a pickle that holds more than tensors. Such files can run code, and are "
            "refused even with --allow-pickle. Convert the weights to safetensors where you trust "
            "them."
        )
    if "trust_remote_code" in str(error):
        return ModelError(
            f"{spec} needs code of its own to be loaded. Such code runs with your rights. "
            "Add --trust-remote-code if you trust it."
        )
    if not Path(spec).exists() and isinstance(error, OSError):
        return ModelError(
            f"{spec} could not be found or fetched: {text}. "
            f"{files.near(spec) or 'There may be no such model, or no network.'} Offline, name a "
            "local folder, a .gguf file or one of the default models (`stereometer list`)."
        )
    return ModelError(
        f"{spec} could not be loaded: {type(error).__name__}: {text}. The files may be damaged or "
        "of another kind. Check the folder or fetch it again."
    )


def _storage(source: str, extra: Mapping[str, str]) -> str:
    """How most weights of a GGUF file are stored."""
    if "gguf_file" not in extra:
        return ""
    from gguf import GGUFReader

    weights: Counter[str] = Counter()
    for tensor in GGUFReader(str(Path(source) / extra["gguf_file"])).tensors:
        weights[tensor.tensor_type.name] += int(tensor.n_elements)
    return weights.most_common(1)[0][0]
