"""The contract that a plugin can run on itself, run on ours."""

from __future__ import annotations

import pytest

from stereometer.testing import check_backend, check_measure, sample_requests
from tests.builders.models import items
from tests.builders.models.agreement import bound
from tests.builders.models.builders import BUILDS
from tests.builders.models.zoo import Zoo

MODELS = [name for name in BUILDS if name != "bert-real-vocabulary"]
SHORT = [
    *items.starter("cat", task="intrasentence")[:6],
    *items.starter("cat", task="intersentence")[:6],
]


@pytest.mark.parametrize("model", MODELS)
def test_every_backend_keeps_the_contract(zoo: Zoo, model: str) -> None:
    check_backend(zoo.backend(model))


@pytest.mark.parametrize(
    ("model", "measure"),
    [
        ("bert", "cat-likelihood"),
        ("bert", "cat-pseudo-likelihood"),
        ("bert", "pair-likelihood"),
        ("bert", "pair-modified-likelihood"),
        ("roberta", "cat-pseudo-likelihood"),
        ("gpt2", "cat-likelihood"),
        ("gpt2", "cat-pseudo-likelihood"),
        ("gpt2", "pair-sentence-likelihood"),
        ("llama", "pair-sentence-mean-likelihood"),
        ("llama", "pair-after-change-likelihood"),
        ("xlnet", "cat-likelihood"),
        ("xlnet", "pair-likelihood"),
    ],
)
def test_every_measure_keeps_the_contract(zoo: Zoo, model: str, measure: str) -> None:
    backend = zoo.backend(model)
    check_measure(
        bound(measure, "sound", backend),
        backend,
        SHORT if measure.startswith("cat") else items.starter("pair")[:10],
    )


def test_the_contract_asks_nothing_that_has_no_answer(zoo: Zoo) -> None:
    assert all(
        getattr(request, "start", 1) > 0
        for request in sample_requests(zoo.backend("qwen3")).values()
    )
