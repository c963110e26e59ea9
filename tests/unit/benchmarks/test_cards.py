"""Every benchmark has a card with every field filled, and the data that ship are those on the
card."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from stereometer import catalog
from stereometer.benchmarks.benchmark import Card, load_card
from stereometer.benchmarks.folders import open_benchmark

NAMES = list(catalog.TABLE["benchmark"])
OURS = ("starter", "custom", "definitional")
MAY_BE_EMPTY = {
    "starter": {"urls", "paper"},
    "definitional": {"urls", "paper", "notice"},
    "custom": {"urls", "paper", "digest", "folder", "files", "counts", "notice"},
}


OF_SOME = {"country", "origin", "sha256", "mirrors", "publishable"}
"""What only sets in other languages, or with a second place, have."""
SHORT = ("ethos",)
"""Whose whole commit is not known."""


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_filled(name: str) -> None:
    card = load_card(name)
    allowed = MAY_BE_EMPTY.get(name, {"notice", "urls"}) | OF_SOME
    assert {field.name for field in fields(Card) if not getattr(card, field.name)} <= allowed
    texts = [value for value in vars(card).values() if isinstance(value, str)]
    assert not any(re.search(r"\b(TODO|TBD|FIXME|XXX)\b", text) for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_a_card_can_be_checked(name: str) -> None:
    card = load_card(name)
    assert card.name == name
    assert re.fullmatch(r"[0-9a-f]{64}", card.digest) or name == "custom"
    assert all(url.startswith("https://") for url in card.urls)
    assert len(card.urls) in (0, len(card.files))
    assert 2010 <= card.year <= 2030
    assert card.paper.startswith(("doi:", "arXiv:")) or name in OURS


@pytest.mark.parametrize("name", NAMES)
def test_urls_are_pinned_to_a_whole_commit(name: str) -> None:
    """A second place may be of another layout and move on: what comes from it is the digest's."""
    card = load_card(name)
    digits = 7 if name in SHORT else 40
    assert all(re.search(rf"/[0-9a-f]{{{digits}}}/", url) for url in card.urls)
    assert all(url.startswith("https://") for url in card.mirrors)
    assert card.digest or not card.mirrors


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
