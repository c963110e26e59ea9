"""Opens checkpoints, our default models by name, and `sentiment:MODEL`. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from stereometer.backends.local.checkpoint import Checkpoint, Options, load
from stereometer.backends.local.defaults import DEFAULT_MODELS
from stereometer.backends.local.fingerprint import fingerprint
from stereometer.backends.local.place import check_place
from stereometer.errors import ModelError
from stereometer.mitigations.card import layout
from stereometer.mitigations.exported import EXPORTED
from stereometer.types import Backend, Memory, Opener, digest_of, digest_of_file
from stereometer.types.names import ModelName

if TYPE_CHECKING:
    from stereometer.backends.local.language_model import LanguageModel

TORCH = ("torch", "transformers")


class CheckpointOpener(Opener):
    """A folder, a .gguf file, org/name[@revision], or a default model by name."""

    def check(self, spec: str) -> None:
        name = ModelName.parse(spec).checked()
        if name.mitigation is not None:
            self.check(str(name.base))
        elif spec not in DEFAULT_MODELS:
            check_place(spec)

    def open(self, spec: str, options: Options, memory: Memory | None = None) -> LanguageModel:
        name = ModelName.parse(spec).checked()
        if name.mitigation is not None:
            return self._mitigated(str(name.base), name.mitigation, options)
        default = DEFAULT_MODELS.get(spec)
        if default is None:
            return self._plain(spec, options)
        return backend_for(default.load(options), default.notes, default.head)

    def _plain(self, spec: str, options: Options) -> LanguageModel:
        """A folder may have been written by `mitigate export`."""
        if not (Path(spec) / EXPORTED).is_file():
            return backend_for(load(spec, options))
        from stereometer.backends.local.mitigation.apply import recognised

        backend = recognised(backend_for(load(spec, replace(options, head=""))), Path(spec))
        return _with_head_asked_for(backend, options)

    def _mitigated(self, base: str, path: Path, options: Options) -> LanguageModel:
        """A head that is asked for must have been trained on the mitigated model."""
        from stereometer.backends.local.mitigation.apply import mitigated

        backend = mitigated(self.open(base, replace(options, head="")), path)
        return _with_head_asked_for(backend, options)

    def fingerprint(self, spec: str, options: Options) -> str | None:
        name = ModelName.parse(spec).checked()
        if name.mitigation is not None:
            return _mitigated(self.fingerprint(str(name.base), options), name.mitigation)
        default = DEFAULT_MODELS.get(spec)
        if default is None:
            exported = (digest_of(layout()),) if (Path(spec) / EXPORTED).is_file() else ()
            return fingerprint(spec, options, exported)
        head = (digest_of_file(default.head),) if default.head is not None else ()
        return fingerprint(str(default.folder), options, head) if default.folder.exists() else None


def _with_head_asked_for(backend: LanguageModel, options: Options) -> LanguageModel:
    """Only where it can read other states than the base's."""
    from stereometer.backends.local.mitigation.apply import changes_states

    backend.checkpoint = replace(backend.checkpoint, options=options)
    if options.head and not changes_states(backend):
        raise ModelError(
            f"{backend.checkpoint.name} has no use for a head. The head reads states, which this "
            "mitigation does not change: its numbers would be the base's. Leave --head out."
        )
    if options.head:
        _add_head(backend, None)
    return backend


def _mitigated(base: str | None, path: Path) -> str | None:
    """The fingerprint of a base with a mitigation, every file of it."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    names = [path.stem, *(digest_of_file(file) for file in files if file.is_file())]
    return base and digest_of([base, names, layout()])


@dataclass(frozen=True)
class ClassifierOptions(Options):
    negative_label: str | None = None
    """The label that counts as negative, where the model does not say."""


class ClassifierOpener(Opener):
    """A text-classification model: a folder or org/name[@revision]."""

    def check(self, spec: str) -> None:
        check_place(spec)

    def open(self, spec: str, options: ClassifierOptions, memory: Memory | None = None) -> Backend:
        from stereometer.backends.local.classifier import open_classifier

        return open_classifier(spec, options, options.negative_label)

    def fingerprint(self, spec: str, options: ClassifierOptions) -> str | None:
        return fingerprint(spec, options)


CHECKPOINT = CheckpointOpener("", Options, TORCH, "hf")
CLASSIFIER = ClassifierOpener("sentiment", ClassifierOptions, TORCH, "hf")


def backend_for(
    checkpoint: Checkpoint, notes: tuple[str, ...] = (), shipped: Path | None = None
) -> LanguageModel:
    """The backend of a loaded model's family, with the next-sentence head there is for it."""
    from stereometer.backends.local.causal import Causal
    from stereometer.backends.local.masked import Masked
    from stereometer.backends.local.permuted import Permuted

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
    from stereometer.backends.local.next_sentence import NextSentence, OwnHead, add, load

    checkpoint, dtype = backend.checkpoint, backend.checkpoint.options.dtype
    if checkpoint.options.head:
        add(backend, NextSentence(backend, load(Path(checkpoint.options.head))))
    elif checkpoint.next_sentence is not None:
        add(backend, OwnHead(backend, checkpoint.next_sentence))
    elif shipped is not None:
        trained = load(shipped)
        if trained.card.base_digest == backend.weights:
            add(backend, NextSentence(backend, trained))
        else:
            backend.notes.append(
                "The next-sentence head that ships for this model was trained on its float32 "
                f"weights; weights in {dtype} are others, so it is not used."
            )
