"""All of a model but its weights, for an engine that loads those itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types import Encoding
from stereometer.core.types.names import name_of
from stereometer.models.local.checkpoint import (
    LoadingOptions,
    check_files,
    explained,
    family_of,
    is_permuted,
    quiet,
    source_of,
)
from stereometer.models.local.checks import TOKENIZER_FILES, check_tokenizer
from stereometer.models.local.defaults import DEFAULT_MODELS
from stereometer.models.local.files import (
    ADAPTER,
    CONFIG,
    SAFE,
    stored_digest,
    tokenizer_digest,
)
from stereometer.models.local.tokens import UNBOUNDED, Tokens, window_of

WEIGHTS = (f"*{SAFE}", "*.index.json")
READ = (CONFIG, "generation_config.json", "*.jinja", "*.py", *TOKENIZER_FILES)
TWICE = ("consolidated*", "original/*")
"""The weights once more, as their authors' own tools read them."""


@dataclass(frozen=True)
class Unloaded:
    """What is known of a model without its weights."""

    name: str
    folder: Path
    family: str
    structure: Any
    """The model itself, on a device that holds no numbers."""
    tokenizer: Any
    options: LoadingOptions
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return stored_digest(self.folder)

    @property
    def vocabulary(self) -> int:
        return int(self.structure.get_input_embeddings().weight.shape[0])

    @property
    def window(self) -> int:
        return window_of(self.tokenizer, self.structure)

    def tokens(self, window: int) -> Tokens:
        """How it reads texts of at most so many tokens."""
        kinds = int(getattr(self.structure.config, "type_vocab_size", 0) or UNBOUNDED)
        return Tokens(self.tokenizer, self.family == "causal", window, self.vocabulary, kinds)

    @cached_property
    def encode(self) -> Callable[..., Encoding]:
        """As the loaded model reads a text, or two."""
        return self.tokens(self.window).encode

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(ids)))

    @property
    def tokenizer_digest(self) -> str:
        return tokenizer_digest(self.tokenizer)


def unloaded(spec: str, options: LoadingOptions) -> Unloaded:
    """A folder, a default model by name, or org/name[@revision], which is fetched whole."""
    default = DEFAULT_MODELS.get(spec)
    if default is None:
        return _read(spec, name_of(spec), options, ())
    if not default.folder.exists():
        default.build()
    return _read(str(default.folder), default.name, options, default.notes)


def _read(spec: str, name: str, options: LoadingOptions, notes: tuple[str, ...]) -> Unloaded:
    quiet()
    source, extra = source_of(spec)
    if "gguf_file" in extra or (Path(spec) / ADAPTER).is_file():
        raise ModelError(
            f"{spec} is no whole model as engines read it: a .gguf file, or an adapter. They read "
            "folders with safetensors, or org/name on the hub. Name one, or leave out the scheme."
        )
    try:
        return _parts(spec, source, name, options, notes, **extra)
    except ModelError:
        raise
    except Exception as error:
        raise explained(spec, error) from None


def _parts(
    spec: str,
    source: str,
    name: str,
    options: LoadingOptions,
    notes: tuple[str, ...],
    **extra: Any,
) -> Unloaded:
    import torch
    from transformers import AutoConfig, AutoTokenizer

    code = {"trust_remote_code": options.trust_remote_code}
    config = AutoConfig.from_pretrained(source, **code, **extra)
    family, loader = family_of(config, spec)
    folder = _folder(source, **extra)
    check_files(spec, folder, config, options)
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, **code)
    with torch.device("meta"):
        structure = loader.from_config(config, **code)
    check_tokenizer(spec, tokenizer, structure)
    family = "permuted" if is_permuted(structure) else family
    return Unloaded(name, folder, family, structure, tokenizer, options, notes)


def _folder(source: str, **extra: Any) -> Path:
    """Where its files are, from the hub as often as that has new ones."""
    from huggingface_hub import snapshot_download

    if Path(source).is_dir():
        return Path(source)
    wanted = [*READ, *WEIGHTS]
    fetched = snapshot_download(source, allow_patterns=wanted, ignore_patterns=[*TWICE], **extra)
    return Path(fetched)
