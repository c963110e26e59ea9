"""Groups where they meet: planted answers come out, slow references agree, and wrong tables are
told so."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, kendalltau

from stereometer.core.errors import DataError
from stereometer.core.stats.tests import false_discovery
from stereometer.core.types import Settings
from stereometer.kinds.traits.abc.files import pairs
from stereometer.kinds.traits.abc.items import Choice, grid
from stereometer.kinds.traits.intersect.crossing import (
    Crossing,
    Emergent,
    beyond_both_p,
    emergent,
    resampled_means,
)
from stereometer.kinds.traits.intersect.questions import (
    agreement,
    dominance,
    emergence,
    order,
    read_expected,
)
from stereometer.kinds.traits.intersect.shape import out_of_reach
from tests.builders.commands import assert_refused, call

GRID = grid(Choice(("man", "woman", "Black", "White", "teenager", "elderly", "doctor")))
PAIRS = tuple(pairs(GRID.groups, GRID.rules()))
NAMES = [pair.name for pair in PAIRS]
TRAITS = GRID.traits
QUICK = Settings(resamples=200)


def built(
    seed: int = 0, templates: int = 4, first: float = 0.5, second: float = 0.5, noise: float = 0.0
) -> Crossing:
    """Pairs whose scores are a mixture of their parts'."""
    draw = np.random.default_rng(seed)
    base = draw.normal(size=(len(GRID.groups), len(TRAITS), 2))
    single = np.repeat(base[None], templates, axis=0)
    at = {group.name: index for index, group in enumerate(GRID.groups)}
    mixed = np.array(
        [first * base[at[pair.parts[0]]] + second * base[at[pair.parts[1]]] for pair in PAIRS]
    )
    paired = np.repeat(mixed[None], templates, axis=0) + noise * draw.normal(
        size=(templates, *mixed.shape)
    )
    return Crossing(GRID.groups, PAIRS, TRAITS, single, paired)


# -------------------------------------------------------------------------------------------- order


def test_pairs_that_are_their_second_part_say_so() -> None:
    found = {one.name: one for one in order(built(first=0.0, second=1.0), QUICK)}
    assert found["tau_second_part"].value == pytest.approx(1.0)
    assert found["tau_closer_part"].value == pytest.approx(1.0)
    assert found["tau_first_part"].value is not None
    assert found["tau_first_part"].value < 0.5


def test_pairs_that_do_not_know_order_are_their_reverse() -> None:
    found = {one.name: one for one in order(built(), QUICK)}
    assert found["tau_reversed"].value == pytest.approx(1.0)
    both = sum(pair.parts[::-1] in {one.parts for one in PAIRS} for pair in PAIRS)
    assert 0 < both < len(PAIRS)
    assert (found["tau_reversed"].n, found["tau_reversed"].asked) == (both, len(PAIRS))
    assert found["tau_first_part"].n == both
    assert found["tau_closer_part"].n == len(PAIRS)


def test_taus_are_those_of_scipy_on_the_means_over_templates() -> None:
    found = built(noise=1.0)
    at = {group.name: index for index, group in enumerate(GRID.groups)}
    for index in (0, 5, len(PAIRS) - 1):
        mine = (found.paired[:, index, :, 1] - found.paired[:, index, :, 0]).mean(axis=0)
        for side in (0, 1):
            part = found.single[:, at[PAIRS[index].parts[side]]]
            theirs = (part[..., 1] - part[..., 0]).mean(axis=0)
            assert found.taus[index, side] == pytest.approx(kendalltau(mine, theirs).statistic)


def test_cells_without_a_score_are_left_out_of_the_profile() -> None:
    found = built(noise=1.0)
    found.paired[:, 0, 3] = np.nan
    found.paired[1, 0, 5] = np.nan
    assert np.isnan(found.profiles[1][0, 3])
    assert not np.isnan(found.profiles[1][0, 5])
    assert not np.isnan(found.taus[0]).any()


def test_groups_drawn_again_weigh_their_pairs() -> None:
    """A mean of ones stays one; a constant of one group's pairs has a spread."""
    found = built()
    drawn = resampled_means(found, {"one": np.ones(len(PAIRS))}, 50, np.random.default_rng(0))[
        "one"
    ]
    assert drawn[~np.isnan(drawn)] == pytest.approx(1.0)


# ---------------------------------------------------------------------------------------- dominance


def planted_dominance() -> Crossing:
    """A pair is its part of the domain age, else its second part."""
    found = built(first=0.0, second=1.0)
    domains = np.array([group.domain for group in GRID.groups])[found.parts]
    rows = np.where(domains[:, 0] == "age", found.parts[:, 0], found.parts[:, 1])
    return Crossing(found.groups, found.pairs, found.traits, found.single, found.single[:, rows])


def test_the_planted_domain_dominates() -> None:
    found = dominance(planted_dominance(), QUICK)
    named = {
        frozenset((one.slice["domain"], one.slice["other_domain"])): one
        for one in found
        if one.name == "dominance"
    }
    one = named[frozenset(("age", "race/ethnicity"))]
    assert one.verdict is not None
    assert one.verdict.startswith("age dominates race/ethnicity")
    assert abs(one.value or 0) > 0.1
    assert one.verdict == "age dominates race/ethnicity, not tested"
    assert (one.p, one.low) == (None, None)
    with_age = next(
        one
        for one in found
        if one.name == "tau_with_domain"
        and one.slice == {"domain": "age", "other_domain": "race/ethnicity"}
    )
    assert with_age.value == pytest.approx(1.0)
    assert all(
        one.slice.get("other_domain") != "gender/sexuality"
        or one.slice["domain"] != "gender/sexuality"
        for one in found
    )


def test_dominance_is_the_difference_of_means_over_pairs() -> None:
    found = built(noise=1.5)
    one = next(
        one
        for one in dominance(found, QUICK)
        if one.name == "dominance" and one.slice["other_domain"] == "age"
    )
    domain = {group.name: group.domain for group in GRID.groups}
    mine, theirs = [], []
    for index, pair in enumerate(PAIRS):
        kinds = [domain[part] for part in pair.parts]
        if set(kinds) == {one.slice["domain"], "age"}:
            mine.append(found.taus[index, kinds.index(one.slice["domain"])])
            theirs.append(found.taus[index, kinds.index("age")])
    assert one.value == pytest.approx(np.mean(mine) - np.mean(theirs))
    assert one.n == one.asked == len(mine)


# ---------------------------------------------------------------------------------------- emergence


def slow_p(pair: np.ndarray, first: np.ndarray, second: np.ndarray, direction: str) -> float:
    """Against each part every choice of signs of the differences; the larger share counts."""

    def against(part: np.ndarray) -> float:
        differences = [
            (a - b) * (1 if direction == "above" else -1) for a, b in zip(pair, part, strict=True)
        ]
        ways = [
            sum(sign * one for sign, one in zip(way, differences, strict=True))
            for way in product((1, -1), repeat=len(pair))
        ]
        return float(np.mean([way >= sum(differences) - 1e-9 for way in ways]))

    return max(against(first), against(second))


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from(["above", "below"]))
@settings(max_examples=30, deadline=None)
def test_p_is_that_of_every_choice_of_signs(seed: int, templates: int, direction: str) -> None:
    draw = np.random.default_rng(seed)
    pair, first, second = draw.normal(size=(3, templates, 4)).round(1)
    sign = 1.0 if direction == "above" else -1.0
    found = beyond_both_p(sign * (pair - first), sign * (pair - second), draw)
    assert found == pytest.approx(
        [slow_p(pair[:, at], first[:, at], second[:, at], direction) for at in range(4)]
    )


def test_of_many_templates_signs_are_drawn_by_lot() -> None:
    draw = np.random.default_rng(0)
    pair, first, second = draw.normal(size=(3, 13, 6))
    found = beyond_both_p(pair - first, pair - second, draw)
    slow = [slow_p(pair[:, at], first[:, at], second[:, at], "above") for at in range(6)]
    assert found == pytest.approx(slow, abs=0.04)


@pytest.mark.parametrize("gap", [0.0, 2.0, 10.0])
def test_a_pair_like_its_first_part_does_not_emerge_however_low_the_second(gap: float) -> None:
    draw = np.random.default_rng(1)
    pair, first, second = draw.normal(size=(3, 8, 3000))
    found = beyond_both_p(pair - first, pair - second + gap, draw)
    assert np.mean(found <= 0.05) <= 0.065


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_false_discovery_is_scipys(ps: list[float]) -> None:
    assert false_discovery(ps) == pytest.approx(false_discovery_control(ps))


def test_planted_traits_emerge_and_nothing_else_does() -> None:
    found = built(templates=6, noise=0.01)
    index, trait = NAMES.index("Black woman"), 4
    found.paired[:, index, trait, 1] += 9.0
    top, *rest = sorted(listed(found), key=lambda cell: -cell.centred)
    assert (PAIRS[top.pair].name, TRAITS[top.trait].head("right")) == ("Black woman", "confident")
    larger = found.single[:, found.parts[index], trait, 1].mean(axis=0).max()
    assert top.part == pytest.approx(larger)
    assert top.increase == pytest.approx(found.paired[:, index, trait, 1].mean() - larger)
    assert top.p == pytest.approx(2.0**-6)
    assert top.low < top.centred < top.high
    assert top.centred > 3 * max(cell.centred for cell in rest)


def listed(table: Crossing, direction: str = "above") -> list[Emergent]:
    return emergent(table, direction, QUICK, np.random.default_rng(0))


def test_they_are_listed_by_q() -> None:
    cells = listed(built(templates=6, noise=1.0))
    assert [cell.q for cell in cells] == sorted(cell.q for cell in cells)


def test_templates_that_all_agree_are_not_certain() -> None:
    assert all(np.isnan(cell.low) for cell in listed(built(templates=6, noise=0.0)))


def test_below_is_the_mirror_of_above() -> None:
    found = built(noise=1.0)
    mirror = Crossing(found.groups, found.pairs, found.traits, -found.single, -found.paired)
    above, below = listed(mirror), listed(found, "below")
    assert [(one.pair, one.trait, one.pole) for one in above] == [
        (one.pair, one.trait, one.pole) for one in below
    ]
    assert [one.increase for one in above] == pytest.approx([one.increase for one in below])


def test_what_a_phrase_does_to_every_adjective_is_not_emergence() -> None:
    """Pairs are no further than their parts; their phrases move all adjectives of a template."""
    draw = np.random.default_rng(4)
    single = draw.normal(size=(12, len(GRID.groups), len(TRAITS), 2))
    phrase = 3 + draw.normal(size=(12, len(PAIRS), 1, 1))
    parts = Crossing(GRID.groups, PAIRS, TRAITS, single, single[:, :1]).parts
    paired = (
        single[:, parts].mean(axis=2) + phrase + draw.normal(size=(12, len(PAIRS), len(TRAITS), 2))
    )
    cells = listed(Crossing(GRID.groups, PAIRS, TRAITS, single, paired))
    assert np.mean([cell.increase > 0 for cell in cells]) > 0.9
    assert np.mean([cell.p < 0.05 for cell in cells]) <= 0.06
    assert sum(cell.q < 0.05 for cell in cells) <= 2


def test_few_templates_leave_no_verdict_and_say_so() -> None:
    few = list(emergence(built(templates=8), {"above": listed(built(templates=8, noise=1.0))}))
    assert few[0].value is None
    assert few[0].why is not None
    assert few[0].why.startswith("of 8 templates the least p is 0.0039")
    assert "take 11 templates or more" in few[0].why
    assert all(row.verdict is None and row.p_adjusted is not None for row in few[1:])
    assert all(row.low is not None and row.low <= (row.value or 0) for row in few[1:])
    many = list(emergence(built(templates=11), {"above": listed(built(templates=11, noise=1.0))}))
    assert many[0].value is not None
    assert all(row.verdict is not None for row in many[1:])
    assert out_of_reach(8, 65_498) is not None
    assert "5,117 of 65,498" in str(out_of_reach(8, 65_498))


def test_chance_alone_emerges_no_more_than_allowed() -> None:
    """Scores drawn at random, pair and parts alike: the false-discovery rate holds."""
    draw = np.random.default_rng(3)
    shape = (6, len(GRID.groups), len(TRAITS), 2)
    found = Crossing(
        GRID.groups,
        PAIRS,
        TRAITS,
        draw.normal(size=shape),
        draw.normal(size=(6, len(PAIRS), len(TRAITS), 2)),
    )
    every = listed(found)
    assert np.mean([one.p < 0.05 for one in every]) <= 0.05
    assert sum(one.q < 0.05 for one in every) <= 3


# ----------------------------------------------------------------------------------------- expected


def test_expected_traits_are_found_or_not(tmp_path: Path) -> None:
    found = built(templates=5)
    index = NAMES.index("Black woman")
    for trait in (0, 2):
        found.paired[:, index, trait, 1] += 9.0
    table = tmp_path / "expected.csv"
    table.write_text("group,adjective\nBlack woman,powerful\nBlack woman,wealthy\n")
    expected = read_expected(table, NAMES, TRAITS)
    every = listed(found)
    emerging = {(one.trait, one.pole) for one in every if one.pair == index and one.increase > 0}
    named = {one.name: one for one in agreement(expected, every, found, QUICK)}
    assert named["expected_recall"].value == 0.5
    assert named["expected_precision"].value == pytest.approx(1 / len(emerging))
    assert named["expected_precision_chance"].value == pytest.approx(2 / 32)
    assert named["expected_recall_chance"].value == pytest.approx(len(emerging) / 32)


def test_sides_of_dimensions_may_be_expected(tmp_path: Path) -> None:
    """A side emerges where its adjectives are above both parts on average."""
    found = built(templates=5)
    index, dimension = NAMES.index("Black woman"), TRAITS[0].dimension
    found.paired[:, index, [trait.dimension == dimension for trait in TRAITS], 1] += 9.0
    table = tmp_path / "expected.csv"
    table.write_text(
        f"group,dimension,side\nBlack woman,{dimension},high\nBlack woman,{dimension},left\n"
    )
    expected = read_expected(table, NAMES, TRAITS)
    assert expected.by_dimension
    named = {one.name: one for one in agreement(expected, listed(found), found, QUICK)}
    sides = 2 * len({trait.dimension for trait in TRAITS})
    assert named["expected_recall"].value == 0.5
    assert named["expected_precision_chance"].value == pytest.approx(2 / sides)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "group,adjective\nBlack womn,warm\n",
            "line 2: there is no pair of groups called 'Black womn'. Did you mean Black woman",
        ),
        (
            "group,adjective\nBlack woman,worm\n",
            "line 2: there is no adjective called 'worm'. Did you mean warm",
        ),
        (
            "group,adjective\nBlack woman,qqq\n",
            "line 2: there is no adjective called 'qqq'. Known: powerless, powerful, ",
        ),
        ("group,adjective\n", "has no rows"),
        (
            "group,dimension,side\nBlack woman,Agency,up\n",
            "line 2: there is no side called 'up'. Known: left, low, right, high",
        ),
        ("group\nx\n", "has no column adjective"),
    ],
)
def test_a_wrong_table_of_expected_traits(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "expected.csv"
    file.write_text(text)
    with pytest.raises(DataError) as told:
        read_expected(file, NAMES, TRAITS)
    assert says in str(told.value)


# -------------------------------------------------------------------------------------- the command

FEW = ("--groups", "man,woman,Black,White,teenager", "--templates", "the,that", "--resamples", 200)


def test_the_command_gives_an_ordinary_result(tmp_path: Path) -> None:
    said = call("intersect", "--model", "fake", *FEW, "--out", tmp_path / "one", "--json")
    assert said.code == 0, said.err
    assert said.json["schema"] == "stereometer-result@1"
    assert said.json["measure"] == "set@1+intersection@1"
    names = {one["name"] for one in said.json["estimates"]}
    assert {
        "tau_first_part",
        "tau_reversed",
        "tau_with_domain",
        "dominance",
        "emergence",
        "emergent_cells",
    } <= names
    again = call("intersect", "--model", "fake", *FEW, "--out", tmp_path / "two", "--json")
    assert again.json == said.json
    shown = call("intersect", "--model", "fake", *FEW, "--out", tmp_path / "one")
    assert "Which domain dominates" in shown.out


def test_groups_that_do_not_combine(tmp_path: Path) -> None:
    said = call(
        "intersect", "--model", "fake", "--groups", "teenager,elderly", "--out", tmp_path / "out"
    )
    assert_refused(said, 2, "No two of the groups combine")
    assert not (tmp_path / "out").exists()


def test_a_wrong_table_of_rules(tmp_path: Path) -> None:
    rules = tmp_path / "rules.csv"
    rules.write_text("one,other\nman,martian\n")
    assert_refused(
        call("intersect", "--model", "fake", "--rules", rules),
        4,
        "line 2: 'martian' is neither a group nor a domain",
    )


def test_a_group_with_the_name_of_a_pair_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    groups, rules = tmp_path / "groups.csv", tmp_path / "rules.csv"
    names = (
        "Black,race,Black person,Black people,a,Black",
        "woman,gender,woman,women,a,female",
        "White,race,White person,White people,a,White",
    )
    both = "Black woman,both,Black woman,Black women,a,"
    groups.write_text(
        "name,domain,singular,plural,article,first\n" + "\n".join((*names, both)) + "\n"
    )
    asked = (
        "intersect",
        "--model",
        "fake",
        "--groups",
        groups,
        "--templates",
        "the,that",
        "--resamples",
        200,
    )
    said = call(*asked, "--out", tmp_path / "out")
    assert_refused(
        said, 4, "'Black woman' is a group, and also what Black before woman is called", "Rename"
    )
    assert not (tmp_path / "out").exists()
    rules.write_text("one,other\nBlack,woman\n")
    assert call(*asked, "--rules", rules, "--out", tmp_path / "out").code == 0


def test_a_wrong_table_of_expected_traits_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    table = tmp_path / "expected.csv"
    table.write_text("group,adjective\nBlack womn,warm\n")
    said = call(
        "intersect", "--model", "fake", *FEW, "--expected", table, "--out", tmp_path / "out"
    )
    assert_refused(said, 4, "there is no pair of groups called 'Black womn'")
    assert not (tmp_path / "out").exists()


def test_a_domain_with_groups_enough_is_tested() -> None:
    groups = ("man", "woman", "gay", "lesbian", "trans", "Black", "White", "Asian", "Hispanic")
    grid_ = grid(Choice((*groups, "Native American")))
    met = tuple(pairs(grid_.groups, grid_.rules()))
    draw = np.random.default_rng(0)
    single = np.repeat(draw.normal(size=(1, 10, len(TRAITS), 2)), 3, axis=0)
    at = {group.name: index for index, group in enumerate(grid_.groups)}
    domain = {group.name: group.domain for group in grid_.groups}
    kept = [
        at[next((part for part in pair.parts if domain[part] == "race/ethnicity"), pair.parts[1])]
        for pair in met
    ]
    found = Crossing(grid_.groups, met, TRAITS, single, single[:, kept])
    (one,) = [one for one in dominance(found, QUICK) if one.name == "dominance"]
    assert one.verdict == "race/ethnicity dominates gender/sexuality"
    assert one.p_adjusted is not None
    assert one.low is not None
