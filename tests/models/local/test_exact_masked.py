"""Masked models give, to 1e-5 a token, what one masked copy at a time gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stereometer.core.types import MaskedTokens
from tests.builders.models import items
from tests.builders.models.agreement import assert_agree, rows
from tests.builders.models.builders import names
from tests.builders.models.zoo import Zoo

VARIANTS = ("paper", "sound")
STEPS = {"bert-real-vocabulary": 6, "electra": 3, "deberta": 3, "modernbert": 3}
"""Of the items every so many: thirty thousand words take their time, and the others read as one
that is asked everything."""


def some(model: str, asked: Sequence[Any]) -> Sequence[Any]:
    return asked[:: STEPS.get(model, 1)]


@pytest.mark.parametrize("measure", ["cat-likelihood", "cat-pseudo-likelihood"])
@pytest.mark.parametrize("model", names("masked"))
def test_context_association_is_that_of_the_slow_way(zoo: Zoo, model: str, measure: str) -> None:
    for variant in VARIANTS:
        scores = assert_agree(
            measure, variant, zoo.backend(model), zoo.reference(model), some(model, items.cats())
        )
        assert sum(score.skipped is None for score in scores) > len(scores) / 2


@pytest.mark.parametrize("model", names("masked"))
def test_pairs_are_those_of_the_slow_way(zoo: Zoo, model: str) -> None:
    for measure in ("pair-likelihood", "pair-modified-likelihood"):
        for variant in VARIANTS:
            scores = assert_agree(
                measure,
                variant,
                zoo.backend(model),
                zoo.reference(model),
                some(model, items.pairs()),
            )
            assert sum(score.skipped is None for score in scores) > len(scores) / 2


@pytest.mark.parametrize("model", ["bert", "roberta", "xlm-roberta"])
def test_within_word_hides_the_later_pieces_of_a_word(zoo: Zoo, model: str) -> None:
    asked = [*items.starter("cat", task="intersentence")[:1], *items.QUIRKY_CATS[::3]]
    backend, slow = zoo.backend(model), zoo.reference(model, within_word=True)
    together = assert_agree("cat-pseudo-likelihood", "sound", backend, slow, asked)
    apart = assert_agree("cat-pseudo-likelihood", "sound", backend, zoo.reference(model), asked)
    assert [score.values for score in together] != [score.values for score in apart]
    for variant in VARIANTS:
        assert_agree("pair-likelihood", variant, backend, slow, items.QUIRKY_PAIRS)


@pytest.mark.parametrize("model", names("masked"))
def test_predictions_are_far_from_uniform(zoo: Zoo, model: str) -> None:
    """Otherwise agreement would mean little."""
    backend = zoo.backend(model)
    encoding = backend.encode("The cook is busy, and so is the nurse.")
    request = MaskedTokens(
        encoding.ids, tuple(((at,), at) for at in range(1, len(encoding.ids) - 1))
    )
    (row,) = rows(backend, {request.key: request}).values()
    assert max(row) - min(row) > 1
