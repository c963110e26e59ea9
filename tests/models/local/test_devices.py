"""Models on one GPU or several, as far as a machine without any can tell: the policy of batches as
a function, and the hooks that lay a model over devices, here all of them the CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from accelerate.hooks import attach_execution_device_hook
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForMaskedLM

from stereometer.core.errors import ModelError
from stereometer.models.local.checkpoint import LoadingOptions, load
from stereometer.models.local.checks import check_layout
from stereometer.models.local.forward import (
    CPU_TOKENS,
    GPU_SHARE,
    LEAST_TOKENS,
    LOGIT_BYTES,
    STATES,
    SplitModel,
    batch_tokens,
    free_memory,
    logprobs,
)
from stereometer.models.local.places import SPREAD
from tests.builders.models.zoo import Zoo

GB = 2**30
MEMORY = st.integers(0, 200 * GB)
WIDTH = st.integers(64, 32768)
LOGITS = st.sampled_from([0, 30522, 256000])


def test_a_cpu_takes_the_batches_it_always_took() -> None:
    assert batch_tokens(None, 768 * 4, 0) == CPU_TOKENS
    assert batch_tokens(None, 768 * 4, 30522) == 2 * LOGIT_BYTES // (4 * 30522)


@given(MEMORY, WIDTH, LOGITS)
def test_a_batch_takes_its_share_of_a_gpu_and_no_more(free: int, width: int, logits: int) -> None:
    tokens = batch_tokens(free, width, logits)
    used = tokens * (STATES * width + 8 * logits)
    assert tokens == LEAST_TOKENS or used <= GPU_SHARE * free
    assert tokens >= LEAST_TOKENS
    assert batch_tokens(free + GB, width, logits) >= tokens
    assert batch_tokens(free, 2 * width, logits) <= tokens
    assert batch_tokens(free, width, logits + 1000) <= tokens


def test_half_the_precision_is_twice_the_batch() -> None:
    single, half = (batch_tokens(24 * GB, 4096 * size, 0) for size in (4, 2))
    assert half in (2 * single, 2 * single + 1)
    assert single == int(GPU_SHARE * (24 * GB - 2 * LOGIT_BYTES) / (24 * 4096 * 4))


@pytest.mark.parametrize("name", ["bert", "llama"])
@torch.inference_mode()
def test_a_model_laid_over_devices_gives_the_same_numbers(zoo: Zoo, name: str) -> None:
    folder = str(zoo.folder(name))
    plain, spread = (load(folder, LoadingOptions(device=place)).model for place in ("cpu", SPREAD))
    assert free_memory(spread) is None
    expected = numbers(SplitModel(plain))
    assert numbers(SplitModel(spread)) == expected
    attach_execution_device_hook(spread, torch.device("cpu"))
    split = SplitModel(spread)
    moves = vars(split.inner).get("forward")
    assert moves is not None  # otherwise this shows nothing
    assert numbers(split) == expected
    assert vars(split.inner).get("forward") is moves


@pytest.mark.parametrize(("device", "layout"), [("cpu", None), (SPREAD, "auto")])
def test_only_auto_is_laid_out_by_the_loader(zoo: Zoo, device: str, layout: str | None) -> None:
    asked: list[Any] = []

    class Loader:
        @staticmethod
        def from_pretrained(*source: Any, **options: Any) -> Any:
            asked.append(options.get("device_map"))
            return AutoModelForMaskedLM.from_pretrained(*source, **options)

    load(
        str(zoo.folder("bert")), LoadingOptions(device=device), choose=lambda *_: ("masked", Loader)
    )
    assert asked == [layout]


def numbers(split: SplitModel) -> list[list[float]]:
    states = split.trunk(**split.inputs([[5, 6, 7, 8]], None))
    return logprobs(split, states[0], [[1], [2, 3], [4], [5]])


def test_a_model_that_does_not_fit_on_its_gpus_is_refused() -> None:
    check_layout("m", {"a": 0, "b": 1})
    check_layout("m", {"": "cpu"})
    for layout in ({"a": 0, "b": "cpu"}, {"a": 0, "b": "disk"}, {"a": "cpu", "b": "disk"}):
        with pytest.raises(ModelError, match="does not fit on the GPUs"):
            check_layout("m", layout)
