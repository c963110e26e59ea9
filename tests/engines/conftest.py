"""Engines that are programs of their own, as people run them: vLLM. Collected only where it is
installed, which `make test-engines` sees to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.conftest import default_model

collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]
SMOLLM2 = "smollm2-135m"
TINY = ("llama", "gpt2")
WIDE = {"hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 256}
"""Heads of 32 numbers: vLLM computes no smaller ones on a CPU."""
MACHINE = {
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
}
"""One thread and one gigabyte for an engine."""
os.environ |= {name: os.environ.get(name, value) for name, value in MACHINE.items()}


@dataclass(frozen=True)
class Engine:
    """A model on the local path, and what names it for an engine."""

    local: Any
    spec: str

    @property
    def folder(self) -> str:
        from stereometer.models.local.defaults import DEFAULT_MODELS

        return str(DEFAULT_MODELS[self.spec].folder) if self.spec in DEFAULT_MODELS else self.spec

    def answers(self, requests: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self.local.answer(requests))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Seeded random weights of two families, of which one's tokenizer puts a token first."""
    from transformers import GPT2Config, GPT2LMHeadModel

    from tests.builders.models import builders

    home = tmp_path_factory.mktemp("tiny")
    with patch.dict(builders.GROUPED, WIDE):
        builders.build("llama", home / "llama")
    tokenizer = builders.BUILDS["gpt2"].reads.make()
    size: dict[str, Any] = {
        "n_embd": 128,
        "n_layer": 2,
        "n_head": 4,
        "n_positions": builders.POSITIONS,
    }
    made = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **size))
    builders.save(builders.seeded(made), tokenizer, home / "gpt2")
    return {name: home / name for name in TINY}


@pytest.fixture(scope="module", params=[SMOLLM2, *TINY])
def engine(request: pytest.FixtureRequest, tiny: Mapping[str, Path]) -> Engine:
    from stereometer.core.runs.open import open_model

    if request.param == SMOLLM2:
        return Engine(default_model(SMOLLM2), SMOLLM2)
    folder = str(tiny[request.param])
    return Engine(open_model(folder, 0, {"threads": 1}), folder)
