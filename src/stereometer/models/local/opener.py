"""Opens checkpoints, our default models by name, `sentiment:MODEL`, and models that a user has
loaded already: `(model, tokenizer)`, or a pipeline of transformers. Imports no torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stereometer.core import catalog
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types import Backend, Memory, Opener, digest_of
from stereometer.core.types.names import ModelName
from stereometer.models.local.checkpoint import (
    Checkpoint,
    LoadingOptions,
    is_permuted,
    load,
    looks_back,
    quiet,
)
from stereometer.models.local.checks import check_tokenizer
from stereometer.models.local.defaults import DEFAULT_MODELS
from stereometer.models.local.files import ADAPTER, check_place, fingerprint, marks_of, revisions

if TYPE_CHECKING:
    from stereometer.models.local.language_model import LanguageModel
    from stereometer.models.local.unloaded import Unloaded


TORCH = ("torch", "transformers")
SETTABLE = ("head", "room", "thinking")
"""Options that a model has which is loaded already."""


class CheckpointOpener(Opener):
    """A folder, a .gguf file, org/name[@revision], or a default model by name."""

    def check(self, spec: str) -> None:
        name = ModelName.parse(spec).checked()
        if name.mitigation is not None:
            self.check(str(name.base))
        elif spec not in DEFAULT_MODELS:
            check_place(spec)

    def open(
        self, spec: str, options: LoadingOptions, memory: Memory | None = None
    ) -> LanguageModel:
        name = ModelName.parse(spec).checked()
        if name.mitigation is not None:
            base: Any = self.open(str(name.base), replace(options, head=""))
            wrapped: Any = catalog.wrapper(name.mitigation).wrap(base, name.mitigation)
            return _with_head_asked_for(wrapped, options)
        default = DEFAULT_MODELS.get(spec)
        if default is None:
            return self._plain(spec, options)
        return backend_for(default.load(options), (default.note,), default.head)

    def _plain(self, spec: str, options: LoadingOptions) -> LanguageModel:
        """A folder may have been written with a wrapper in its weights."""
        within = [wrapper for wrapper in catalog.wrappers() if wrapper.is_in(Path(spec))]
        if not within:
            return backend_for(load(spec, options))
        backend: Any = backend_for(load(spec, replace(options, head="")))
        for wrapper in within:
            backend = wrapper.describe(backend, Path(spec))
        return _with_head_asked_for(backend, options)

    def fingerprint(self, spec: str, options: LoadingOptions) -> str | None:
        name = ModelName.parse(spec).checked()
        if name.mitigation is not None:
            # That of the base with what is put onto it, every file of it.
            base, path = self.fingerprint(str(name.base), options), name.mitigation
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            marks = marks_of((file.name, file) for file in files if file.is_file())
            if base is None or marks is None:
                return None
            return digest_of([base, path.stem, marks, catalog.wrapper(path).layout])
        default = DEFAULT_MODELS.get(spec)
        if default is None:
            within = (each for each in catalog.wrappers() if each.is_in(Path(spec)))
            return fingerprint(spec, options, tuple(digest_of(each.layout) for each in within))
        there = default.folder.exists()
        return fingerprint(str(default.folder), options, (), default.head) if there else None

    def reader(self, spec: str, options: LoadingOptions) -> Unloaded | None:
        """A checkpoint as it is: what is put onto one may change what it reads."""
        path = Path(spec)
        within = any(wrapper.is_in(path) for wrapper in catalog.wrappers())
        if (
            ModelName.parse(spec).mitigation
            or path.is_file()
            or within
            or (path / ADAPTER).is_file()
        ):
            return None
        from stereometer.models.local.unloaded import unloaded

        return unloaded(spec, options)

    def revisions(self, name: str) -> list[str]:
        return revisions(name)

    @contextmanager
    def held(self, loaded: object, options: Mapping[str, Any]) -> Iterator[LanguageModel]:
        model, tokenizer = _parts(loaded)
        for name, value in options.items():
            if value and name not in SETTABLE:
                raise UsageError(
                    f"{name}= is for models that stereometer loads. This one is loaded already. "
                    "Leave it out, or change the model before you pass it."
                )
        modes = [(module, module.training) for module in model.modules()]
        trained = [(weights, weights.requires_grad) for weights in model.parameters()]
        model.eval()
        model.requires_grad_(False)
        try:
            own = {name: options[name] for name in SETTABLE if options.get(name) is not None}
            yield _backend(model, tokenizer, own)
        finally:
            for module, mode in modes:
                module.training = mode
            for weights, mode in trained:
                weights.requires_grad_(mode)


def _with_head_asked_for(backend: LanguageModel, options: LoadingOptions) -> LanguageModel:
    """A head must have been trained on the wrapped model, and only where it can read other states
    than the base's."""
    how = replace(backend.checkpoint.options, head=options.head)
    backend.checkpoint = backend.checkpoint.described(options=how)
    if options.head and not backend.own_states:
        raise ModelError(
            f"{backend.checkpoint.name} has no use for a head. The head reads states, which this "
            "mitigation does not change: its numbers would be the base's. Leave --head out."
        )
    if options.head:
        _add_head(backend, None)
    return backend


@dataclass(frozen=True)
class ClassifierOptions(LoadingOptions):
    negative_label: str | None = None
    """The label that counts as negative, where the model does not say."""


class ClassifierOpener(Opener):
    """A text-classification model: a folder or org/name[@revision]."""

    def check(self, spec: str) -> None:
        check_place(spec)

    def open(self, spec: str, options: ClassifierOptions, memory: Memory | None = None) -> Backend:
        from stereometer.models.local.classifier import open_classifier

        return open_classifier(spec, options, options.negative_label)

    def fingerprint(self, spec: str, options: ClassifierOptions) -> str | None:
        return fingerprint(spec, options)


CHECKPOINT = CheckpointOpener("", LoadingOptions, TORCH, "hf", wraps=True)
CLASSIFIER = ClassifierOpener("sentiment", ClassifierOptions, TORCH, "hf")


def backend_for(
    checkpoint: Checkpoint, notes: tuple[str, ...] = (), shipped: Path | None = None
) -> LanguageModel:
    """The backend of a loaded model's family, with the next-sentence head there is for it."""
    from stereometer.models.local.causal import Causal
    from stereometer.models.local.masked import Masked, Permuted

    families: dict[str, Callable[..., LanguageModel]] = {
        "masked": Masked,
        "causal": Causal,
        "permuted": Permuted,
    }
    backend = families[checkpoint.family](checkpoint, notes)
    _add_head(backend, shipped)
    return backend


def _add_head(backend: LanguageModel, shipped: Path | None) -> None:
    """The head that was asked for, the model's own, or the one that ships for a default model."""
    from stereometer.models.local.next_sentence import AddedHead, OwnHead, add, load

    checkpoint, dtype = backend.checkpoint, backend.checkpoint.options.dtype
    if checkpoint.options.head:
        add(backend, AddedHead(backend, load(Path(checkpoint.options.head))))
    elif checkpoint.next_sentence is not None:
        add(backend, OwnHead(backend, checkpoint.next_sentence))
    elif shipped is not None:
        trained = load(shipped)
        if trained.card.base_digest == backend.weights:
            add(backend, AddedHead(backend, trained))
        else:
            backend.notes.append(
                "The next-sentence head that ships for this model was trained on its float32 "
                f"weights; weights in {dtype} are others, so it is not used."
            )


# ------------------------------------------------------------------- models that are loaded already


def _parts(loaded: object) -> tuple[Any, Any]:
    """The model and its tokenizer; anything else is a mistake of the caller."""
    pair = loaded if isinstance(loaded, tuple) else None
    if _is_of("Pipeline", loaded):
        pair = getattr(loaded, "model", None), getattr(loaded, "tokenizer", None)
    if pair is not None and len(pair) == 2 and _is_of("PreTrainedModel", pair[1]):
        raise UsageError(
            f"model= got {_described(loaded)}: the model comes second. A pair is (model, "
            "tokenizer). Swap the two."
        )
    if pair is None or len(pair) != 2 or not _is_of("PreTrainedModel", pair[0]):
        raise UsageError(
            f"model= cannot take {_described(loaded)}. It takes a name, a path, a pair (model, "
            "tokenizer) or a pipeline of transformers. Pass one of those."
        )
    if not _is_of("PreTrainedTokenizerBase", pair[1]):
        raise UsageError(
            f"{type(pair[1]).__name__} is not a tokenizer of transformers. Without its tokenizer a "
            "model cannot be asked. Pass (model, tokenizer)."
        )
    return pair


def _is_of(name: str, value: object) -> bool:
    """Whether transformers made it; where it was never imported, it did not."""
    transformers = sys.modules.get("transformers")
    return transformers is not None and isinstance(value, getattr(transformers, name))


def _described(value: object) -> str:
    if isinstance(value, tuple):
        return f"a tuple ({', '.join(type(part).__name__ for part in value)})"
    return f"a value of type {type(value).__name__}"


def _backend(model: Any, tokenizer: Any, own: Mapping[str, Any]) -> LanguageModel:
    quiet()
    name = type(model).__name__
    check_tokenizer(name, tokenizer, model)
    dtype = str(model.dtype).removeprefix("torch.")
    options = LoadingOptions(device=str(model.device), dtype=dtype, **own)
    backend = backend_for(Checkpoint(name, _family(model), model, tokenizer, options))
    backend.checkpoint = backend.checkpoint.described(name=f"{name}-{backend.weights[:8]}")
    backend.notes.append("The model was passed in memory: it is known by its weights alone.")
    return backend


def _family(model: Any) -> str:
    """From the model's class, which says what its head is for."""
    from transformers.models.auto import modeling_auto as auto

    classes = {kind.__name__ for kind in type(model).__mro__}
    if is_permuted(model):
        return "permuted"
    causal = classes & {*auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()}
    masked = classes & {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()}
    if causal and (not masked or looks_back(model.config, causal)):
        return "causal"
    if masked and not getattr(model.config, "is_encoder_decoder", False):
        return "masked"
    raise ModelError(
        f"{type(model).__name__} is not a masked or causal language model. It may lack its "
        "language-model head. Load it with AutoModelForMaskedLM or AutoModelForCausalLM."
    )


# ----------------------------------------------------------- what models of this machine can run on


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
