"""Every benchmark has a card with every field filled, and the data that ship are those on the
card."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Card, open_benchmark

NAMES = list(catalog.TABLE["benchmark"])
OURS = ("starter", "custom", "definitional")
MAY_BE_EMPTY = {
    "starter": {"urls", "paper"},
    "definitional": {"urls", "paper", "notice"},
    "custom": {"urls", "paper", "digest", "folder", "files", "counts", "notice"},
}


OF_SOME = {"country", "origin", "sha256", "mirrors", "publishable"}
"""What only sets in other languages, or with a second place, have."""
MOVES = "refs%2Fconvert%2Fparquet"
"""The hub writes this branch again when a set changes; it names no commit in advance."""
NO_SECOND_PLACE = {
    "ethos": "the hub's copy has labels of 0 and 1 instead of scores, other copies were changed",
    "crows-pairs-dutch": "no other copy is known",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_filled(name: str) -> None:
    card = catalog.find("benchmark", name).card
    allowed = MAY_BE_EMPTY.get(name, {"notice", "urls"}) | OF_SOME
    assert {field.name for field in fields(Card) if not getattr(card, field.name)} <= allowed
    texts = [value for value in vars(card).values() if isinstance(value, str)]
    assert not any(re.search(r"\b(TODO|TBD|FIXME|XXX)\b", text) for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_a_card_can_be_checked(name: str) -> None:
    card = catalog.find("benchmark", name).card
    assert card.name == name
    assert re.fullmatch(r"[0-9a-f]{64}", card.digest) or name == "custom"
    assert all(url.startswith("https://") for url in card.urls)
    assert len(card.urls) in (0, len(card.files))
    assert 2010 <= card.year <= 2030
    assert card.paper.startswith(("doi:", "arXiv:")) or name in OURS


@pytest.mark.parametrize("name", catalog.names("benchmark"))
def test_urls_are_pinned_to_a_whole_commit_and_have_a_second_place(name: str) -> None:
    card = catalog.find("benchmark", name).card
    assert all(re.search(r"^https://.*/[0-9a-f]{40}/", url) for url in card.urls)
    assert all(re.search(rf"^https://.*/([0-9a-f]{{40}}|{MOVES})/", url) for url in card.mirrors)
    assert card.digest or not card.mirrors
    assert bool(card.urls) == bool(card.mirrors) or name in NO_SECOND_PLACE


@pytest.mark.parametrize(
    "name", [name for name in NAMES if catalog.find("benchmark", name).packaged]
)
def test_packaged_data_are_those_on_the_card(name: str) -> None:
    found = open_benchmark(catalog.find("benchmark", name))
    assert found.digest == found.card.digest
    assert found.as_released
    assert {shape: len(items) for shape, items in found.shapes.items()} == dict(found.card.counts)


@pytest.mark.parametrize("name", NAMES)
def test_every_shape_of_a_card_has_a_known_measure_or_is_extra(name: str) -> None:
    source = catalog.find("benchmark", name)
    assert source.measures or set(source.card.counts) == {
        "comment"
    }  # which are asked about in words
    assert all(
        catalog.has("method", measure)
        for measures in source.measures.values()
        for measure in measures
    )
