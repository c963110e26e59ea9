"""A backend for a checkpoint, by its family."""

from __future__ import annotations

from stereometer.backends.checkpoint import Checkpoint, Options, load
from stereometer.backends.defaults import DefaultModel
from stereometer.backends.language_model import LanguageModel


def open_checkpoint(spec: str, options: Options, default: DefaultModel | None = None) -> LanguageModel:
    found = default.load(options) if default else load(spec, options)
    return _backend(found, default.notes if default else ())


def _backend(found: Checkpoint, notes: tuple[str, ...]) -> LanguageModel:
    from stereometer.backends.causal import Causal
    from stereometer.backends.masked import Masked
    from stereometer.backends.permuted import Permuted

    kinds: dict[str, type[LanguageModel]] = {"masked": Masked, "causal": Causal, "permuted": Permuted}
    return kinds[found.family](found, notes)
