"""Where a model runs and how precisely, where that is left open: the policy, with stand-ins for the
GPUs that this machine does not have."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import torch

from stereometer.core.errors import ModelError
from stereometer.core.runs.open import open_model
from stereometer.models.local import places
from stereometer.models.local.checkpoint import LoadingOptions, load
from stereometer.models.local.files import fingerprint
from stereometer.models.local.places import BYTES, SPREAD, Gpu, settled
from tests.builders.models.damaged import changed_config, copied
from tests.builders.models.zoo import Zoo

GB = 2**30
OPEN = LoadingOptions()


def with_gpus(monkeypatch: pytest.MonkeyPatch, *found: Gpu) -> None:
    monkeypatch.setattr(places, "gpus", lambda: list(found))


def gpu(gigabytes: float, at: int = 0, idle: bool = True) -> Gpu:
    return Gpu(f"cuda:{at}", int(gigabytes * GB), idle)


def of_billions(count: float) -> Any:
    return lambda dtype: int(count * 1e9) * BYTES[dtype]


@pytest.mark.parametrize(
    ("found", "options", "billions", "device", "dtype"),
    [
        ([], OPEN, 7, "cpu", "float32"),
        ([gpu(80)], OPEN, 7, "cuda:0", "float32"),
        ([gpu(24)], OPEN, 7, "cuda:0", "bfloat16"),
        ([gpu(24)], OPEN, 70, "cpu", "float32"),
        ([gpu(24), gpu(24, 1)], OPEN, 7, SPREAD, "float32"),
        ([gpu(24), gpu(24, 1)], OPEN, 14, SPREAD, "bfloat16"),
        ([gpu(24), gpu(80, 1)], OPEN, 7, "cuda:1", "float32"),
        ([gpu(80, 0, idle=False)], OPEN, 7, "cpu", "float32"),
        ([gpu(80, 0, idle=False), gpu(80, 1)], OPEN, 7, "cuda:1", "float32"),
        ([gpu(80)], LoadingOptions(dtype="bfloat16"), 7, "cuda:0", "bfloat16"),
        ([gpu(24)], LoadingOptions(dtype="float32"), 7, "cpu", "float32"),
        ([gpu(80)], LoadingOptions(device="cpu"), 7, "cpu", "float32"),
        ([gpu(80, 0, idle=False)], LoadingOptions(device="cuda"), 7, "cuda", "float32"),
        ([gpu(80), gpu(24, 1)], LoadingOptions(device="cuda:1"), 7, "cuda:1", "bfloat16"),
        ([gpu(24)], LoadingOptions(device="cuda"), 70, "cuda", "bfloat16"),
        ([gpu(24), gpu(24, 1)], LoadingOptions(device=SPREAD), 1, SPREAD, "float32"),
        ([gpu(24)], LoadingOptions(device="mps"), 1, "mps", "float32"),
        ([gpu(80)], LoadingOptions(device="cuda", dtype="float16"), 7, "cuda", "float16"),
    ],
)
def test_what_auto_stands_for(
    monkeypatch: pytest.MonkeyPatch,
    found: list[Gpu],
    options: LoadingOptions,
    billions: float,
    device: str,
    dtype: str,
) -> None:
    with_gpus(monkeypatch, *found)
    chosen = settled(options, "m", of_billions(billions))
    assert (chosen.device, chosen.dtype) == (device, dtype)
    assert settled(chosen, "m", of_billions(billions)) == chosen


@pytest.mark.parametrize(
    ("found", "billions", "says"),
    [
        ([gpu(24)], 7, "does not fit on a GPU of this machine in float32, so it runs in bfloat16"),
        ([gpu(24)], 70, "in float32 or bfloat16, so it runs on the CPU"),
        ([gpu(80, 0, idle=False)], 7, "GPUs: 1, taken by others, so not used. --device cuda"),
    ],
)
def test_what_is_less_than_hoped_for_is_said(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    found: list[Gpu],
    billions: float,
    says: str,
) -> None:
    with_gpus(monkeypatch, *found)
    with caplog.at_level(logging.WARNING):
        settled(OPEN, "m", of_billions(billions))
    assert says in caplog.text


def test_a_gpu_is_busy_by_what_others_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for torch's own figures."""
    free, own = [70 * GB, 30 * GB, 30 * GB], [0, 0, 45 * GB]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda at: (free[at], 80 * GB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda at: own[at])
    assert [each.idle for each in places.gpus()] == [True, False, True]


def test_without_a_gpu_its_size_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch)

    def never(dtype: str) -> int:
        raise AssertionError

    assert settled(OPEN, "m", never) == LoadingOptions("cpu", "float32")


def test_precision_on_a_small_gpu_is_on_the_card(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU stands in for a GPU whose memory holds the weights in half the precision only."""
    folder = str(zoo.folder("bert"))
    plain = open_model(folder).card
    assert plain.dtype == "float32"
    with_gpus(monkeypatch, Gpu("cpu", 5 * plain.settings["parameters"]))
    halved = open_model(folder).card
    assert halved.dtype == "bfloat16"
    assert "Computed in bfloat16, not float32." in halved.notes
    assert halved.identity == open_model(folder, options={"dtype": "bfloat16"}).card.identity
    assert plain.identity == open_model(folder, options={"dtype": "float32"}).card.identity


@pytest.mark.usefixtures("at_rest")
def test_what_a_model_is_known_by_changes_with_the_gpus(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, known = str(zoo.folder("bert")), set()
    for found in ([], [gpu(24)], [gpu(80)], [gpu(24, idle=False)]):
        with_gpus(monkeypatch, *found)
        known.add(fingerprint(folder, OPEN))
        pinned = fingerprint(folder, LoadingOptions("cpu", "float32"))
    with_gpus(monkeypatch)
    assert len(known) == 3
    assert fingerprint(folder, LoadingOptions("cpu", "float32")) == pinned


def test_a_gpu_that_is_too_small_is_one_sentence_with_the_way_out(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(torch.nn.Module, "to", full)
    with pytest.raises(ModelError, match=r"does not fit.*so far are kept.*--dtype bfloat16"):
        load(str(zoo.folder("bert")))


QUANTISED: dict[str, dict[str, Any]] = {
    "bitsandbytes": {"quant_method": "bitsandbytes", "load_in_4bit": True},
    "gptqmodel": {"quant_method": "gptq", "bits": 4},
    "awq": {"quant_method": "awq", "bits": 4},
}


@pytest.mark.parametrize("name", QUANTISED)
def test_quantised_weights_want_their_package(zoo: Zoo, tmp_path: Path, name: str) -> None:
    folder = copied(zoo, "llama", tmp_path / "m")
    changed_config(folder, quantization_config=QUANTISED[name])
    with pytest.raises(ModelError, match=r"is quantised \(.*, 4 bits\).*`pip install .*or name"):
        load(str(folder))


def test_quantised_weights_are_placed_by_the_loader_in_their_own_precision(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loader stands in that cannot move what it has loaded, as that of bitsandbytes."""
    folder = copied(zoo, "llama", tmp_path / "m")
    changed_config(folder, quantization_config=QUANTISED["bitsandbytes"], dtype="bfloat16")
    monkeypatch.setattr("stereometer.models.local.quantised.find_spec", lambda name: name)
    asked: dict[str, Any] = {}

    class Loader:
        @staticmethod
        def from_pretrained(source: str, **options: Any) -> Any:
            from transformers import AutoModelForCausalLM

            asked.update(options)
            plain = str(zoo.folder("llama"))
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                plain, output_loading_info=True, dtype=options["dtype"]
            )
            model, report = loaded
            model.hf_device_map = options["device_map"]
            model.to = unmoved
            return model, report

    def unmoved(*_: object) -> None:
        raise ValueError("`.to` is not supported for `4-bit` or `8-bit` bitsandbytes models.")

    found = load(str(folder), choose=lambda *_: ("causal", Loader))
    assert asked["device_map"] == {"": "cpu"}
    assert (found.options.dtype, found.quantized) == ("bfloat16", "bitsandbytes, 4 bits")
    assert load(str(zoo.folder("llama"))).quantized == ""
