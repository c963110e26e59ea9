"""How many raters a survey takes, and what is polarised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stereometer.core.errors import UsageError
from stereometer.core.stats.agreement import polarised
from stereometer.kinds.traits.abc.files import read_groups, read_traits
from stereometer.kinds.traits.abc.items import data_file
from stereometer.kinds.traits.align.names import Names
from stereometer.kinds.traits.align.ratings import read_ratings
from stereometer.wings.people.new import new_study
from stereometer.wings.people.progress import (
    PUBLISHED,
    RATERS,
    check_document,
    precision,
    spread_of,
)
from tests.builders.studies import small_survey
from tests.conftest import released

TABLE = {
    5: (27.2, 0.40, 0.52, 0.65), 10: (15.6, 0.52, 0.64, 0.74), 20: (10.2, 0.64, 0.74, 0.81),
    40: (7.0, 0.74, 0.81, 0.87), 80: (4.9, 0.81, 0.86, 0.90),
}  # fmt: skip
"""A planning table made by simulation: half width, split half, panel against panel, best."""


@pytest.mark.golden
def test_the_planning_table_comes_out_of_the_released_ratings() -> None:
    """Half widths to the digit; agreement by formula within .015 of the simulated figures.

    By formula five raters' halves agree at .39 where the table has .40, and .74 and .87 are .734
    and .864; the data themselves have .517 and .636 for 10 and 20 raters, as the formula does.
    """
    names = Names(read_groups(data_file("groups.csv")), read_traits(data_file("traits.csv")))
    spread = spread_of(read_ratings(released("abc/data_full.json"), names))
    assert spread.within == pytest.approx(PUBLISHED.within, abs=5e-4)
    assert spread.wide == pytest.approx(PUBLISHED.wide, abs=5e-4)
    assert spread.single_rater == pytest.approx(PUBLISHED.single_rater, abs=5e-5)
    for raters in RATERS:
        row, printed = precision(raters, spread), TABLE[raters]
        assert round(row.half_width, 1) == printed[0]
        assert (row.split_half, row.panel, row.best) == pytest.approx(printed[1:], abs=0.015)
    assert precision(10, spread).split_half == pytest.approx(0.517, abs=5e-4)
    assert precision(20, spread).split_half == pytest.approx(0.636, abs=5e-4)


def test_within_5_points_takes_76_raters_or_126_where_people_differ_most(tmp_path: Path) -> None:
    study = new_study("survey", tmp_path / "s")
    rows = check_document(study, within=5)["wanted"]
    assert [row["raters"] for row in rows] == [76, 126]
    assert rows[0]["people"] == 25 * 76 / 4
    assert rows[0]["paid"] == 883  # 133 of 247 passed, and all were paid
    assert rows[0]["cost"] == 883 * study.config.pay.complete


def test_a_pilot_with_groups_of_ones_own_can_be_planned_from(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s")
    groups = study.folder / "groups.csv"
    groups.write_text(groups.read_text(encoding="utf-8") + "bakers,bakers,work\n", encoding="utf-8")
    rng = np.random.default_rng(1)
    rows = [
        f"p{at},{group},powerless - powerful,{value:.0f}"
        for group in ("bakers", "man")
        for at, value in enumerate(np.clip(rng.normal(50, 10, 30), 0, 100))
    ]
    pilot = tmp_path / "pilot.csv"
    pilot.write_text("participant,group,trait,rating\n" + "\n".join(rows), encoding="utf-8")
    document = check_document(type(study)(study.folder, study.config).checked(), pilot)
    assert document["wanted"][0]["raters"] < 30


def test_only_surveys_are_planned_by_intervals(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Leave out --pilot"):
        check_document(new_study("write-cats", tmp_path / "w"), within=5)


# --------------------------------------------------------------------------------------- polarised

ONE_PEAK = {
    "at random": lambda rng, n: rng.uniform(0, 100, n),
    "middle": lambda rng, n: rng.normal(50, 22, n),
    "wide": lambda rng, n: rng.normal(50, 40, n),
    "peak at the end": lambda rng, n: 100 * rng.beta(1, 1.5, n),
    "half at 0, the others anywhere": lambda rng, n: rng.uniform(0, 100, n) * rng.integers(0, 2, n),
}


@pytest.mark.parametrize("name", ONE_PEAK)
@pytest.mark.parametrize("raters", [10, 20, 40, 80])
def test_one_peak_is_hardly_ever_marked(name: str, raters: int) -> None:
    rng = np.random.default_rng(7)
    marked = [
        polarised(np.clip(np.round(ONE_PEAK[name](rng, raters)), 0, 100)) for _ in range(1000)
    ]
    assert np.mean(marked) <= 0.05


@pytest.mark.parametrize(("raters", "least"), [(20, 0.6), (40, 0.95)])
def test_two_camps_are_marked(raters: int, least: float) -> None:
    rng = np.random.default_rng(8)

    def camps() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        side = rng.permutation(np.arange(raters) % 2)
        return np.clip(np.round(20 + 60 * side + rng.normal(0, 10, raters)), 0, 100)

    assert np.mean([polarised(camps()) for _ in range(400)]) >= least
    assert polarised(np.repeat([0.0, 100.0], 5))
    assert not polarised(np.repeat([0.0, 100.0], 4)), "eight raters are too few"
