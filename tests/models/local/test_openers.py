"""A model is opened again from its opener, spec and options alone, in another process."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from stereometer.core.errors import ModelError
from stereometer.core.types import ModelSpec
from stereometer.core.types.opener import BaselineOptions
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.opener import ClassifierOptions
from stereometer.models.server.opener import ServerOptions
from tests.builders.models.zoo import Zoo

NAMED = "stereometer.core.types.opener:NAMED"
FAKE = "stereometer.models.baselines.fake:Fake"
RANDOM = "stereometer.models.text_scores:Random"
CHECKPOINT = "stereometer.models.local.opener:CHECKPOINT"
SERVER = "stereometer.models.server.opener:SERVER"


def identity(spec: ModelSpec) -> str:
    return spec.open().card.identity


def elsewhere(spec: ModelSpec) -> str:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(identity, spec).result()


@pytest.mark.long
@pytest.mark.parametrize(
    "spec", [ModelSpec(NAMED, FAKE), ModelSpec(NAMED, RANDOM, BaselineOptions(seed=7))]
)
def test_a_baseline_is_the_same_in_another_process(spec: ModelSpec) -> None:
    assert elsewhere(spec) == identity(spec)


def test_the_seed_is_part_of_a_random_model() -> None:
    seeds = [ModelSpec(NAMED, RANDOM, BaselineOptions(seed)) for seed in (1, 2)]
    assert identity(seeds[0]) != identity(seeds[1])


@pytest.mark.long
def test_a_checkpoint_is_the_same_in_another_process(zoo: Zoo) -> None:
    spec = ModelSpec(CHECKPOINT, str(zoo.folder("bert")), LoadingOptions(threads=1))
    assert elsewhere(spec) == identity(spec)
    assert identity(spec) == zoo.backend("bert").card.identity


@pytest.mark.parametrize(
    "options", [LoadingOptions, ClassifierOptions, ServerOptions, BaselineOptions]
)
def test_options_are_plain_values(options: Any) -> None:
    value = options()
    assert pickle.loads(pickle.dumps(value)) == value
    assert hash(value) == hash(options())


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stereometer.core.types.opener.find_spec", lambda module: None)
    with pytest.raises(ModelError, match=r"server:http://x#m needs httpx2 and stamina.*\[server\]"):
        ModelSpec(SERVER, "http://x#m").open()
