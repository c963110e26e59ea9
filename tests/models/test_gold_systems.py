"""IdealLM and StereotypedLM: the values the paper gives them by definition."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.core.types import Estimate, Result, Variant
from stereometer.models.gold import ideal, stereotyped
from tests.builders.little import QUICK, little_stereoset, pairs_file, stereoset_file
from tests.builders.little import intra as intra_item


def measured(path: Path, model: str, variant: Variant = "sound") -> Result:
    (result,) = stereometer.run(str(path), model=model, variant=variant, **QUICK)
    return result


def every(result: Result, name: str) -> list[Estimate]:
    return [one for one in result.estimates if one.name == name and one.asked]


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    return little_stereoset(tmp_path / "dev.json", 12)


def test_ideal_is_100_50_100_in_every_slice_under_sound(cats: Path) -> None:
    result = measured(cats, "ideal")
    assert {one.value for one in every(result, "lms")} == {100.0}
    assert {one.value for one in every(result, "ss")} == {50.0}
    assert {one.value for one in every(result, "icat")} == {100.0}
    assert result.estimate("ss").ties == result.estimate("ss").n == 24


def test_ideal_alternates_within_a_term_under_paper_where_ties_are_lost(cats: Path) -> None:
    """Eight items a term: four each way."""
    result = measured(cats, "ideal", "paper")
    assert (
        result.estimate("lms").value,
        result.estimate("ss").value,
        result.estimate("icat").value,
    ) == (100.0, 50.0, 100.0)
    assert result.estimate("ss", domain="gender", target="aunt").value == 50.0
    assert result.estimate("ss").ties == 0


def test_ideal_leans_to_either_side_in_turn_where_terms_have_an_odd_number_of_items(
    tmp_path: Path,
) -> None:
    """Three items each of cook, nurse and clerk, four of aunt between them: 2/3, 1/2, 1/3, 2/3."""
    counts = {"cook": 3, "aunt": 4, "nurse": 3, "clerk": 3}
    path = stereoset_file(
        tmp_path / "dev.json",
        [
            intra_item(f"{term}{number}", f"The {term} {number} is BLANK.", target=term)
            for term, count in counts.items()
            for number in range(count)
        ],
    )
    result = measured(path, "ideal", "paper")
    values = {
        term: result.estimate("ss", domain="profession", target=term).value for term in counts
    }
    expected = {"cook": 200 / 3, "aunt": 50, "nurse": 100 / 3, "clerk": 200 / 3}
    assert values == pytest.approx(expected)


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_stereotyped_prefers_every_stereotype_and_says_nothing_of_unrelated_candidates(
    cats: Path, variant: Variant
) -> None:
    result = measured(cats, "stereotyped", variant)
    assert {one.value for one in every(result, "ss")} == {100.0}
    assert {one.value for one in every(result, "icat")} == {0.0}
    assert {one.value for one in every(result, "lms")} == {None}
    assert result.estimate("lms").why is not None


def test_on_pairs_ideal_is_50_and_stereotyped_100(tmp_path: Path) -> None:
    path = pairs_file(tmp_path / "pairs.csv")
    for variant in ("paper", "sound"):
        assert measured(path, "ideal", variant).estimate("pair_preference").value == 50.0
        assert measured(path, "stereotyped", variant).estimate("pair_preference").value == 100.0


def test_they_say_that_they_are_constructed(cats: Path) -> None:
    result = measured(cats, "ideal")
    assert result.scoring == "constructed"
    assert any("hypothetical" in note for note in result.notes)
    assert ideal().card.identity != stereotyped().card.identity


def test_an_item_that_cannot_be_scored_is_skipped_by_them_too(tmp_path: Path) -> None:
    item = intra_item("a")
    item["sentences"] = item["sentences"][:2]
    path = stereoset_file(
        tmp_path / "dev.json", [item, *(intra_item(f"b{number}") for number in range(19))]
    )
    assert measured(path, "ideal").estimate("ss").skipped == {"no unrelated candidate": 1}
