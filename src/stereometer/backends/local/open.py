"""A backend for a checkpoint, by its family, with a next-sentence head where there is one."""

from __future__ import annotations

from pathlib import Path

from stereometer.backends.local.checkpoint import Checkpoint, Options, load
from stereometer.backends.local.defaults import DefaultModel
from stereometer.backends.local.language_model import LanguageModel


def open_checkpoint(
    spec: str, options: Options, default: DefaultModel | None = None
) -> LanguageModel:
    found = default.load(options) if default else load(spec, options)
    backend = _backend(found, default.notes if default else ())
    _add_head(backend, default.head if default else None)
    return backend


def _backend(found: Checkpoint, notes: tuple[str, ...]) -> LanguageModel:
    from stereometer.backends.local.causal import Causal
    from stereometer.backends.local.masked import Masked
    from stereometer.backends.local.permuted import Permuted

    kinds: dict[str, type[LanguageModel]] = {
        "masked": Masked,
        "causal": Causal,
        "permuted": Permuted,
    }
    return kinds[found.family](found, notes)


def _add_head(backend: LanguageModel, shipped: Path | None) -> None:
    """The head that was asked for, the model's own, or the one that ships for a default model, in this order."""
    from stereometer.backends.local.next_sentence import NextSentence, OwnHead, add, load

    if backend.checkpoint.options.head:
        add(backend, NextSentence(backend, load(Path(backend.checkpoint.options.head))))
    elif backend.checkpoint.next_sentence is not None:
        add(backend, OwnHead(backend, backend.checkpoint.next_sentence))
    elif shipped is not None:
        trained = load(shipped)
        if trained.card.base_digest == backend.weights:
            add(backend, NextSentence(backend, trained))
        else:
            backend.notes.append(_unused(backend.checkpoint.options.dtype))


def _unused(dtype: str) -> str:
    theirs = f"weights in {dtype} are others" if dtype != "float32" else "these weights are others"
    return f"The next-sentence head that ships for this model was trained on its float32 weights; {theirs}, so it is not used."
