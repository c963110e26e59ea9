"""XLNet-like models: the target hidden by perm_mask and asked by target_mapping, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stereometer.kinds.cats.methods import PARAGRAPH
from tests.builders.models import items
from tests.builders.models.agreement import assert_agree, bound
from tests.builders.models.zoo import Zoo


def assert_half_scored(zoo: Zoo, measure: str, variant: str, asked: Sequence[Any]) -> None:
    scores = assert_agree(measure, variant, zoo.backend("xlnet"), zoo.reference("xlnet"), asked)
    assert sum(score.skipped is None for score in scores) > len(scores) / 2


@pytest.mark.long
def test_context_association_is_that_of_the_slow_way(zoo: Zoo) -> None:
    assert_half_scored(zoo, "cat-likelihood", "sound", items.cats())
    for variant in ("paper", "sound"):
        assert_half_scored(zoo, "cat-pseudo-likelihood", variant, items.cats()[::2])


@pytest.mark.long
def test_pairs_are_those_of_the_slow_way(zoo: Zoo) -> None:
    for measure in ("pair-likelihood", "pair-modified-likelihood"):
        for variant in ("paper", "sound"):
            assert_half_scored(zoo, measure, variant, items.pairs())


def test_within_word_hides_the_later_pieces_of_a_word(zoo: Zoo) -> None:
    assert_agree(
        "pair-likelihood",
        "sound",
        zoo.backend("xlnet"),
        zoo.reference("xlnet", within_word=True),
        items.pairs()[:8],
    )


@pytest.mark.long
def test_paper_asks_at_a_mask_after_a_paragraph_and_says_so(zoo: Zoo) -> None:
    """The model called as it is: no permutation mask, the paragraph as the first of two texts."""
    assert_half_scored(zoo, "cat-likelihood", "paper", items.cats()[::2])
    assert len(PARAGRAPH.split()) == 119 + 1
    measure = bound("cat-likelihood", "paper", zoo.backend("xlnet"))
    _, (note,) = measure.items(items.cats())
    assert "without a permutation mask" in note
    assert bound("cat-likelihood", "sound", zoo.backend("xlnet")).items([]) == ([], ())


def test_one_text_has_the_token_types_that_its_tokenizer_gives(zoo: Zoo) -> None:
    assert set(zoo.backend("xlnet").encode("The cook left.").segments) == {0, 2}
