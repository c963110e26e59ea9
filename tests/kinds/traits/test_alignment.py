"""Models held against people: known answers, a slow reference, the pilot, and what a wrong file is
told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.stored import run_of
from stereometer.core.stats.ranks import orders, tau_rows
from stereometer.core.types import Result, Settings
from stereometer.kinds.traits.align.agreement import (
    TEST,
    both,
    choose,
    ends,
    pilot_ratings,
    resampled_people,
    split_half,
)
from stereometer.kinds.traits.align.align import align_run
from stereometer.kinds.traits.align.estimates import another_panel, best_possible
from stereometer.kinds.traits.align.names import Names
from stereometer.kinds.traits.align.profile import AlignmentSettings, profile_of
from stereometer.kinds.traits.align.ratings import Ratings, differing, read_ratings
from tests.builders.commands import assert_refused, call
from tests.builders.ratings import DEFAULT, TRAITS, two_sided
from tests.builders.stored import only, sealed
from tests.builders.trait_runs import GROUPS, SETTINGS, Value, stored_run, synthetic_ratings
from tests.conftest import released

Means = dict[tuple[str, str], float]
NAMES = Names(DEFAULT.groups, DEFAULT.traits)


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    return synthetic_ratings(tmp_path / "ratings.json", two_sided())


@pytest.fixture
def means(ratings: Path) -> Means:
    return {cell: mean.value for cell, mean in read_ratings(ratings, NAMES).means().items()}


def aligned(
    folder: Path, ratings: Path, value: Value, groups: Sequence[str] = GROUPS, **more: Any
) -> Result:
    """A run that gives these scores, held against the ratings."""
    run = stored_run(folder / "run", value, tuple(groups))
    return align_run(
        run_of(run), AlignmentSettings(ratings, SETTINGS, **more), folder / "out"
    ).result


# ------------------------------------------------------------------------------------ known answers


@pytest.mark.long
def test_a_monotone_function_of_the_means_agrees_perfectly(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    result = aligned(
        tmp_path,
        ratings,
        lambda template, group, trait: float(np.tanh(means[group, trait] / 60 - 1)),
    )
    for name in (
        "tau",
        "precision_at_3",
        "precision_at_3_top",
        "precision_at_3_bottom",
        "precision_at_3_decided",
    ):
        one = result.estimate(name)
        assert one.value == 1.0, name
        assert one.high == 1.0
    assert result.estimate("precision_at_3").ideal == 1.0
    assert result.estimate("tau").verdict == "agrees with people"
    assert all(
        one.value == 1.0 for one in result.estimates if one.name == "tau" and "group" in one.slice
    )
    assert result.estimate("tau", dimension="Beliefs").value == 1.0


@pytest.mark.long
def test_its_opposite_opposes(tmp_path: Path, ratings: Path, means: Means) -> None:
    result = aligned(tmp_path, ratings, lambda template, group, trait: -means[group, trait])
    assert result.estimate("tau").value == -1.0
    assert result.estimate("tau").verdict == "opposes people"
    assert result.estimate("precision_at_3").value == 0.0


@pytest.mark.long
def test_a_random_model_is_not_told_from_chance(tmp_path: Path, ratings: Path) -> None:
    draw = np.random.default_rng(1)
    noise = {(group, trait): float(draw.normal()) for group in GROUPS for trait in TRAITS}
    result = aligned(tmp_path, ratings, lambda template, group, trait: noise[group, trait])
    one = result.estimate("tau")
    assert one.low is not None
    assert one.high is not None
    assert one.low < 0 < one.high
    assert one.verdict == "not distinguishable from chance"
    assert (
        sum(one.verdict == "agrees with people" for one in result.estimates if one.name == "tau")
        == 0
    )


@pytest.mark.long
def test_an_interval_without_0_is_no_verdict_where_any_group_could_be_any_other(
    tmp_path: Path,
) -> None:
    """One trait effect in every group, near people's: tau is high, groups are not told
    apart."""
    ratings = synthetic_ratings(
        tmp_path / "r.json",
        {(g, c): 20.0 + 4 * at for g in GROUPS for at, c in enumerate(TRAITS)},
        spread=1,
    )
    result = aligned(tmp_path, ratings, lambda template, group, trait: float(TRAITS.index(trait)))
    tau, by_lot = result.estimate("tau"), result.estimate("tau_by_lot")
    assert tau.value is not None
    assert tau.low is not None
    assert tau.low > 0.8
    assert (tau.verdict, tau.tests) == ("not distinguishable from chance", 1)
    assert tau.p == 1.0
    assert by_lot.value == pytest.approx(tau.value)
    assert tau.test == TEST


def test_few_groups_are_exchanged_in_every_way() -> None:
    rng = np.random.default_rng(0)
    assert [len(orders(count, 720, 720, rng)) for count in (1, 3, 4, 6, 7)] == [1, 6, 24, 720, 721]
    assert all(orders(count, 720, 720, rng)[0].tolist() == list(range(count)) for count in (4, 16))


def test_four_groups_are_told_that_nothing_can_be_seen(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    result = aligned(
        tmp_path, ratings, lambda template, group, trait: means[group, trait], GROUPS[:4]
    )
    tau = result.estimate("tau")
    assert (tau.value, tau.low, tau.p, tau.verdict) == (1.0, None, None, None)
    assert any(note.startswith("Four groups are judged. Below 5") for note in result.notes)


# ------------------------------------------------------------------------------------------ by hand


def test_values_are_those_computed_by_hand(tmp_path: Path, ratings: Path) -> None:
    draw = np.random.default_rng(2)
    scores = {
        (t, g, c): float(draw.normal())
        for t in ("that", "all", "should")
        for g in GROUPS
        for c in TRAITS
    }
    result = aligned(tmp_path, ratings, lambda *cell: scores[cell], templates=("that", "all"))
    raw = json.loads(ratings.read_text())
    people = {(g, c): np.mean([float(raw[p][g][c]) for p in raw]) for g in GROUPS for c in TRAITS}
    model = {
        (g, c): (scores["that", g, c] + scores["all", g, c]) / 2 for g in GROUPS for c in TRAITS
    }
    cells = list(model)
    assert result.estimate("tau").value == pytest.approx(
        kendalltau([model[c] for c in cells], [people[c] for c in cells]).statistic
    )
    shares = []
    for group in GROUPS:
        own = kendalltau([model[group, c] for c in TRAITS], [people[group, c] for c in TRAITS])
        one = result.estimate("tau", group=group)
        assert one.value == pytest.approx(own.statistic)
        assert (one.p, one.verdict) == (None, None)
        assert one.interval == "bootstrap over people, centred: other raters, these traits"
        ranked = sorted(TRAITS, key=lambda c: -model[group, c])
        top = sum(people[group, c] > 50 for c in ranked[:3]) / 3
        bottom = sum(people[group, c] <= 50 for c in ranked[-3:]) / 3
        shares.append((top + bottom) / 2)
        assert result.estimate("precision_at_3", group=group).value == pytest.approx(shares[-1])
        assert result.estimate("precision_at_3_top", group=group).value == pytest.approx(top)
        assert result.estimate("precision_at_3_bottom", group=group).value == pytest.approx(bottom)
    assert result.estimate("precision_at_3").value == pytest.approx(np.mean(shares))


def test_only_cells_on_which_people_are_decided_count_where_asked(tmp_path: Path) -> None:
    """Of a group with six decided traits, three of each side, those alone are chosen from."""
    given = {
        c: (90, 80) if at < 3 else (10, 20) if at < 6 else (20, 81) for at, c in enumerate(TRAITS)
    }
    file = tmp_path / "ratings.json"
    file.write_text(
        json.dumps(
            {
                f"p{p}": {g: {c: given[c][p % 2] for c in TRAITS} for g in ("man", "woman")}
                for p in range(10)
            }
        )
    )
    strong = dict.fromkeys(TRAITS[6:], -5.0) | {
        c: 1.0 if at < 3 else -1.0 for at, c in enumerate(TRAITS[:6])
    }
    result = aligned(tmp_path, file, lambda template, group, trait: strong[trait], ("man", "woman"))
    assert result.estimate("precision_at_3_decided").value == 1.0
    assert result.estimate("precision_at_3_bottom").value == 0.0


@pytest.mark.long
def test_cells_without_a_score_are_left_out_and_counted(tmp_path: Path, ratings: Path) -> None:
    result = aligned(
        tmp_path,
        ratings,
        lambda template, group, trait: (
            None if trait == TRAITS[0] else float(len(group) + len(trait))
        ),
    )
    one = result.estimate("tau")
    assert (one.n, one.asked) == (len(GROUPS) * 15, len(GROUPS) * 16)


def test_below_the_coverage_floor_there_is_no_value_and_no_verdict(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    """Two groups of ten have no score at all: overall 80 %, of the others everything."""
    run = stored_run(
        tmp_path / "run",
        lambda template, group, trait: None if group in GROUPS[:2] else means[group, trait],
    )
    result = align_run(run_of(run), AlignmentSettings(ratings, SETTINGS), tmp_path / "out").result
    for name in ("tau", "precision_at_3", "precision_at_3_decided"):
        one = result.estimate(name)
        assert (one.value, one.verdict) == (None, None), name
        assert one.why == "only 128 of 160 items were answered, below the coverage floor of 90%"
    assert result.estimate("tau", group=GROUPS[0]).why == "nothing could be scored"
    assert result.estimate("tau", group=GROUPS[2]).value == pytest.approx(1.0)
    assert result.estimate("tau", dimension="Beliefs").value is None
    said = call("align", run, "--ratings", ratings, "--out", tmp_path / "told", "--resamples", 200)
    assert said.code == 0
    assert "below the coverage floor" in " ".join(said.out.split())


@pytest.mark.long
def test_traits_that_the_run_did_not_ask_are_no_gaps(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    run = stored_run(tmp_path / "run", lambda template, group, trait: means[group, trait])
    lines = (only(run) / "scores.jsonl").read_text().splitlines(keepends=True)
    (only(run) / "scores.jsonl").write_text(
        "".join(line for line in lines if json.loads(line)["slices"]["trait"] in TRAITS[:8])
    )
    sealed(run)
    result = align_run(run_of(run), AlignmentSettings(ratings, SETTINGS), tmp_path / "out").result
    assert (result.estimate("tau").n, result.estimate("tau").asked) == (
        len(GROUPS) * 8,
        len(GROUPS) * 8,
    )
    assert any(
        note.startswith("Rated, but not in the run") and TRAITS[-1] in note for note in result.notes
    )


def test_ends_are_the_first_and_last_of_those_that_have_a_score() -> None:
    top, bottom = ends(np.array([1.0, np.nan, 9.0, -2.0, 4.0, 0.0]))
    assert top.tolist() == [2, 4, 0]
    assert bottom.tolist() == [3, 5, 0]


@pytest.mark.long
@pytest.mark.filterwarnings("error")
def test_few_raters_of_every_trait_still_have_an_interval(tmp_path: Path) -> None:
    """Every trait is rated by two of 16: whoever draws raters again misses some trait nearly
    always."""
    means, draw = two_sided(), np.random.default_rng(7)

    def rating(group: str, trait: str) -> int:
        return int(np.clip(means[group, trait] + draw.integers(-5, 6), 0, 100))

    rows = [
        f"p{(2 * at + rater) % 16},{group},{trait},{rating(group, trait)}\n"
        for group in GROUPS
        for at, trait in enumerate(TRAITS)
        for rater in (0, 5)
    ]
    file = tmp_path / "ratings.csv"
    file.write_text(HEADER + "".join(rows))
    result = aligned(
        tmp_path,
        file,
        lambda template, group, trait: means[group, trait] + 60 * float(draw.normal()),
        pilot=True,
    )
    for one in (
        result.estimate("tau"),
        result.estimate("precision_at_3"),
        result.estimate("tau", group="man"),
    ):
        assert one.value is not None
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.value <= one.high
        assert one.low < one.high


def test_gaps_on_either_side_are_left_out_of_tau() -> None:
    one = np.array(
        [
            [1.0, 2.0, np.nan, 4.0, 3.0],
            [1.0, 2.0, 3.0, 4.0, 5.0],
            [np.nan, np.nan, np.nan, 1.0, 2.0],
        ]
    )
    other = np.array(
        [[1.0, np.nan, 9.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0, 4.0], [1.0, 2.0, 3.0, np.nan, 4.0]]
    )
    found = tau_rows(one, other)
    assert found[:2] == pytest.approx([1 / 3, 0.8])
    assert np.isnan(found[2])


@pytest.mark.long
def test_a_dimension_without_any_score_has_a_reason(tmp_path: Path, ratings: Path) -> None:
    kinds = {trait.name: trait.dimension for trait in DEFAULT.traits}
    result = aligned(
        tmp_path,
        ratings,
        lambda template, group, trait: (
            None if kinds[trait] == "Beliefs" else float(len(group) + len(trait))
        ),
    )
    assert result.estimate("tau", dimension="Beliefs").why == "nothing could be scored"
    assert result.estimate("tau", dimension="Agency").value is not None


def test_split_half_is_tau_between_halves(tmp_path: Path) -> None:
    file = synthetic_ratings(tmp_path / "ratings.json", two_sided(), raters=4, spread=25)
    found = read_ratings(file, NAMES)
    cells = both({(g, c): 0.0 for g in GROUPS for c in TRAITS}, found)
    halves = split_half(cells, np.random.default_rng(0), halves=300)
    every = []
    for group in range(len(cells.groups)):
        table = cells.tables[group]
        taus = [
            kendalltau(
                table[list(one)].mean(axis=0),
                table[[r for r in range(4) if r not in one]].mean(axis=0),
            ).statistic
            for one in combinations(range(4), 2)
        ]
        every.append(np.mean(taus))
    assert [halves.taus(cells.among([group])).mean() for group in cells.groups] == pytest.approx(
        every, abs=0.03
    )


@pytest.mark.long
def test_split_half_is_of_the_cells_that_it_stands_beside(tmp_path: Path) -> None:
    """People agree on the first eight traits and on nothing else, and the model has no score for
    one of those."""
    draw = np.random.default_rng(8)
    value = {(g, c): 10.0 * at + 5 for g in GROUPS for at, c in enumerate(TRAITS)}
    raw = {
        f"p{rater}": {
            g: {
                c: str(int(value[g, c] if c in TRAITS[:8] else draw.integers(0, 101)))
                for c in TRAITS
            }
            for g in GROUPS
        }
        for rater in range(6)
    }
    file = tmp_path / "ratings.json"
    file.write_text(json.dumps(raw))
    result = aligned(
        tmp_path,
        file,
        lambda template, group, trait: None if trait == TRAITS[9] else float(len(trait)),
        pilot=True,
    )
    for one in [one for one in result.estimates if one.name == "tau"]:
        half = result.estimate("human_split_half_tau", **one.slice)
        assert (half.n, half.asked) == (one.n, one.asked), one.slice
    everybody = both(
        {(g, c): 0.0 for g in GROUPS for c in TRAITS if c != TRAITS[9]}, read_ratings(file, NAMES)
    )
    halves = split_half(everybody, np.random.default_rng(0), halves=50)
    assert halves.taus(everybody.among(traits=TRAITS[:8])) == pytest.approx(np.ones(50))
    assert halves.taus(everybody.among(traits=TRAITS[8:])).mean() < 0.3
    man = everybody.among(["man"])
    kept = [at for at, c in enumerate(TRAITS) if c != TRAITS[9]]
    row = halves.groups.index("man")
    assert halves.taus(man)[0] == pytest.approx(
        kendalltau(halves.first[0, row, kept], halves.second[0, row, kept]).statistic
    )


def test_people_are_drawn_again_with_all_groups_that_they_rated() -> None:
    """Each of two people rates both groups: both means come of the same people."""
    tables = {group: np.array([[10.0, 20.0], [90.0, 80.0]]) for group in ("man", "woman")}
    found = Ratings(("a", "b"), tables, dict.fromkeys(tables, ("p", "q")))
    cells = both({}, found)
    drawn = resampled_people(cells, 50, np.random.default_rng(0))
    assert np.array_equal(drawn[:, 0], drawn[:, 1])
    assert set(drawn[:, 0, 0]) == {10.0, 50.0, 90.0}
    others = replace(cells, raters=(("p", "q"), ("r", "s")))
    drawn = resampled_people(others, 50, np.random.default_rng(0))
    assert not np.array_equal(drawn[:, 0], drawn[:, 1], equal_nan=True)


def test_the_ceilings_follow_from_the_halves() -> None:
    assert another_panel(0.636) == pytest.approx(0.733, abs=0.0005)
    assert best_possible(0.636) == pytest.approx(0.810, abs=0.0005)
    assert another_panel(1.0) == best_possible(1.0) == pytest.approx(1.0)
    assert another_panel(0.0) == best_possible(0.0) == 0.0


def test_halves_that_do_not_agree_leave_no_ceiling(tmp_path: Path) -> None:
    """Two people who say the opposite of each other."""
    raw = {
        person: {g: {c: sign * at * 3 + 50 for at, c in enumerate(TRAITS)} for g in GROUPS}
        for person, sign in (("p", 1), ("q", -1))
    }
    file = tmp_path / "ratings.json"
    file.write_text(json.dumps(raw))
    result = aligned(tmp_path, file, lambda template, group, trait: float(len(trait)))
    assert result.estimate("human_split_half_tau").value == -1.0
    assert result.estimate("best_possible_tau").why == "halves of the raters do not agree"


# ---------------------------------------------------------------------------------------- the pilot


@pytest.mark.long
def test_the_pilot_finds_the_template_that_knows(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    draw = np.random.default_rng(3)
    run = stored_run(
        tmp_path / "run",
        lambda template, group, trait: (
            means[group, trait] if template == "all" else float(draw.normal()) * 30
        ),
    )
    found = choose(profile_of(run_of(run)).scores, read_ratings(ratings, NAMES))
    assert found.templates == ("all",)
    assert found.tried == 3 + 3
    result = align_run(
        run_of(run), AlignmentSettings(ratings, SETTINGS, pilot=True), tmp_path / "out"
    ).result
    rest = len(GROUPS) - 4
    assert result.estimate("tau").asked == rest * 16
    assert result.estimate("tau", groups="pilot groups included").asked == len(GROUPS) * 16
    assert any("use the ratings that made the choice" in note for note in result.notes)


def test_two_templates_are_taken_only_where_they_are_better_together(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    draw = np.random.default_rng(4)
    noise = {(group, trait): float(draw.normal()) * 60 for group in GROUPS for trait in TRAITS}
    sign = {"that": 1, "all": -1, "should": 0}
    run = stored_run(
        tmp_path / "run",
        lambda template, group, trait: (
            (means[group, trait] if sign[template] else 0)
            + (sign[template] or 2) * noise[group, trait]
        ),
    )
    assert choose(profile_of(run_of(run)).scores, read_ratings(ratings, NAMES)).templates == (
        "that",
        "all",
    )


def test_a_template_with_a_handful_of_scores_is_not_chosen(
    tmp_path: Path, ratings: Path, means: Means
) -> None:
    """It is right wherever it speaks, which is of three traits: alone or in a pair it would win."""
    draw = np.random.default_rng(6)
    noise = {(group, trait): float(draw.normal()) for group in GROUPS for trait in TRAITS}

    def value(template: str, group: str, trait: str) -> float | None:
        if template == "all":
            return means[group, trait] if trait in TRAITS[:3] else None
        return means[group, trait] + 30 * noise[group, trait]

    scores = profile_of(run_of(stored_run(tmp_path / "run", value))).scores
    found = choose(scores, read_ratings(ratings, NAMES))
    assert "all" not in found.templates
    assert found.tau < 1
    with pytest.raises(UsageError, match="No template has scores for 90%"):
        choose({"all": scores["all"]}, read_ratings(ratings, NAMES))


def test_the_pilots_raters_are_five_drawn_by_the_seed(ratings: Path) -> None:
    everyone = read_ratings(ratings, NAMES)
    few = pilot_ratings(everyone, ("Asian", "Black"), seed=1)
    assert [len(table) for table in few.tables.values()] == [5, 5]
    assert np.array_equal(
        few.tables["Asian"], pilot_ratings(everyone, ("Asian", "Black"), seed=1).tables["Asian"]
    )


# ------------------------------------------------------------------------------------ released data


@pytest.mark.golden
def test_the_released_ratings() -> None:
    """Cao et al. 2022: 26 groups x 16 traits; two printed means do not come out of the raw
    ratings."""
    found = read_ratings(released("abc/data_full.json"), NAMES)
    assert (len(found.groups), len(found.traits)) == (26, 16)
    count, wrong = differing(released("abc/Aggregated_scores.json"), found, NAMES)
    assert (count, len(wrong)) == (416, 2)
    assert wrong == [
        "women, poor - wealthy: 56.4 printed, 57.1 from the ratings",
        "women, untrustworthy - trustworthy: 57.95 printed, 57.1 from the ratings",
    ]


@pytest.mark.golden
def test_people_agree_with_each_other_at_about_0_63() -> None:
    found = read_ratings(released("abc/data_full.json"), NAMES)
    cells = both(
        dict.fromkeys(found.means(), 0.0),
        found,
        groups=[group for group in found.groups if group != "average people"],
    )
    halves = split_half(cells, np.random.default_rng(0))
    assert len(cells.groups) == 25
    assert float(halves.taus(cells).mean()) == pytest.approx(0.63, abs=0.01)


# ---------------------------------------------------------------------------------------- bad input

HEADER = "participant,group,trait,rating\n"
GOOD = "".join(
    f"p{rater},{group},{trait},{40 + rater}\n"
    for rater in (1, 2)
    for group in ("women", "man")
    for trait in TRAITS
)


SHORT = "".join(
    f"p{rater},{group},{trait},{1 + rater}\n"
    for rater in (1, 6)
    for group in ("women", "man")
    for trait in TRAITS
)
ALONE = "".join(f"p1,Asian people,{trait},50\n" for trait in TRAITS)
NOT_ANY = "has no column that can be recognised as ratings. Its columns are a, b"


@pytest.fixture(scope="module")
def two_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    return stored_run(folder, lambda template, group, trait: float(len(group)), ("man", "woman"))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("r.csv", GOOD + f"p3,women,{TRAITS[0]},101\n", "line 66: a rating of 101. Ratings are"),
        ("r.csv", GOOD + f"p3,women,{TRAITS[0]},high\n", "'high' is not a finite number"),
        ("r.csv", GOOD + f"p3,womans,{TRAITS[0]},50\n", "no group called 'womans'. Did you mean w"),
        (
            "r.csv",
            GOOD + "p3,women,cold - worm,50\n",
            "called 'cold - worm'. Did you mean cold - w",
        ),
        ("r.csv", GOOD + ",women,cold - warm,50\n", "line 66: participant is empty"),
        ("r.csv", GOOD + ALONE, "by one person"),
        ("r.csv", SHORT, "no rating is above 7. Ratings are from 0 to 100"),
        ("r.csv", SHORT, "--scale 1-7"),
        ("r.json", "[1, 2]", "does not hold ratings"),
        ("r.json", '{"men": {"poor - wealthy": "61.5"}}', "one number per group and trait: means"),
        ("plain.csv", "a,b\n1,2\n", NOT_ANY),
        ("plain.csv", "group,trait,rating\nman,cold - warm,2\n", "has no column participant"),
    ],
)
def test_what_is_wrong_with_ratings_is_said(
    two_groups: Path, tmp_path: Path, name: str, text: str, says: str
) -> None:
    file = tmp_path / name
    file.write_text(HEADER + text if name == "r.csv" else text)
    given = ("align", two_groups, "--ratings", file, "--out", tmp_path / "out", "--resamples", 200)
    assert_refused(call(*given), 4, says)
    assert not (tmp_path / "out").exists()


def test_of_a_group_that_the_survey_shows_twice_the_first_page_counts(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text(HEADER + GOOD + f"p1,women,{TRAITS[0]},90\np1,woman,{TRAITS[1]},91\n")
    found = read_ratings(file, NAMES)
    assert (
        found.means()["woman", TRAITS[0]].value == found.means()["woman", TRAITS[1]].value == 41.5
    )
    assert any(
        note.startswith("2 ratings are of a group and trait that the same person had rated before")
        for note in found.notes
    )


def test_a_scale_named_the_other_way_round_is_turned(tmp_path: Path) -> None:
    left, right = TRAITS[3].split(" - ")
    file = tmp_path / "ratings.csv"
    file.write_text(HEADER + GOOD.replace(TRAITS[3], f"{right} - {left}"))
    found, plain_way = read_ratings(file, NAMES), tmp_path / "plain.csv"
    plain_way.write_text(HEADER + GOOD)
    expected = read_ratings(plain_way, NAMES).means()
    for (group, trait), mean in found.means().items():
        value = expected[group, trait].value
        assert mean.value == pytest.approx(100 - value if trait == TRAITS[3] else value)
    assert any(
        note.startswith("4 ratings are on scales whose poles the file names the other way round")
        for note in found.notes
    )


@pytest.mark.long
def test_ratings_that_are_all_alike_give_no_number(tmp_path: Path) -> None:
    file = synthetic_ratings(
        tmp_path / "ratings.json", {(g, c): 60.0 for g in GROUPS for c in TRAITS}, spread=0
    )
    result = aligned(tmp_path, file, lambda template, group, trait: float(len(group) * len(trait)))
    for name in ("tau", "precision_at_3", "precision_at_3_top"):
        assert (result.estimate(name).value, result.estimate(name).why) == (
            None,
            "all scores, or all ratings, are the same",
        )


def test_a_run_of_something_else(tmp_path: Path, ratings: Path) -> None:
    call("run", "starter", "--model", "random", "--out", tmp_path / "runs", "--resamples", 200)
    (run,) = (tmp_path / "runs").glob("*pair*")
    assert_refused(
        call("align", run, "--ratings", ratings), 2, "is a run of starter, not of groups and traits"
    )


def test_templates_that_the_run_does_not_have(tmp_path: Path, ratings: Path) -> None:
    run = stored_run(tmp_path / "run", lambda template, group, trait: float(len(group)))
    assert_refused(
        call("align", run, "--ratings", ratings, "--templates", "thats"),
        2,
        "no template called 'thats'. Did you mean that",
    )


def test_a_pilot_that_leaves_no_group_to_judge(tmp_path: Path, ratings: Path) -> None:
    run = stored_run(
        tmp_path / "run", lambda template, group, trait: float(len(group) * len(trait)), GROUPS[2:6]
    )
    said = call("align", run, "--ratings", ratings, "--pilot", "--out", tmp_path / "out")
    assert_refused(said, 2, "no rated group besides the pilot groups", "leave out --pilot")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_pilot_groups_go_by_all_their_names(tmp_path: Path, ratings: Path) -> None:
    run = stored_run(
        tmp_path / "run", lambda template, group, trait: float(len(group) * len(trait))
    )
    given = ("align --resamples 200 --pilot --json", run, "--ratings", ratings, "--pilot-groups")
    by_name, by_others = (
        call(*given, some, "--out", tmp_path / some[:5])
        for some in ("woman,Asian", "women,Asian people,woman")
    )
    assert (
        by_name.json["settings"]["pilot"]
        == by_others.json["settings"]["pilot"]
        == ["woman", "Asian"]
    )
    said = call(*given, "Asain", "--out", tmp_path / "out")
    assert_refused(said, 4, "--pilot-groups: there is no group called 'Asain'. Did you mean Asian")


def test_the_pilot_without_ratings_of_its_groups(tmp_path: Path) -> None:
    run = stored_run(
        tmp_path / "run", lambda template, group, trait: float(len(group)), ("man", "woman")
    )
    (tmp_path / "ratings.csv").write_text(HEADER + GOOD)
    said = call("align", run, "--ratings", tmp_path / "ratings.csv", "--pilot")
    assert_refused(said, 2, "The pilot group Asian has no ratings", "--pilot-groups")


@pytest.mark.long
def test_the_same_command_gives_the_same_bytes(tmp_path: Path, ratings: Path) -> None:
    run = stored_run(
        tmp_path / "run", lambda template, group, trait: float(len(group) * len(trait))
    )
    for name in ("one", "two"):
        told = tmp_path / name
        given = ("align --resamples 200 --pilot --json", run, "--ratings", ratings, "--out", told)
        said = call(*given).json
        assert (said["schema"], said["measure"]) == ("stereometer-result@1", "set@1+alignment")
    for file in ("result.json", "scores.jsonl"):
        one, two = (only(tmp_path / name) / file for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_table_without_the_released_layout_reads_the_same(tmp_path: Path, ratings: Path) -> None:
    raw = json.loads(ratings.read_text())
    rows = [
        f"{p},{g},{c},{v}"
        for p, groups in raw.items()
        for g, traits in groups.items()
        for c, v in traits.items()
    ]
    table = tmp_path / "table.csv"
    table.write_text("participant,group,trait,rating\n" + "\n".join(rows) + "\n")
    one, other = read_ratings(ratings, NAMES), read_ratings(table, NAMES)
    assert one.groups == other.groups
    assert all(np.array_equal(one.tables[group], other.tables[group]) for group in one.groups)


def test_resamples_are_many_and_a_file_of_ratings_that_is_not_there_is_refused() -> None:
    assert Settings().resamples == 10_000
    with pytest.raises(DataError):
        read_ratings(Path("nowhere.json"), NAMES)
