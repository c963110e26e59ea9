"""What makes two requests, and two models, the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.types import (
    CausalTokens,
    Continuation,
    Estimate,
    Follows,
    MaskedTokens,
    ModelCard,
    Score,
    WholeText,
    digest_of,
)
from tests.strategies import JSON, MODERATE, TEXT


def test_requests_are_the_same_only_if_every_field_is() -> None:
    requests = [
        CausalTokens((1, 2), 0),
        CausalTokens((1, 2), 1),
        CausalTokens((1, 2, 3), 0),
        MaskedTokens((1, 2), (((0,), 0),)),
        MaskedTokens((1, 2), (((0, 1), 0),)),
        MaskedTokens((1, 2), (((0,), 0),), (0, 1)),
        WholeText("a b"),
        Continuation("a", "b"),
        Continuation("a b", ""),
        Follows("a", "b"),
    ]
    assert len({one.key for one in requests}) == len(requests)


@MODERATE
@given(TEXT, TEXT)
def test_a_key_depends_on_the_content_and_not_on_when_it_is_asked(first: str, second: str) -> None:
    one, other = Continuation(first, second), Continuation(first, second)
    early = one.key
    assert early == one.key == other.key
    assert (Continuation(second, first).key == early) == (first == second)


@MODERATE
@given(JSON)
def test_equal_values_have_equal_digests(value: object) -> None:
    assert digest_of(value) == digest_of(value)


@MODERATE
@given(st.dictionaries(TEXT, TEXT, min_size=1))
def test_a_digest_does_not_depend_on_the_order_of_keys(value: dict[str, str]) -> None:
    assert digest_of(value) == digest_of(dict(reversed(value.items())))


def test_an_identity_does_not_depend_on_the_order_of_settings() -> None:
    first, second = (
        ModelCard("n", "f", "b", "d", settings=settings)
        for settings in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert first.identity == second.identity


def test_a_p_says_by_which_test() -> None:
    with pytest.raises(ValueError, match="ss has a p and does not say by which test"):
        Estimate("ss", {}, 57.0, 52.0, 62.0, 9, 9, 0, 50.0, p=0.01)


def test_a_score_is_json_there_and_back() -> None:
    score = Score("i", {"task": "t"}, {"sent_more": -1.5}, None, {"sent_more": "text"})
    assert Score.from_json(score.as_json()) == score
