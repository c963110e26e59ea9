"""A number does not depend on what else is asked, in which order, in which batches, by which of the
faster ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

import stereometer
from stereometer.core import catalog
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import Answer, Asking, Request
from stereometer.kinds.pairs.items import Pair
from stereometer.models.local import causal, forward, masked
from stereometer.models.local.lean import choice, written_out
from stereometer.models.local.lean.choice import SlicedHead
from stereometer.models.local.lean.written_out import PostNormEncoder, PreNormDecoder
from tests.builders.models import items
from tests.builders.models.agreement import assert_agree, assert_same, bound, family, rows, slow
from tests.builders.models.zoo import Zoo

MEASURES = {
    "masked": "cat-pseudo-likelihood",
    "permuted": "cat-pseudo-likelihood",
    "causal": "pair-sentence-likelihood",
}
MODELS = ["bert", "roberta", "deberta", "modernbert", "gpt2", "llama", "gemma3", "qwen3", "xlnet"]


def requests_of(backend: Any) -> dict[str, Request]:
    """What some items of both shapes and all lengths ask."""
    family = backend.card.family
    measure = bound(MEASURES[family], "sound", backend)
    some = (
        [*items.starter("pair")[:3], *items.QUIRKY_PAIRS[:8]]
        if catalog.find("method", measure.name).reads == "pair"
        else [*items.QUIRKY_CATS[:8], *items.QUIRKY_CATS[-4:]]
    )
    plans = [
        measure.plan(item)
        for item in some
        if item.id not in ("before letters", "blank alone", "one token")
    ]
    return {request.key: request for plan in plans for asked in plan.values() for request in asked}


# -------------------------------------------------------------------------- batches, order, company


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
def test_the_size_of_batches_does_not_matter(
    zoo: Zoo, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = requests_of(zoo.backend(model))
    usual = rows(zoo.backend(model), requests)
    for tokens in (1, 40, 10**6):
        monkeypatch.setattr(forward, "CPU_TOKENS", tokens)
        assert_same(rows(zoo.backend(model), requests), usual)


@pytest.mark.parametrize("model", MODELS)
def test_order_and_company_do_not_matter(zoo: Zoo, model: str) -> None:
    requests = requests_of(zoo.backend(model))
    usual = rows(zoo.backend(model), requests)
    shuffled = Random(1).sample(list(requests.items()), len(requests))
    assert_same(rows(zoo.backend(model), dict(shuffled)), usual)
    backend = zoo.backend(model)
    alone = {
        key: row
        for key, request in shuffled[::4]
        for _, row in rows(backend, {key: request}).items()
    }
    assert_same(alone, {key: usual[key] for key in alone})


@pytest.mark.long
def test_the_slices_of_the_head_do_not_matter(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("bert", "gpt2", "xlnet", "gemma3"):
        requests = requests_of(zoo.backend(model))
        usual = rows(zoo.backend(model), requests)
        with monkeypatch.context() as patch:
            patch.setattr(forward, "LOGIT_BYTES", 4 * 900 * 3)
            patch.setattr(choice, "COLUMNS", 700)
            patch.setattr(written_out, "ROWS", 16)
            patch.setattr(written_out, "ASKED", 3)
            assert_same(rows(zoo.backend(model), requests), usual)


@pytest.mark.parametrize("model", ["bert", "gpt2", "xlnet"])
def test_answers_from_the_cache_are_those_of_the_model(
    zoo: Zoo, model: str, tmp_path: Path
) -> None:
    backend = zoo.backend(model)
    measure, some = bound("cat-pseudo-likelihood", "sound", backend), items.QUIRKY_CATS[::3]
    with Cache(tmp_path / "answers.sqlite") as cache:
        first, again = Tally(), Tally()
        fresh = list(computed(Asking(some, measure, backend), Serial(backend), cache, first))
        kept = list(computed(Asking(some, measure, backend), Serial(backend), cache, again))
    assert [score.values for score in kept] == [score.values for score in fresh]
    assert first.from_cache == 0
    assert again.from_cache == first.distinct > 0
    assert_agree("cat-pseudo-likelihood", "sound", backend, zoo.reference(model), some)


# -------------------------------------------------------------------------------------- lean trunks


RECOGNISED = ["bert", "roberta", "electra", "xlm-roberta"]


@pytest.mark.parametrize("model", RECOGNISED)
def test_the_lean_trunk_gives_what_the_model_gives(
    zoo: Zoo, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = zoo.backend(model)
    requests = requests_of(quick)
    fast = rows(quick, requests)
    assert quick.trunk.lean is not None, "the structure was not recognised"
    monkeypatch.setattr(masked, "trunk_for", lambda split: partial(choice.generic_states, split))
    plain = zoo.backend(model)
    assert plain.trunk.func is choice.generic_states
    assert_same(fast, rows(plain, requests))


def wrong(found: torch.Tensor) -> torch.Tensor:
    return found * 1.01 + 0.01


def broken(*_: Any) -> torch.Tensor:
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")


@pytest.mark.parametrize("model", RECOGNISED)
def test_a_lean_trunk_that_disagrees_steps_aside(
    zoo: Zoo, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = PostNormEncoder.__call__
    monkeypatch.setattr(PostNormEncoder, "__call__", lambda *inputs: wrong(right(*inputs)))
    backend = zoo.backend(model)
    assert_agree("pair-likelihood", "sound", backend, zoo.reference(model), items.QUIRKY_PAIRS)
    assert backend.trunk.lean is None


def test_a_lean_trunk_that_fails_steps_aside(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PostNormEncoder, "__call__", broken)
    assert_agree(
        "pair-likelihood", "sound", zoo.backend("bert"), zoo.reference("bert"), items.QUIRKY_PAIRS
    )


@pytest.mark.parametrize("model", ["bert", "gpt2", "xlnet"])
def test_a_lean_head_that_disagrees_steps_aside(
    zoo: Zoo, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = SlicedHead.__call__
    monkeypatch.setattr(
        SlicedHead,
        "__call__",
        lambda *inputs: [[value + 0.1 for value in row] for row in right(*inputs)],
    )
    assert_agree(
        "cat-likelihood", "sound", zoo.backend(model), zoo.reference(model), items.QUIRKY_CATS
    )


def test_a_lean_decoder_that_disagrees_steps_aside(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = PreNormDecoder.__call__
    monkeypatch.setattr(PreNormDecoder, "__call__", lambda *inputs: wrong(right(*inputs)))
    assert_agree(
        "cat-pseudo-likelihood",
        "sound",
        zoo.backend("gpt2"),
        zoo.reference("gpt2"),
        items.QUIRKY_CATS,
    )


# ------------------------------------------------------------------------------------- causal trees


@pytest.mark.parametrize("model", ["gpt2", "llama", "gemma3-wide", "qwen2", "qwen3"])
def test_texts_in_trees_are_texts_alone(
    zoo: Zoo, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = family(9, 5, 4) | family(3, 8, 3, seed=1) | family(30, 60, 3, seed=2)
    together = zoo.backend(model)
    shared = rows(together, requests)
    assert together.layouts[0] not in (together.in_rows, together.alone), "this model takes trees"
    monkeypatch.setattr(causal.Causal, "_layouts", lambda self: iter(()))
    apart = zoo.backend(model)
    assert_same(shared, rows(apart, requests))
    assert apart.layouts == [apart.alone]
    assert_same(shared, slow(together.model, requests))


@contextmanager
def refusing(trunk: Any) -> Iterator[None]:
    """A trunk that takes no mask of four dimensions."""

    def check(_: Any, __: Any, told: dict[str, Any]) -> None:
        if told.get("attention_mask") is not None:
            raise ValueError("attention_mask should be of shape (batch, sequence)")

    hook = trunk.register_forward_pre_hook(check, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def ignoring(trunk: Any) -> Iterator[None]:
    """A trunk that does not care what it is told."""

    def forget(_: Any, given: Any, told: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return given, {
            name: value
            for name, value in told.items()
            if name not in ("attention_mask", "position_ids")
        }

    hook = trunk.register_forward_pre_hook(forget, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.parametrize("how", [refusing, ignoring])
def test_a_model_that_takes_no_trees_is_asked_text_by_text(zoo: Zoo, how: Any) -> None:
    model = zoo.checkpoint("llama").model
    requests = family(9, 5, 4) | family(3, 8, 3, seed=1)
    expected = slow(model, requests)
    with how(model.base_model):
        backend = zoo.backend("llama")
        assert_same(rows(backend, requests), expected)
        assert backend.layouts == [backend.in_rows, backend.alone]


@pytest.mark.parametrize("how", [refusing, ignoring])
def test_so_it_is_where_the_first_texts_do_not_branch(zoo: Zoo, how: Any) -> None:
    model = zoo.checkpoint("llama").model
    first, second = family(9, 5, 1), family(9, 5, 4, seed=1)
    expected = slow(model, second)
    with how(model.base_model):
        backend = zoo.backend("llama")
        rows(backend, first)
        assert_same(rows(backend, second), expected)


def test_texts_longer_than_a_sliding_window_after_shorter_ones(zoo: Zoo) -> None:
    backend = zoo.backend("gemma3")
    rows(backend, family(2, 2, 3))
    requests = family(12, 9, 3)
    assert_same(rows(backend, requests), slow(backend.model, requests))


def test_shorter_texts_after_texts_longer_than_a_sliding_window(zoo: Zoo) -> None:
    backend = zoo.backend("gemma3")
    for requests in (family(12, 9, 3), family(2, 2, 3), family(20, 5, 1, seed=1)):
        assert_same(rows(backend, requests), slow(backend.model, requests))


# --------------------------------------------------------------- structures that only look familiar


def test_a_text_that_names_the_padding_token(zoo: Zoo) -> None:
    named = [
        Pair("plain", "The cook left.", "The man left.", "x"),
        Pair("padding", "The <pad> cook left.", "The <pad> man left.", "x"),
    ]
    backend, slow_way = zoo.backend("roberta"), zoo.reference("roberta")
    assert_agree("pair-likelihood", "sound", backend, slow_way, named[:1])
    assert_agree("pair-likelihood", "sound", backend, slow_way, named[1:])


def answers_once(backend: Any, requests: Mapping[str, Request]) -> list[tuple[str, Answer]]:
    return list(backend.answer(requests))


@pytest.mark.parametrize("model", ["bert", "gpt2", "xlnet"])
def test_every_request_is_answered_once(zoo: Zoo, model: str) -> None:
    backend = zoo.backend(model)
    requests = requests_of(backend)
    assert sorted(key for key, _ in answers_once(backend, requests)) == sorted(requests)
    assert answers_once(backend, {}) == []


@pytest.mark.parametrize(
    "model", ["bert", "roberta", "deberta", "modernbert", "gpt2", "llama", "gemma3", "xlnet"]
)
def test_company_does_not_change_the_last_bit(zoo: Zoo, model: str) -> None:
    """What is asked beside a request, and what was asked before, leaves its numbers as they are."""
    requests = requests_of(zoo.backend(model))
    together = rows(zoo.backend(model), requests)
    halves = Random(2).sample(list(requests.items()), len(requests))
    backend = zoo.backend(model)
    apart = rows(backend, dict(halves[::2])) | rows(backend, dict(halves[1::2]))
    alone = {
        key: row for key, request in halves[::4] for _, row in rows(backend, {key: request}).items()
    }
    assert apart == together
    assert alone == {key: together[key] for key in alone}


@pytest.mark.long
@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_the_same_plan_gives_the_same_bytes_whatever_was_asked_before(
    zoo: Zoo, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scores(cache: str, out: str, limit: int) -> bytes:
        monkeypatch.setenv("STEREOMETER_CACHE", str(tmp_path / cache))
        stereometer.run("starter", model=str(zoo.folder(model)), limit=limit, out=tmp_path / out)
        files = sorted((tmp_path / out).rglob("scores.jsonl"))
        return b"".join(file.read_bytes() for file in files)

    plain = scores("empty", "plain", 24)
    scores("used", "part", 7)
    assert scores("used", "after", 24) == plain != b""
