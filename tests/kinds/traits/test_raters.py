"""Ratings by what raters say of themselves (Cao et al. 2022, Tables A14 to A18)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stereometer
from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.stored import Run
from tests.builders.commands import call
from tests.builders.ratings import TRAITS
from tests.builders.trait_runs import GROUPS, stored_run
from tests.conftest import released

PEOPLE = 24
RATED = GROUPS[:6]


def means(group: str, trait: str, woman: bool) -> float:
    """Women and men see groups the opposite way."""
    number = (7 * RATED.index(group) + 5 * TRAITS.index(trait)) % 16
    return 20 + 4 * number if woman else 80 - 4 * number


def row_of(person: int) -> dict[str, str]:
    race = "white" if person < 16 else "black" if person < 22 else "asian"
    return {
        "participant": f"p{person}",
        "gender": "woman" if person % 2 else "man",
        "race": race if race != "asian" else "(fewer than five)",
    }


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that sees groups as women do, and the ratings of both."""
    folder = tmp_path_factory.mktemp("raters")
    rng = np.random.default_rng(3)
    rows = [
        {
            "participant": f"p{person}",
            "group": group,
            "trait": trait,
            "rating": np.clip(rng.normal(means(group, trait, bool(person % 2)), 4), 0, 100),
        }
        for person in range(PEOPLE)
        for group in RATED
        for trait in TRAITS
        if group != "man" or person < 20
    ]
    write(folder / "ratings.csv", rows)
    write(folder / "demographics.csv", [row_of(person) for person in range(PEOPLE)])
    stored_run(folder / "run", lambda _, group, trait: means(group, trait, True), groups=RATED)
    return folder


def aligned(folder: Path, **options: Any) -> Run:
    return stereometer.align(
        folder / "run", ratings=folder / "ratings.csv", resamples=200, **options
    )


@pytest.mark.long
def test_only_some_raters_count(folder: Path) -> None:
    women = aligned(folder, raters=["gender=woman"]).result
    men = aligned(folder, raters=["gender=man"]).result
    assert (women.estimate("tau").value or 0) > 0.8
    assert (men.estimate("tau").value or 0) < -0.8
    assert women.settings["raters"] == ["gender=woman"]


def test_raters_stand_beside_each_other_with_tau_and_means(folder: Path) -> None:
    result = aligned(folder, by=["gender"]).result
    for label, side in (("gender=woman", 1), ("gender=man", -1)):
        tau = result.estimate("tau", raters=label)
        assert (tau.value or 0) * side > 0.8
        assert tau.low is not None
        cell = result.estimate("human_mean", raters=label, group="Black", trait=TRAITS[0])
        assert cell.value == pytest.approx(means("Black", TRAITS[0], side > 0), abs=4)
        assert (cell.low or 0) < (cell.value or 0) < (cell.high or 0)
        assert result.estimate("tau", raters=label, group="Black").value is not None


@pytest.mark.long
def test_several_conditions_must_all_hold(folder: Path) -> None:
    """White men and white women are Tables A16 and A17."""
    result = aligned(folder, by=["race", "gender"]).result
    labels = {e.slice["raters"] for e in result.estimates if "raters" in e.slice}
    assert "race=white, gender=man" in labels
    both = aligned(folder, raters=["race=white", "gender=man"]).result
    cell = {"group": "Black", "trait": TRAITS[1]}
    same = result.estimate("human_mean", raters="race=white, gender=man", **cell)
    assert both.estimate("human_mean", **cell).value == same.value


@pytest.mark.long
def test_fewer_than_five_are_withheld_and_named(folder: Path) -> None:
    """Four of six black raters rated men, and two people's race is withheld altogether."""
    result = aligned(folder, by=["race"]).result
    slices = [estimate.slice for estimate in result.estimates]
    assert not any("fewer" in slice_.get("raters", "") for slice_ in slices)
    assert {"raters": "race=black", "group": "man"} not in slices
    assert any("Withheld, fewer than 5 raters (race=black): man." in note for note in result.notes)
    few = aligned(folder, by=["race", "gender"]).result
    assert (
        few.estimate("tau", raters="race=black, gender=man").why == "withheld: fewer than 5 raters"
    )
    with pytest.raises(DataError, match="larger group"):
        aligned(folder, raters=["race=black", "gender=man"])


@pytest.mark.long
def test_opposite_camps_are_marked_with_their_spread(folder: Path) -> None:
    result = aligned(folder).result
    spreads = [e for e in result.estimates if e.name == "human_spread"]
    apart = {
        (e.slice["group"], e.slice["trait"])
        for e in spreads
        if abs(means(e.slice["group"], e.slice["trait"], True) - 50) >= 26
    }
    marked = {(e.slice["group"], e.slice["trait"]) for e in spreads if e.verdict == "polarised"}
    assert apart <= marked
    assert all((e.value or 0) > 10 for e in spreads if e.verdict)
    women = aligned(folder, raters=["gender=woman"]).result
    assert not [e for e in women.estimates if e.name == "human_spread" and e.verdict]
    shown = call("show", aligned(folder).folder).out
    assert "polarised in" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"raters": ["gender"]}, "gender=woman"),
        ({"raters": ["gender=unicorn"]}, "The answers are man, woman"),
        ({"by": ["genders"]}, "Did you mean gender"),
    ],
)
def test_what_raters_did_not_say_is_refused(
    folder: Path, options: dict[str, list[str]], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        aligned(folder, **options)


def test_ids_that_were_made_disjoint_are_not_joined(folder: Path, tmp_path: Path) -> None:
    rows = [row_of(person) | {"participant": f"d{person}"} for person in range(PEOPLE)]
    with pytest.raises(DataError, match="disjoint on purpose"):
        aligned(folder, by=["race"], demographics=write(tmp_path / "d.csv", rows))


@pytest.mark.golden
def test_the_released_ratings_are_refused(folder: Path) -> None:
    said = call(
        "align", folder / "run", "--ratings", released("abc/data_full.json"), "--by", "race"
    )
    assert said.code != 0
    assert "disjoint on purpose" in said.err
