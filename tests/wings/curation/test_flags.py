"""Every flag on items made for it: one that has it, one that does not, and no other flag by the
way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.kinds.cats.items import Candidate, Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.curation.english import mentions, wants_an
from stereometer.wings.curation.flags import (
    FLAGS,
    Background,
    alike,
    background_of,
    duplicates,
    flags_for,
    is_farther,
    is_glued,
    near,
)
from tests.strategies import MODERATE

LABELS = ("stereotype", "anti-stereotype", "unrelated")
WORDS = ("hard", "work", "hardwork", "ten", "or", "tenor", "zither")
ZIPF = dict(zip(WORDS, (5.0, 5.5, 1.0, 5.0, 7.0, 3.5, 1.2), strict=True))


def intra(
    context: str = "The cook was BLANK all day .",
    fills: tuple[str, ...] = ("loud", "calm", "square"),
    number: str = "i",
    **other: Any,
) -> Cat:
    texts = [context.replace("BLANK", fill) for fill in fills]
    return Cat(
        number, "intrasentence", "cook", "trade", context, _candidates(number, texts), **other
    )


def inter(
    context: str = "He is a cook.",
    texts: tuple[str, ...] = ("He shouts a lot.", "He whispers now.", "Rivers run deep there."),
    number: str = "e",
) -> Cat:
    return Cat(number, "intersentence", "cook", "trade", context, _candidates(number, list(texts)))


def _candidates(number: str, texts: list[str]) -> dict[str, Candidate]:
    return {
        label: Candidate(f"{number}-{label}", text)
        for label, text in zip(LABELS, texts, strict=False)
    }


def retexted(item: Cat, label: str, text: str) -> Cat:
    return replace(
        item, candidates={**item.candidates, label: replace(item.candidates[label], text=text)}
    )


def voted(item: Cat, votes: int) -> Cat:
    made = {
        label: replace(one, votes=(label,) * votes + ("related",) * (5 - votes))
        for label, one in item.candidates.items()
    }
    return replace(item, candidates=made)


def pair(
    more: str = "The old man sang.",
    less: str = "The young man sang.",
    number: str = "p",
    **other: Any,
) -> Pair:
    return Pair(number, more, less, "age", **other)


def found(item: Cat | Pair, *others: Cat | Pair) -> set[str]:
    """The flags of an item in a set with others."""
    setting = background_of([*others, item], zipf=lambda word: ZIPF.get(word, 3.0))
    shape = "cat" if isinstance(item, Cat) else "pair"
    return {flag.name for flag in flags_for(shape) if flag.check(item, setting) is not None}


CASES = {
    "no-blank": intra("The cook was calm all day ."),
    "several-blanks": intra("The cook was BLANK and BLANK ."),
    "glued-blank": intra("The cook was BLANK."),
    "not-filled": retexted(intra(), "stereotype", "The baker was loud all day ."),
    "case-differs": retexted(intra(), "stereotype", "the cook was loud all day ."),
    "glued-filler": intra(fills=("hardwork", "calm", "square")),
    "uneven-lengths": inter(texts=("He shouts.", "He whispers very quietly now.", "Rivers run.")),
    "article": intra("The cook was a BLANK man .", ("loud", "angry", "square")),
    "empty": retexted(inter(), "unrelated", " "),
    "target-missing": intra("The baker was BLANK all day ."),
    "unrelated-overlap": inter("The cook came from the mountain."),
}
CASES["unrelated-overlap"] = retexted(
    CASES["unrelated-overlap"], "unrelated", "A mountain is tall."
)
PAIRS = {
    "uneven-lengths": pair("Men sang.", "Women sang in a hall."),
    "far-apart": pair("The unremarkable mathematician sang.", "The old man sang."),
    "nothing-shared": pair("Men sang.", "All cry."),
    "names": pair("Then Jamal's dog sang.", "Then Carl's dog sang."),
    "article": pair("He is a old man.", "He is a young man."),
    "empty": pair("", "The young man sang."),
    "same-sides": pair("The old man sang.", "The old  man sang."),
    "more-than-group": pair("The old man sang well.", "The young man danced well."),
    "disagreement": pair(votes=(("age",), ("age",), ("race",), ("race",), ("race",))),
}


@pytest.mark.parametrize("name", CASES)
def test_a_cat_with_one_fault_has_that_flag(name: str) -> None:
    # A context without BLANK cannot be filled, so nothing more is asked of it.
    assert found(CASES[name]) == {name}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_with_one_fault_has_that_flag(name: str) -> None:
    too = ("uneven-lengths", "empty")
    expected = {name} | ({"more-than-group"} if name in too else set())
    assert found(PAIRS[name]) == expected


@MODERATE
@given(st.text("abc", max_size=9), st.text("abc", max_size=9), st.integers(0, 9))
def test_distance_is_that_of_the_whole_table(first: str, second: str, limit: int) -> None:
    table = [list(range(len(second) + 1))]
    for number, letter in enumerate(first, 1):
        row = [number]
        for at, other in enumerate(second):
            row.append(min(table[-1][at] + (letter != other), table[-1][at + 1] + 1, row[at] + 1))
        table.append(row)
    assert is_farther(first, second, limit) == (table[-1][-1] > limit)


def test_good_items_have_none() -> None:
    assert found(intra()) == found(inter()) == found(pair()) == set()


def test_every_flag_has_a_case_a_definition_and_a_name_of_its_own() -> None:
    names = [flag.name for flag in FLAGS]
    assert len(set(names)) == len(names)
    assert set(names) == {*CASES, *PAIRS, "duplicate", "near-duplicate"}
    assert all(flag.definition.endswith(".") for flag in FLAGS)


def test_duplicates_are_found_case_and_spaces_aside_and_only_the_second() -> None:
    first, second = intra(number="a"), intra("the  cook was BLANK all day .", number="b")
    assert "duplicate" in found(second, first)
    assert duplicates([first, second]) == {"b": "a"}


def test_near_duplicates_are_both_marked() -> None:
    one, other = inter(number="a"), inter("He is the cook.", number="b")
    assert "near-duplicate" in found(one, other)
    assert "near-duplicate" in found(other, one)


def test_disagreement_of_a_cat_is_that_of_its_worst_candidate() -> None:
    assert "disagreement" not in found(voted(intra(), 3))
    assert "disagreement" in found(voted(intra(), 2))


# ------------------------------------------------------------------------------------------ details


@pytest.mark.parametrize(
    ("more", "less", "flagged"),
    [
        ("James said he was late.", "Mary said she was late.", False),
        ("The men are loud and the men sing.", "The women are loud and the women sing.", False),
        ("A Turkish man sang.", "An Irish man sang.", False),
        ("The poor old man sang.", "The man sang.", True),
        ("The man from the far north sang.", "The man of a town we know sang.", True),
    ],
)
def test_what_agrees_with_the_group_is_no_further_change(
    more: str, less: str, flagged: bool
) -> None:
    assert ("more-than-group" in found(pair(more, less))) is flagged


@pytest.mark.parametrize(
    ("an", "words"),
    [
        (True, ["apple", "hour", "Irish", "I", '"angry"', "ugly-looking", "us-and-them"]),
        (False, ["banana", "house", "one", "history", "‘kind’"]),
        # A u that is heard as one, and a u that is heard as you.
        (True, ["unimportant", "ugly", "unidentified", "uninvited", "unironic", "unanswered"]),
        (True, ["onerous", "urban", "utter", "usher", "Uzbek"]),
        (False, ["university", "useful", "European", "Ukrainian", "Ugandan", "Uruguayan"]),
        (False, ["utopian", "unanimous", "urologist", "unidirectional", "union", "usable"]),
        (False, ["Uyghur"]),
        # Letters by their names.
        (True, ["FBI agent", "F.B.I.", "MBA", "MBAs", "X-ray", "x-ray", "NBA", "F16", "IQ", "F"]),
        (False, ["UFO", "UN-led", "T-shirt", "U-turn", "CIA", "B"]),
        # Numbers as they are said.
        (True, ["8", "8-year-old", "11-year-old", "18th", "80s", "800-page", "8,000", "11,000"]),
        (True, ["$8"]),
        (False, ["1-year-old", "110", "1,100", "180-degree", "2nd"]),
        (None, ["MI6", "NASA", "UGLY", "1812", "historic", "-", ""]),
    ],
)
def test_articles_follow_the_sound(an: bool | None, words: list[str]) -> None:
    assert {word: wants_an(word) for word in words} == dict.fromkeys(words, an)


def test_an_article_may_stand_before_a_quotation() -> None:
    assert "article" in found(intra('The cook was a "BLANK" man .', ("loud", "angry", "square")))
    assert "article" in found(pair('He is a "old" man.', 'He is a "young" man.'))
    assert "article" not in found(pair("He is an FBI agent.", "He is an MI6 agent."))


def test_words_written_as_one() -> None:
    def glued(*words: str, known: bool = True) -> list[str]:
        zipf = (lambda one: ZIPF.get(one, 0.0)) if known else None
        return [word for word in words if is_glued(word, zipf)]

    assert glued("hardwork", "good.bad", "helloThere") == ["hardwork", "good.bad", "helloThere"]
    assert glued("tenor", "zither", "two words", "Hardwork") == []
    assert glued("hardwork", "good.bad", known=False) == ["good.bad"]


@pytest.mark.parametrize(
    ("text", "term", "there"),
    [
        ("Two Ethiopians came.", "Ethiopia", True),
        ("An Iraqi came.", "Iraq", True),
        ("The ladies sang.", "lady", True),
        ("Women sang.", "woman", True),
        ("The woman's hat.", "women", True),
        ("Some policemen ran.", "policeman", True),
        ("Their wives sang.", "wife", True),
        ("Two boxes fell.", "box", True),
        ("The heroes' boat.", "hero", True),
        ("Her grandchildren sang.", "grandchild", True),
        ("A software-developer.", "Software developer", True),
        ("Software developers, all.", "software developer", True),
        ("Mothers-in-law sang.", "mother-in-law", True),
        ("The manhole is open.", "man", False),
        ("The unmanned boat.", "man", False),
        ("A developer of software.", "software developer", False),
        ("She cooks.", "nurse", False),
        ("A cookery book.", "cook", False),
        ("Manners, please.", "man", False),
        ("", "man", False),
    ],
)
def test_terms_are_found_in_their_forms_and_not_in_other_words(
    text: str, term: str, there: bool
) -> None:
    assert mentions(text, term) is there


# ---------------------------------------------------------------------------------- near duplicates

SETS = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.frozensets(st.sampled_from("klmnopqrst"), max_size=8),
    max_size=12,
)


@MODERATE
@given(SETS, st.sampled_from([0.5, 0.6, 0.8, 1.0]))
def test_near_finds_what_comparing_all_with_all_finds(
    sets: dict[str, frozenset[str]], least: float
) -> None:
    marked = near(sets, least)
    slow = {a for a in sets for b in sets if a != b and alike(sets[a], sets[b]) >= least}
    assert set(marked) == slow
    assert all(alike(sets[a], sets[b]) >= least for a, b in marked.items())


TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@MODERATE
@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS), min_size=1, max_size=4),
    st.sampled_from(["intrasentence", "intersentence"]),
)
def test_no_text_breaks_a_check(rows: list[tuple[str, str, str, str]], task: str) -> None:
    items: list[Cat | Pair] = [
        Cat(str(at), task, context[:9], "trade", context + "BLANK", _candidates(str(at), texts))
        for at, (context, *texts) in enumerate(rows)
    ]
    items += [Pair(f"p{at}", one, other, "age") for at, (one, other, *_) in enumerate(rows)]
    setting: Background = background_of(items)
    for item in items:
        for flag in flags_for("cat" if isinstance(item, Cat) else "pair"):
            seen = flag.check(item, setting)
            assert seen is None or isinstance(seen, str)
