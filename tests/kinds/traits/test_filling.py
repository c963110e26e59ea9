"""The sentence of an intrasentence candidate and where its filler stands."""

from __future__ import annotations

import pytest
from hypothesis import given

from stereometer.core.types import Skip, Variant
from stereometer.kinds.cats.items import Candidate, Cat
from stereometer.kinds.cats.rules import filled
from tests.strategies import MODERATE, TEXT


def cat(context: str, sentence: str) -> Cat:
    return Cat(
        "i",
        "intrasentence",
        "cook",
        "profession",
        context,
        {"stereotype": Candidate("s", sentence)},
    )


@pytest.mark.parametrize(
    ("context", "sentence", "filler", "spans"),
    [
        ("The cook is BLANK.", "The cook is loud.", "loud", [(12, 16)]),
        ("BLANK cooks sing.", "Loud cooks sing.", "Loud", [(0, 4)]),
        ("The cook BLANKed.", "The cook shouted.", "shout", [(9, 14)]),
        ("sometimes.BLANK", "sometimes.loud", "loud", [(10, 14)]),
        ("He is BLANK!p", "He is loud!p", "loud", [(6, 10)]),
        ("A (BLANK) cook. [x]*", "A (very loud) cook. [x]*", "very loud", [(3, 12)]),
        ("BLANK and BLANK again.", "Loud and loud again.", "Loud", [(0, 4), (9, 13)]),
        ("He is BLANK", "He is loud.", "loud.", [(6, 11)]),
    ],
)
def test_the_filler_is_found_wherever_the_blank_stands(
    context: str, sentence: str, filler: str, spans: list[tuple[int, int]]
) -> None:
    item = cat(context, sentence)
    text, found = filled(item, "stereotype", "sound")
    assert item.filler("stereotype") == filler
    assert found == spans
    assert all(text[a:b] == filler for a, b in found)


def test_sound_keeps_the_capitals_of_the_context_and_paper_the_sentence_as_released() -> None:
    item = cat("The Cook is BLANK.", "the cook is loud.")
    assert filled(item, "stereotype", "sound") == ("The Cook is loud.", [(12, 16)])
    assert filled(item, "stereotype", "paper") == ("the cook is loud.", [(12, 16)])


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ("The cook is BLANK.", "The cook was loud."),
        ("The cook is BLANK.", "The cook is ."),
        ("The cook is BLANK.", ""),
        ("The cook is loud.", "The cook is loud."),
        ("BLANK and BLANK.", "loud and calm."),
    ],
)
@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_a_sentence_that_is_not_the_context_filled_is_skipped(
    context: str, sentence: str, variant: Variant
) -> None:
    with pytest.raises(Skip, match="not the context with its blank filled"):
        filled(cat(context, sentence), "stereotype", variant)


PARTS = TEXT.filter(lambda text: "BLANK" not in text and "blank" not in text.lower())


@MODERATE
@given(PARTS, PARTS, TEXT.filter(len))
def test_filling_a_blank_and_finding_its_filler_is_there_and_back(
    before: str, after: str, filler: str
) -> None:
    """Among several ways to read the sentence, whichever is found gives the sentence back."""
    item = cat(f"{before}BLANK{after}", f"{before}{filler}{after}")
    text, ((start, end),) = filled(item, "stereotype", "sound")
    assert text == f"{before}{filler}{after}"
    assert text[start:end] == filler


def test_a_digit_glued_to_the_second_of_two_blanks() -> None:
    assert cat("BLANK or BLANK2.", "loud or loud2.").filler("stereotype") == "loud"
