"""Causal models give, to 1e-5 a token, what one sentence at a time gives."""

from __future__ import annotations

import pytest

from tests.builders.models import items
from tests.builders.models.agreement import assert_agree
from tests.builders.models.builders import names
from tests.builders.models.zoo import Zoo

MEASURES = (
    "pair-sentence-likelihood",
    "pair-sentence-mean-likelihood",
    "pair-after-change-likelihood",
)


@pytest.mark.parametrize("variant", ["paper", "sound"])
@pytest.mark.parametrize("model", names("causal"))
def test_context_association_is_that_of_the_slow_way(zoo: Zoo, model: str, variant: str) -> None:
    backend, slow = zoo.backend(model), zoo.reference(model)
    for measure in ("cat-likelihood", "cat-pseudo-likelihood"):
        scores = assert_agree(measure, variant, backend, slow, items.cats())
        assert sum(score.skipped is None for score in scores) > len(scores) / 2


@pytest.mark.parametrize("variant", ["paper", "sound"])
@pytest.mark.parametrize("model", names("causal"))
def test_pairs_are_those_of_the_slow_way(zoo: Zoo, model: str, variant: str) -> None:
    backend, slow = zoo.backend(model), zoo.reference(model)
    for measure in MEASURES:
        scores = assert_agree(measure, variant, backend, slow, items.pairs())
        assert sum(score.skipped is None for score in scores) > len(scores) / 2
