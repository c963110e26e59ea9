"""All of a model but its weights, for an engine that loads those itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types import Encoding
from stereometer.core.types.names import name_of
from stereometer.models.local import checkpoint
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
    options: checkpoint.LoadingOptions
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


def unloaded(spec: str, options: checkpoint.LoadingOptions) -> Unloaded:
    """A folder, a default model by name, or org/name[@revision], which is fetched whole."""
    name, notes = name_of(spec), tuple[str, ...]()
    if default := DEFAULT_MODELS.get(spec):
        spec, notes = str(default.folder), (default.note,)
        if not default.folder.exists():
            default.build()
    checkpoint.quiet()
    source, extra = checkpoint.source_of(spec)
    if "gguf_file" in extra or (Path(spec) / ADAPTER).is_file():
        raise ModelError(
            f"{spec} is no whole model as engines read it: a .gguf file, or an adapter. They read "
            "folders with safetensors, or org/name on the hub. Name one, or leave out the scheme."
        )
    try:
        return _read(spec, source, name, options, notes, **extra)
    except ModelError:
        raise
    except Exception as error:
        raise checkpoint.explained(spec, error) from None


def _read(
    spec: str,
    source: str,
    name: str,
    options: checkpoint.LoadingOptions,
    notes: tuple[str, ...],
    **extra: Any,
) -> Unloaded:
    import torch
    from huggingface_hub import snapshot_download
    from transformers import AutoConfig, AutoTokenizer

    code = {"trust_remote_code": options.trust_remote_code}
    config = AutoConfig.from_pretrained(source, **code, **extra)
    family, loader = checkpoint.family_of(config, spec)
    folder = Path(source)
    if not folder.is_dir():
        wanted: dict[str, Any] = {"allow_patterns": [*READ, *WEIGHTS], "ignore_patterns": [*TWICE]}
        folder = Path(snapshot_download(source, **wanted, **extra))
    checkpoint.check_files(spec, folder, config, options)
    tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, **code)
    with torch.device("meta"):
        structure = loader.from_config(config, **code)
    check_tokenizer(spec, tokenizer, structure)
    family = "permuted" if checkpoint.is_permuted(structure) else family
    return Unloaded(name, folder, family, structure, tokenizer, options, notes)
