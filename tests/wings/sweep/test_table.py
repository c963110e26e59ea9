"""The table of readings holds what it says: every way can be asked, and none is there twice."""

from __future__ import annotations

from dataclasses import fields

import pytest

from stereometer.core import catalog
from stereometer.core.shapes.shape import Contrast
from stereometer.wings.sweep.shape import CHOICES
from stereometer.wings.sweep.table import ReadingQuestion, readings
from stereometer.wings.sweep.way import Way

WAYS = [(question, way) for question in readings().question for way in question.way]


@pytest.mark.parametrize(("question", "way"), WAYS, ids=lambda each: each.id)
def test_a_way_is_a_measure_of_the_catalog_with_a_reason(
    question: ReadingQuestion, way: Way
) -> None:
    method = catalog.find("method", way.method)
    assert method.reads == question.shape
    assert way.variant in method.variants
    assert isinstance(catalog.shape(question.shape), Contrast)
    assert question.asks.endswith("?")
    assert way.why.endswith(".")
    if way.within_word:
        assert "within_word" in {field.name for field in fields(method.options)}


def test_ways_of_one_question_differ_in_a_choice() -> None:
    """Otherwise nobody could say what a result turns on."""
    for question in readings().question:
        choices = [tuple(way.choices.items()) for way in question.way]
        assert len(set(choices)) == len(choices), question.id
        assert all(set(way.choices) <= set(CHOICES) for way in question.way)


def test_every_preference_measure_is_a_reading_or_left_out_with_a_reason() -> None:
    """A new measure of CATs or pairs must be decided about."""
    shapes = {question.shape for question in readings().question}
    ours = {
        name for name in catalog.TABLE["method"] if catalog.find("method", name).reads in shapes
    }
    left_out = set(readings().left_out)
    assert ours == {way.method for _, way in WAYS} | left_out
    assert not left_out & {way.method for _, way in WAYS}
