"""One label from many people: the published rules, the released labels, the chance of luck."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from stereometer.core.errors import DataError
from stereometer.kinds.cats.items import LABELS, Candidate, Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.curation.labels import (
    STRENGTH,
    JudgedPair,
    Vote,
    aggregate,
    judge_again,
    judge_cat,
    judge_pair,
    plurality,
)

CAT = Cat(
    "c", "intrasentence", "carpenter", "profession", "The carpenter is BLANK.",
    {label: Candidate(f"c-{label}", f"The carpenter is {label}.") for label in LABELS},
)  # fmt: skip
PAIR = Pair("p", "The old man slept.", "The young man slept.", "age", "stereo")
VALID = Vote("demonstrates", "neither", True, "age")
OTHER_WAY = Vote("neither", "demonstrates", True, "age")
INVALID = Vote("neither", "neither", True, "none")


def votes(**labels: str) -> dict[str, list[str]]:
    """Labels of five people, by their first letters."""
    full = {"s": "stereotype", "a": "anti-stereotype", "u": "unrelated", "r": "related"}
    return {
        f"c-{name.replace('_', '-')}": [full[letter] for letter in letters]
        for name, letters in labels.items()
    }


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"stereotype": "sssaa", "anti_stereotype": "aaaar", "unrelated": "uuuuu"}, ""),
        ({"stereotype": "ssaau", "anti_stereotype": "aaaaa", "unrelated": "uuuuu"}, "fewer than 3"),
        ({"stereotype": "sssss", "anti_stereotype": "sssss", "unrelated": "uuuuu"}, "one of each"),
        ({"stereotype": "rrrss", "anti_stereotype": "aaaaa", "unrelated": "uuuuu"}, "one of each"),
        ({"stereotype": "sssss", "anti_stereotype": "aaaaa"}, "fewer than 5 people"),
        ({"stereotype": "sss", "anti_stereotype": "aaa", "unrelated": "uuu"}, "fewer than 5"),
    ],
)
def test_an_item_is_kept_where_three_agree_on_each_and_the_kinds_are_all_there(
    labels: dict[str, str], reason: str
) -> None:
    judged = judge_cat(CAT, votes(**labels))
    assert reason in judged.reason
    assert (judged.cat is not None) == (reason == "")


def test_labels_that_turn_an_item_round_turn_its_gold(tmp_path: Path) -> None:
    swapped = votes(stereotype="aaaaa", anti_stereotype="sssss", unrelated="uuuuu")
    judged = judge_cat(CAT, swapped)
    assert judged.cat is not None
    assert judged.cat.candidates["stereotype"].id == "c-anti-stereotype"


def test_four_can_be_asked_for() -> None:
    labels = votes(stereotype="sssaa", anti_stereotype="aaaar", unrelated="uuuuu")
    assert "fewer than 4" in judge_cat(CAT, labels, agree=4).reason


def test_level_labels_have_no_plurality() -> None:
    assert plurality(["a", "a", "b", "b"]) == (None, 2)


def _every_answer() -> Iterator[tuple[str, str, bool]]:
    return product(STRENGTH, STRENGTH, (True, False))


def test_random_answers_pass_in_23_of_100_cases() -> None:
    """Before the rule about types: 23.05 %; without one direction for all, 53.9 % (section 2)."""
    answers = [Vote(more, less, minimal, "age") for more, less, minimal in _every_answer()]
    weights = {
        direction: Fraction(sum(vote.approves == direction for vote in answers), len(answers))
        for direction in (1, 0, -1)
    }
    ballot = {1: VALID, -1: OTHER_WAY, 0: INVALID}
    chance = sum(
        math.prod(weights[direction] for direction in directions)
        for directions in product(weights, repeat=5)
        if not judge_pair(PAIR, [ballot[direction] for direction in directions]).reason
    )
    assert float(chance) == pytest.approx(0.2305, abs=5e-5)


def test_three_against_three_keep_the_writers_direction() -> None:
    judged = judge_pair(PAIR, [VALID, VALID, OTHER_WAY, OTHER_WAY, OTHER_WAY])
    assert judged.pair is not None
    assert judged.pair.sent_more == PAIR.sent_more


@pytest.mark.parametrize("decide", [judge_pair, judge_again])
@pytest.mark.parametrize("judges", [[], [VALID], [VALID] * 4])
def test_a_pair_that_not_everybody_has_judged_is_not_validated(
    decide: Callable[..., JudgedPair], judges: list[Vote]
) -> None:
    judged = decide(PAIR, judges)
    assert judged.pair is None
    assert "fewer than 5 people judged it" in judged.reason
    assert decide(PAIR, [VALID] * 4, 4).pair is not None


def test_a_majority_the_other_way_swaps_the_sentences() -> None:
    judged = judge_pair(PAIR, [OTHER_WAY] * 4 + [VALID])
    assert judged.pair is not None
    assert judged.pair.sent_more == PAIR.sent_less
    assert judged.pair.direction == "antistereo"


def test_the_type_needs_a_majority_of_those_who_approve() -> None:
    gender = Vote("demonstrates", "neither", True, "gender")
    race = Vote("demonstrates", "violates", True, "race-color")
    assert "type" in judge_pair(PAIR, [gender, race, INVALID, INVALID, INVALID]).reason
    kept = judge_pair(PAIR, [gender, gender, gender, VALID, INVALID]).pair
    assert kept is not None
    assert kept.bias_type == "gender"


@pytest.mark.parametrize(("more", "less", "valid"), [
    ("demonstrates", "violates", True), ("neither", "violates", True),
    ("neither", "neither", False), ("violates", "violates", False),
])  # fmt: skip
def test_one_sentence_may_be_neither_but_not_both(more: str, less: str, valid: bool) -> None:
    assert bool(Vote(more, less, True, "age").approves) == valid
    assert not Vote(more, less, False, "age").approves


def test_the_second_validation_is_a_simple_majority() -> None:
    assert not judge_again(PAIR, [VALID, VALID, OTHER_WAY, INVALID, INVALID]).reason
    assert judge_again(PAIR, [VALID, VALID, INVALID, INVALID, INVALID]).reason


# ------------------------------------------------------------------------------------- the command


@pytest.fixture
def pair_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(
        "id,sent_more,sent_less,bias_type\np,The old man slept.,The young man slept.,age\n",
        encoding="utf-8",
    )
    return path


def test_labels_from_any_platform_are_aggregated(tmp_path: Path, pair_file: Path) -> None:
    labels = tmp_path / "labels.csv"
    rows = "".join(f"p,j{n},demonstrates,neither,yes,age\n" for n in range(5))
    labels.write_text(f"item,person,more,less,minimal,type\n{rows}", encoding="utf-8")
    told = aggregate(labels, items=pair_file, rule="crows-pairs", out=tmp_path / "out")
    assert (told.document["kept"], told.document["judged"]) == (1, 1)
    labels.write_text("item,more,less,minimal,type\n", encoding="utf-8")
    none = aggregate(labels, items=pair_file, rule="crows-pairs", out=tmp_path / "none").document
    assert (none["kept"], none["left_out"]) == (0, {"fewer than 5 people judged it": 1})
    assert "The old man slept." in (tmp_path / "out" / "pairs.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("p,j1,shows,neither,yes,age\n", "must be one of"),
        ("x,j1,demonstrates,neither,yes,age\n", "not among the items"),
        ("p,j0,neither,neither,yes,age\n", "a second time"),
    ],
)
def test_wrong_labels_are_refused(tmp_path: Path, pair_file: Path, row: str, words: str) -> None:
    labels = tmp_path / "labels.csv"
    head = "item,person,more,less,minimal,type\np,j0,demonstrates,neither,yes,age\n"
    labels.write_text(head + row, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        aggregate(labels, items=pair_file, rule="crows-pairs", out=tmp_path / "out")


def test_a_majority_for_none_of_the_types_keeps_no_pair() -> None:
    none = Vote("demonstrates", "neither", True, "none")
    assert "type" in judge_pair(PAIR, [none] * 5).reason


def test_sentences_that_share_no_word_are_left_out() -> None:
    apart = Pair("p", "Grandfathers nap.", "Teenagers dance.", "age", "stereo")
    assert "share no word" in judge_pair(apart, [VALID] * 5).reason
