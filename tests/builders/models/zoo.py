"""Every tiny model built once a session and loaded through the same door as a user's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch

from stereometer.models.local.causal import Causal
from stereometer.models.local.checkpoint import Checkpoint, LoadingOptions, load
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.masked import Masked, Permuted
from tests.builders.models.builders import BUILDS, POSITIONS, build
from tests.builders.models.reference import Reference

BACKENDS: dict[str, type[LanguageModel]] = {
    "masked": Masked,
    "causal": Causal,
    "permuted": Permuted,
}
AFTER_PADDING = ("roberta", "roberta-space", "xlm-roberta")
"""Their positions begin after the padding index, so two are lost."""


class Zoo:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = cache(self._folder)
        self.checkpoint = cache(self._checkpoint)
        self.reference = cache(self._reference)
        torch.set_num_threads(1)

    def _folder(self, name: str) -> Path:
        return build(name, self.home / name)

    def _checkpoint(self, name: str, dtype: str = "float32") -> Checkpoint:
        return load(str(self.folder(name)), LoadingOptions(dtype=dtype))

    def backend(self, name: str, **options: Any) -> Any:
        """A new backend each time: what it learns about its model is not handed on."""
        found = self.checkpoint(name, **options)
        return BACKENDS[found.family](found)

    def _reference(self, name: str, within_word: bool = False) -> Reference:
        """These weights and tokenizer, used as anybody would."""
        found, reads = self.checkpoint(name), BUILDS[name].reads
        seen = self.reference(name).seen if within_word else {}
        first = found.tokenizer.convert_tokens_to_ids(reads.first) if reads.first else None
        window = 10**6 if name == "xlnet" else POSITIONS - 2 if name in AFTER_PADDING else POSITIONS
        return Reference(
            BUILDS[name].family, found.model, found.tokenizer, window, first, within_word, seen
        )
