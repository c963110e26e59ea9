"""Memory that runs out, and a person who stops a run: nothing is lost that was answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

import stereometer
from stereometer.core.errors import ModelError
from stereometer.core.runs.cache import Cache
from stereometer.models.local import causal, forward
from stereometer.models.local.masked import Masked
from tests.builders.commands import call
from tests.builders.models import items
from tests.builders.models.agreement import answered, assert_agree, bound
from tests.builders.models.zoo import Zoo
from tests.builders.stored import only

ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory."),
    MemoryError(),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
]


def limited(run: Callable[..., Any], most: int, error: BaseException) -> Callable[..., Any]:
    """A trunk that fails where it is given more texts than so many."""

    def guarded(texts: Any, *more: Any) -> Any:
        if len(texts) > most:
            raise error
        return run(texts, *more)

    return guarded


@contextmanager
def limit_rows(trunk: Any, most: int, error: BaseException) -> Iterator[None]:
    """Likewise for a model that is called as it is."""

    def check(_: Any, given: Any, told: dict[str, Any]) -> None:
        if len(given[0] if given else told["input_ids"]) > most:
            raise error

    hook = trunk.register_forward_pre_hook(check, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_masked_batch_that_does_not_fit_goes_on_in_halves(zoo: Zoo, error: BaseException) -> None:
    backend = zoo.backend("bert")
    backend.trunk = limited(backend.trunk, 3, error)
    assert_agree("pair-likelihood", "sound", backend, zoo.reference("bert"), items.QUIRKY_PAIRS)


@pytest.mark.parametrize("model", ["llama", "gemma3", "xlnet"])
def test_so_does_any_other(zoo: Zoo, model: str) -> None:
    backend = zoo.backend(model)
    measure = "pair-likelihood" if model == "xlnet" else "pair-sentence-likelihood"
    with limit_rows(backend.model.base_model, 1, ERRORS[0]):
        assert_agree(measure, "sound", backend, zoo.reference(model), items.QUIRKY_PAIRS)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_single_text_that_does_not_fit_says_so(zoo: Zoo, error: BaseException) -> None:
    backend = zoo.backend("bert")
    backend.trunk = limited(backend.trunk, 0, error)
    with pytest.raises(
        ModelError,
        match=(
            r"A text of \d+ tokens does not fit into memory.*Use a smaller one or another --device"
        ),
    ):
        answered(bound("pair-likelihood", "sound", backend), backend, items.QUIRKY_PAIRS[:3])


def test_so_does_a_single_causal_text(zoo: Zoo) -> None:
    backend = zoo.backend("llama")
    measure = bound("pair-sentence-likelihood", "sound", backend)
    with (
        limit_rows(backend.model.base_model, 0, ERRORS[0]),
        pytest.raises(ModelError, match=r"does not fit into memory"),
    ):
        answered(measure, backend, items.QUIRKY_PAIRS[:3])


def test_another_error_is_not_taken_for_one_of_memory(zoo: Zoo) -> None:
    backend = zoo.backend("bert")
    backend.trunk = limited(backend.trunk, 0, RuntimeError("a fault"))
    with pytest.raises(RuntimeError, match="a fault"):
        answered(bound("pair-likelihood", "sound", backend), backend, items.QUIRKY_PAIRS[:3])


# ----------------------------------------------------------------------------------------- stopping


def stopping(monkeypatch: pytest.MonkeyPatch, after: int) -> list[int]:
    """Ctrl-C after so many batches; gives the sizes of those that came through."""
    batches: list[int] = []
    whole = Masked._batch

    def batch(self: Masked, copies: Any) -> Any:
        if len(batches) >= after:
            raise KeyboardInterrupt
        batches.append(len(copies))
        return whole(self, copies)

    monkeypatch.setattr(Masked, "_batch", batch)
    monkeypatch.setattr(forward, "CPU_TOKENS", 400)
    return batches


def test_a_stopped_run_keeps_its_answers_and_the_next_goes_on(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (
        "run",
        "starter",
        "--model",
        zoo.folder("bert"),
        "--measure",
        "pair-likelihood",
        "--limit",
        20,
        "--resamples",
        100,
        "--out",
    )
    with monkeypatch.context() as patch:
        stopping(patch, after=12)
        said = call(*command, tmp_path / "stopped")
    assert said.code == 130
    assert "answers so far are kept" in said.err
    with Cache() as cache:
        kept = cache.info()["answers"]
    assert 0 < int(kept) < 40
    assert not (only(tmp_path / "stopped") / "result.json").exists()

    assert call(*command, tmp_path / "stopped").code == 0
    with Cache() as cache:
        assert cache.info()["answers"] == 40
    later = stereometer.load(tmp_path / "stopped")
    (at_once,) = stereometer.run(
        "starter",
        model=str(zoo.folder("bert")),
        measure=["pair-likelihood"],
        limit=20,
        resamples=100,
        cache=False,
        out=tmp_path / "whole",
    )
    assert [one.value for one in later.estimates] == [one.value for one in at_once.estimates]


def test_stopping_before_anything_was_answered_leaves_nothing_behind(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping(monkeypatch, after=0)
    said = call(
        "run", "starter", "--model", zoo.folder("bert"), "--limit", 2, "--out", tmp_path / "stopped"
    )
    assert said.code == 130
    assert not (only(tmp_path / "stopped") / "result.json").exists()


def test_a_causal_run_can_be_stopped_too(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(causal.Causal, "values_at", stop)
    assert call("run", "starter", "--model", zoo.folder("gpt2"), "--limit", 2).code == 130
