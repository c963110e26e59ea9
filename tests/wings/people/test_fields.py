"""Whatever a form is sent, each field gives a value it allows or a complaint."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stereometer.wings.people.fields import (
    ChoiceField,
    Form,
    FormField,
    NumberField,
    ScaleField,
    TextField,
    tidy,
)

FIELDS: list[FormField] = [
    ScaleField("scale", "cold", "warm"),
    ChoiceField("choice", "Which?", (("a", "A"), ("b", "B"))),
    ChoiceField("optional", "Which?", (("a", "A"),), required=False),
    TextField("text", "Write", 20),
    NumberField("number", "How many?", 18, 110),
]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from([field.name for field in FIELDS]), st.text(max_size=60)))
def test_hostile_forms_give_allowed_values_or_complaints(sent: dict[str, str]) -> None:
    values, complaints = Form(FIELDS).read(sent)
    assert set(values) | set(complaints) == {field.name for field in FIELDS}
    assert 0 <= values.get("scale", 0) <= 100
    assert values.get("choice", "a") in ("a", "b")
    assert values.get("optional") in (None, "a")
    text = values.get("text", "a")
    assert 0 < len(text) <= 20
    assert text == tidy(text)
    assert text[0] not in "=+-@"
    assert values.get("number") is None or 18 <= values["number"] <= 110


@pytest.mark.parametrize("text", ["", "101", "-1", "1e2", "٥", "50.5", "050 "])
def test_ratings_are_whole_numbers_from_0_to_100(text: str) -> None:
    if text == "050 ":
        assert ScaleField("s", "a", "b").read(text.strip()) == 50
        return
    with pytest.raises(ValueError, match="rating"):
        ScaleField("s", "a", "b").read(text)


def test_control_and_invisible_characters_leave_a_text() -> None:
    assert tidy("a\x1b[31m\u202eb\u200bc\nd\x00") == "a [31mbc d"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("می\u200cخواهم", True),  # Persian: a joiner inside a word is spelling
        ("क्\u200dष", True),
        ("qui\u200cet", False),
        ("\u200dक", False),
        ("क\u200d ", False),
    ],
)
def test_joiners_stay_where_they_are_spelling(text: str, kept: bool) -> None:
    assert (tidy(text) == text) == kept


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@x", "＝1+1"])
def test_a_text_that_a_table_program_would_run_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="odd_start"):
        TextField("t", "Write").read(text)
