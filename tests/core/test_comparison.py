"""Paired differences of two systems against plain loops over the items both answered."""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import NormalDist, mean
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, t, ttest_1samp

import stereometer
from stereometer.cli.render import print_view
from stereometer.core import catalog
from stereometer.core import compare as comparison
from stereometer.core.compare import Compared, Comparison
from stereometer.core.errors import UsageError
from stereometer.core.gate.gate import worsening
from stereometer.core.results_view import results
from stereometer.core.runs.store import family_notes
from stereometer.core.runs.stored import run_of
from stereometer.core.shapes.differences import Difference, Withheld
from stereometer.core.shapes.shape import Shape
from stereometer.core.stats.tests import sign_flip
from stereometer.core.types import Result, Score, Settings
from tests.builders import reference
from tests.builders.commands import call
from tests.builders.little import QUICK, inter, intra, stereoset_file
from tests.builders.stored import only, sealed
from tests.builders.sure import sure
from tests.strategies import cat_score, pair_score

Scores = list[Score]


def cats(path: Path, terms: int, items: int = 4) -> Path:
    places = [
        {"target": f"term{term}", "bias_type": "age" if term % 2 else "trade"}
        for term in range(terms)
    ]
    numbered = list(enumerate([place for place in places for _ in range(items)]))
    return stereoset_file(
        path,
        [intra(f"a{number}", **place) for number, place in numbered],
        [inter(f"b{number}", **place) for number, place in numbered],
    )


def pairs(path: Path, count: int = 40) -> Path:
    rows = [
        f"p{n},The old man {n} sang.,The young man {n}"
        f" sang.,{('stereo', 'antistereo')[n % 3 == 0]},{('age', 'trade')[n % 2]}"
        for n in range(count)
    ]
    path.write_text("\n".join(["id,sent_more,sent_less,stereo_antistereo,bias_type", *rows]))
    return path


def system(
    folder: Path,
    data: Path,
    name: str,
    seed: int,
    lean: float = 0.0,
    missing: int = 0,
    **settings: Any,
) -> Path:
    """A run of random scores that lean toward the stereotype; hundredths make few ties."""
    rng = random.Random(seed)
    benchmark = stereometer.open_benchmark(str(data))
    (shape,) = benchmark.shapes
    lines = []
    for item in benchmark.items(shape):
        names = [one for one in item.texts if one != "context"]
        given = {
            one: -5
            + round(100 * (rng.gauss(0, 1) + lean * (index == 0) - (one == "unrelated"))) / 100
            for index, one in enumerate(names)
        }
        lines.append({"id": item.id, **given})
    path = folder / f"{name}-{seed}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[missing:]))
    stereometer.replay(
        path,
        benchmark=str(data),
        name=name,
        out=folder / f"{name}-{seed}",
        **({"coverage": 0.5} | QUICK | settings),
    )[0]
    return folder / f"{name}-{seed}"


@pytest.fixture(scope="module", params=["sound", "paper"])
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory, variant: str) -> dict[str, tuple[Path, Path]]:
    """Two systems on many terms, on few terms and on pairs; the second left some items out."""
    found = {}
    for name, (terms, items) in {
        "many": (12, 4),
        "few": (5, 12),
        "sparse": (9, 2),
        "pairs": (0, 0),
    }.items():
        folder = tmp_path_factory.mktemp(name)
        data = cats(folder / "d.json", terms, items) if terms else pairs(folder / "d.csv")
        found[name] = (
            system(folder, data, "x", 1, variant=variant),
            system(folder, data, "y", 2, 0.8, missing=2, variant=variant),
        )
    return found


def both(study: tuple[Path, Path]) -> tuple[Scores, Scores]:
    left, right = (
        {one.item: one for one in run_of(path).scores if one.skipped is None} for path in study
    )
    shared = [item for item in left if item in right]
    return [left[item] for item in shared], [right[item] for item in shared]


@cache
def compared(study: tuple[Path, Path], resamples: int = 200) -> Compared:
    (pair,) = stereometer.compare(*study, resamples=resamples).pairs
    return pair


def difference(pair: Compared, name: str, **fixed: str) -> Difference:
    (one,) = [one for one in pair.differences if one.name == name and dict(one.slice) == fixed]
    return one


# --------------------------------------------------------------------------------------- CAT values


@pytest.mark.long
@pytest.mark.parametrize("study", ["many", "few", "sparse"])
def test_every_difference_equals_a_loop_over_the_items_both_answered(
    studies: dict[str, Any], study: str, variant: str
) -> None:
    left, right = both(studies[study])
    pair = compared(studies[study])
    assert (pair.items, pair.asked) == (len(left), len(left) + 2)
    for one in pair.differences:
        first, second = (
            reference.cat_averages(
                list(reference.by_term(reference.inside(of, dict(one.slice))).values()), variant
            )[one.name]
            for of in (left, right)
        )
        assert (one.first, one.second) == pytest.approx((first, second))
        assert one.difference == pytest.approx(second - first)
        assert one.n == len(reference.inside(left, dict(one.slice)))


def changes(left: Scores, right: Scores, name: str, variant: str) -> list[list[float]]:
    """For each term, each item's share under the second system minus that under the first."""
    of = {"ss": reference.ss_of, "lms": reference.lms_of}[name]
    terms = zip(reference.by_term(left).values(), reference.by_term(right).values(), strict=True)
    return [
        [(of([b], variant) - of([a], variant)) / 100 for a, b in zip(one, other, strict=True)]
        for one, other in terms
    ]


@pytest.mark.parametrize("name", ["ss", "lms"])
def test_many_terms_are_compared_by_a_paired_t_test(
    studies: dict[str, Any], name: str, variant: str
) -> None:
    per_term = [mean(term) for term in changes(*both(studies["many"]), name, variant)]
    one = difference(compared(studies["many"]), name)
    assert one.p == pytest.approx(ttest_1samp(per_term, 0).pvalue)
    assert (one.test, one.terms) == ("paired t over terms", 12)
    interval = ttest_1samp([100 * change for change in per_term], 0).confidence_interval()
    assert (one.low, one.high) == pytest.approx(tuple(interval))


@pytest.mark.parametrize("name", ["ss", "lms"])
def test_few_terms_are_compared_by_flipping_signs_of_items(
    studies: dict[str, Any], name: str, variant: str
) -> None:
    groups = [np.array(term) for term in changes(*both(studies["few"]), name, variant)]
    one = difference(compared(studies["few"]), name)
    assert one.p == pytest.approx(sign_flip(groups))
    assert (one.test, one.terms) == ("sign flips of items, terms held fixed", 5)


Averages = dict[str, float]


@cache
def paired_draws(
    study: tuple[Path, Path], variant: str, times: int = 1_200
) -> list[tuple[Averages, Averages]]:
    """Both systems get one resample of items within each term."""
    rng, sides = random.Random(8), both(study)
    named = [[one.item for one in items] for items in reference.by_term(sides[0]).values()]
    singles = [{one.item: reference.rate_of([one], variant) for one in side} for side in sides]
    draws = []
    for _ in range(times):
        drawn = [reference.drawn(rng, term, named) for term in named]
        first, second = (
            reference.averages_of(
                [
                    reference.widened(draw, term, named, of, 0.95)
                    for draw, term in zip(drawn, named, strict=True)
                ]
            )
            for of in singles
        )
        draws.append((first, second))
    return draws


@pytest.mark.long
@pytest.mark.parametrize("study", ["few", "sparse"])
def test_intervals_equal_explicit_paired_resampling(
    studies: dict[str, Any], study: str, variant: str
) -> None:
    draws = paired_draws(studies[study], variant)
    pair = compared(studies[study], resamples=20_000)
    for name in ("lms", "ss"):
        one = difference(pair, name)
        values = np.array([second[name] - first[name] for first, second in draws])
        assert (one.low, one.high) == pytest.approx(
            tuple(np.quantile(values, [0.025, 0.975])), abs=0.3 * values.std()
        )
        seen = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) * values.std()
        assert one.detectable == pytest.approx(seen, rel=0.1)


def four_sided(ends: dict[tuple[int, int], tuple[float, float]]) -> tuple[float, float]:
    """From an interval for each side of the first icat and each of the second."""
    return (
        max(min(ends[i, j][0] for j in (0, 1)) for i in (0, 1)),
        min(max(ends[i, j][1] for i in (0, 1)) for j in (0, 1)),
    )


@pytest.mark.long
@pytest.mark.parametrize("study", ["few", "sparse"])
def test_icat_of_few_terms_is_compared_by_draws_of_its_sides(
    studies: dict[str, Any], study: str, variant: str
) -> None:
    draws = paired_draws(studies[study], variant)
    one = difference(compared(studies[study], resamples=20_000), "icat")

    def side(at: int, which: int) -> Any:
        lms, ss = (np.array([draw[at][name] for draw in draws]) for name in ("lms", "ss"))
        return lms * (100 - ss if which else ss) / 50

    gaps = {(i, j): side(1, j) - side(0, i) for i in (0, 1) for j in (0, 1)}
    ends = {cell: tuple(np.quantile(gap, [0.025, 0.975])) for cell, gap in gaps.items()}
    widest = max(gap.std() for gap in gaps.values())
    assert (one.low, one.high) == pytest.approx(four_sided(ends), abs=0.3 * widest)
    assert one.test == "bootstrap of items"


def test_icat_over_terms_is_compared_by_paired_t_of_its_sides(
    studies: dict[str, Any], variant: str
) -> None:
    """By the covariance of four rates over terms, as one would write it with matrices."""
    rates = [
        reference.rate_of(items, variant)[:2]
        for side in both(studies["many"])
        for items in reference.by_term(side).values()
    ]
    terms = len(rates) // 2
    table = np.array([[*a, *b] for a, b in zip(rates[:terms], rates[terms:], strict=True)])
    lms, ss, lms2, ss2 = table.mean(axis=0)
    spread = np.cov(table.T) / terms
    ends = {}
    for i in (0, 1):
        for j in (0, 1):
            of, of2 = (100 - ss if i else ss), (100 - ss2 if j else ss2)
            slope = np.array([-of, -lms * (1 - 2 * i), of2, lms2 * (1 - 2 * j)]) / 50
            half = t.ppf(0.975, terms - 1) * np.sqrt(slope @ spread @ slope)
            gap = (lms2 * of2 - lms * of) / 50
            ends[i, j] = (gap - half, gap + half)
    one = difference(compared(studies["many"]), "icat")
    assert (one.low, one.high) == pytest.approx(four_sided(ends))
    assert (one.p < 0.05) == (not one.low <= 0 <= one.high)
    assert one.test == "paired t over terms, both sides of icat"


# -------------------------------------------------------------------------------------------- pairs


def test_pair_differences_equal_a_loop_over_the_pairs_both_answered(
    studies: dict[str, Any], variant: str
) -> None:
    left, right = both(studies["pairs"])
    for one in compared(studies["pairs"]).differences:
        first, second = (
            sure(
                reference.pair_preference(
                    reference.inside(of, dict(one.slice)), variant, "direction" in one.slice
                )
            )
            for of in (left, right)
        )
        assert (one.first, one.second, one.difference) == pytest.approx(
            (first, second, second - first)
        )


def moves(left: Scores, right: Scores, variant: str) -> list[float]:
    worth = {1.0: 1.0, None: 0.5, 0.0: 0.0}
    return [
        worth[reference.pair_points(b, variant)] - worth[reference.pair_points(a, variant)]
        for a, b in zip(left, right, strict=True)
    ]


def test_pairs_are_compared_by_mcnemar(studies: dict[str, Any], variant: str) -> None:
    moved = moves(*both(studies["pairs"]), variant)
    gained, lost = sum(one > 0 for one in moved), sum(one < 0 for one in moved)
    one = difference(compared(studies["pairs"]), "pair_preference")
    assert one.test == "McNemar"
    assert one.p == pytest.approx(binomtest(gained, gained + lost).pvalue)


def test_pair_intervals_equal_explicit_paired_resampling(
    studies: dict[str, Any], variant: str
) -> None:
    rng, zipped = random.Random(2), list(zip(*both(studies["pairs"]), strict=True))
    values = []
    for _ in range(2_000):
        drawn = rng.choices(zipped, k=len(zipped))
        first, second = (
            sure(reference.pair_preference([pair[side] for pair in drawn], variant, False))
            for side in (0, 1)
        )
        values.append(second - first)
    one = difference(compared(studies["pairs"], resamples=20_000), "pair_preference")
    assert (one.low, one.high) == pytest.approx(
        tuple(np.quantile(values, [0.025, 0.975])), abs=0.3 * float(np.std(values))
    )


def test_a_direction_of_neutral_pairs_only_is_not_compared_under_paper(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(
        "id,sent_more,sent_less,stereo_antistereo,bias_type\n1,Old men sing.,Young men"
        " sing.,stereo,age\n"
    )
    for name, less in (("x", -1.0), ("y", -2.0)):
        (tmp_path / f"{name}.jsonl").write_text(
            json.dumps({"id": "1", "sent_more": -1.0, "sent_less": less})
        )
        stereometer.replay(
            tmp_path / f"{name}.jsonl",
            benchmark=str(tmp_path / "d.csv"),
            variant="paper",
            out=tmp_path / name,
            **QUICK,
        )[0]
    (pair,) = stereometer.compare(tmp_path / "x", tmp_path / "y", resamples=100).pairs
    assert not [one for one in pair.differences if "direction" in one.slice]


# -------------------------------------------------------------------------------------------- flips


@pytest.mark.parametrize("study", ["many", "few", "sparse", "pairs"])
def test_flips_are_the_items_whose_preference_changed(
    studies: dict[str, Any], study: str, variant: str
) -> None:
    expected, up, down = {}, 0, 0
    for a, b in zip(*both(studies[study]), strict=True):
        first, second = (preference(one, variant) for one in (a, b))
        if first != second:
            expected[a.item] = (first[1], second[1])
            up, down = up + (second[0] > first[0]), down + (second[0] < first[0])
    pair = compared(studies[study])
    assert {flip.item: (flip.first, flip.second) for flip in pair.flips} == expected
    assert (pair.toward_stereotype, pair.toward_anti) == (up, down)


def preference(score: Score, variant: str) -> tuple[float, str]:
    if "task" not in score.slices:
        points = reference.pair_points(score, variant)
        return (0.5, "tie") if points is None else (points, "sent_more" if points else "sent_less")
    points = reference.points(score.values["stereotype"], score.values["anti-stereotype"], variant)
    return points, {1.0: "stereotype", 0.5: "tie", 0.0: "anti-stereotype"}[points]


# --------------------------------------------------------------------------------------- symmetries


@pytest.mark.parametrize("study", ["many", "few", "sparse", "pairs"])
def test_swapping_the_systems_turns_every_sign(studies: dict[str, Any], study: str) -> None:
    there, back = compared(studies[study]), compared(studies[study][::-1])
    for one, other in zip(there.differences, back.differences, strict=True):
        assert (other.first, other.second) == (one.second, one.first)
        assert other.difference == pytest.approx(-one.difference)
        assert other.p == pytest.approx(one.p)
    assert (back.toward_stereotype, back.toward_anti) == (
        there.toward_anti,
        there.toward_stereotype,
    )


def assert_mirrored(one: Difference, other: Difference) -> None:
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert (other.p, other.detectable) == pytest.approx((one.p, one.detectable))


def test_swapping_mirrors_the_intervals_where_terms_are_resampled(studies: dict[str, Any]) -> None:
    for one, other in zip(
        compared(studies["many"]).differences,
        compared(studies["many"][::-1]).differences,
        strict=True,
    ):
        if sure(one.terms) >= 10:
            assert_mirrored(one, other)


@pytest.mark.parametrize("study", ["few", "sparse", "pairs"])
def test_swapping_mirrors_the_intervals_where_items_are_resampled(
    studies: dict[str, Any], study: str
) -> None:
    for one, other in zip(
        compared(studies[study]).differences,
        compared(studies[study][::-1]).differences,
        strict=True,
    ):
        assert_mirrored(one, other)


@pytest.mark.parametrize("study", ["many", "few", "sparse", "pairs"])
def test_a_system_does_not_differ_from_itself(studies: dict[str, Any], study: str) -> None:
    pair = compared((studies[study][0], studies[study][0]))
    for one in pair.differences:
        assert (one.difference, one.p, one.p_adjusted) == (0, 1, 1)
        assert (one.verdict, one.closer, one.detectable) == ("not beyond noise", "neither", None)
        # That nothing was seen to change is not certainty.
        assert one.low < 0 < one.high
        if one.ideal == 50:
            assert sure(one.sum_low) < one.first + one.second - 100 < sure(one.sum_high)
            assert worsening(one, 0.0) == "undecided"
    assert not pair.flips


def test_values_of_any_scale_that_all_agree_are_not_certain() -> None:
    scores = [Score(f"i{at}", {}, {"mean": at / 10}) for at in range(11)]
    (row,) = Shape().differences([(one, one) for one in scores], [{}] * 11, Settings())
    assert isinstance(row, Difference)
    assert -1 < row.low < row.difference == 0 < row.high < 1
    assert (row.p, row.detectable) == (1, None)


# ------------------------------------------------------------------------------- several, and words


def three(folder: Path) -> tuple[Comparison, Comparison]:
    data = cats(folder / "d.json", 10)
    paths = [system(folder, data, "m", seed, lean) for seed, lean in ((1, 0.0), (2, 1.5), (3, 1.5))]
    return stereometer.compare(*paths, resamples=200), stereometer.compare(
        *paths, resamples=200, all_pairs=True
    )


def test_holm_counts_every_pair_shown_overall_and_every_slice(tmp_path: Path) -> None:
    for found in three(tmp_path):
        families: dict[Any, list[Difference]] = {}
        for pair in found.pairs:
            for one in pair.differences:
                families.setdefault((one.name, bool(one.slice)), []).append(one)
        for family in families.values():
            assert [one.p_adjusted for one in family] == pytest.approx(
                reference.holm([one.p for one in family])
            )
            assert {one.tests for one in family} == {len(family)}
            for one in family:
                sure = one.p_adjusted < 0.05 and one.difference != 0
                change = "higher" if one.difference > 0 else "lower"
                assert one.verdict.partition(":")[0] == (change if sure else "not beyond noise")


def test_the_first_is_the_baseline_unless_all_pairs_are_asked_for(tmp_path: Path) -> None:
    baseline, everyone = three(tmp_path)
    assert [(pair.first, pair.second) for pair in baseline.pairs] == [
        ("m (1)", "m (2)"),
        ("m (1)", "m (3)"),
    ]
    assert [(pair.first, pair.second) for pair in everyone.pairs] == [
        ("m (1)", "m (2)"),
        ("m (1)", "m (3)"),
        ("m (2)", "m (3)"),
    ]


def test_a_comparison_is_written_with_its_schema_and_flat_rows(studies: dict[str, Any]) -> None:
    found = stereometer.compare(*studies["pairs"], resamples=100)
    value = found.as_json()
    assert value["schema"] == "compare@1"
    json.dumps(value, allow_nan=False)
    assert all(
        one["difference"] == one["second"] - one["first"]
        for one in value["pairs"][0]["differences"]
    )
    assert {one["closer_to_ideal"] for one in value["pairs"][0]["differences"]} <= {
        "first",
        "second",
        "neither",
    }
    assert len(found.rows()) == len(found.pairs[0].differences)


@pytest.mark.parametrize(
    ("first", "second", "ideal", "closer"),
    [
        (60, 45, 50, "second"),
        (45, 60, 50, "first"),
        (40, 60, 50, "neither"),
        (70, 80, 100, "second"),
    ],
)
def test_closer_is_about_the_distance_from_the_ideal(
    first: float, second: float, ideal: float, closer: str
) -> None:
    assert (
        Difference("x", {}, first, second, n=1, asked=1, terms=None, ideal=ideal).nearer == closer
    )


# --------------------------------------------------------------------------------- coverage of both


def test_a_slice_that_too_few_answered_is_withheld_with_the_counts(tmp_path: Path) -> None:
    """Both left out items of their own: what both answered is less than either did."""
    data = pairs(tmp_path / "d.csv")
    first, second = (
        system(tmp_path, data, name, 1, missing=missing, coverage=0.9)
        for name, missing in (("x", 0), ("y", 5))
    )
    (pair,) = stereometer.compare(first, second, resamples=100).pairs
    shared = {item.item: item.slices for item in both((first, second))[0]}
    everything = {score.item: score.slices for score in run_of(first).scores}
    rows: list[Difference | Withheld] = [*pair.differences, *pair.withheld]
    for one in rows:
        n, asked = (
            sum(dict(one.slice).items() <= dict(slices).items() for slices in of.values())
            for of in (shared, everything)
        )
        assert (one.n, one.asked) == (n, asked)
        assert (one in pair.withheld) == (n / asked < 0.9)
    assert pair.withheld
    assert "below the coverage floor of 90%" in pair.withheld[0].why


# ------------------------------------------------------------------------------ like with like only


def test_unlike_runs_are_not_compared(tmp_path: Path) -> None:
    data = cats(tmp_path / "d.json", 3)
    (tmp_path / "other").mkdir()
    other = cats(tmp_path / "other" / "d.json", 4)
    base = system(tmp_path, data, "x", 1)
    unlike = {
        "variant: sound and paper": system(tmp_path, data, "y", 2, variant="paper"),
        "measure: cat-replay@1 and cat-likelihood@1": system(
            tmp_path, data, "z", 3, measure="cat-likelihood"
        ),
        "items: ": system(tmp_path / "other", other, "x", 1),
    }
    for says, path in unlike.items():
        with pytest.raises(UsageError, match=says):
            stereometer.compare(base, path)


def test_another_benchmark_or_limit_is_not_compared(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"model": "ideal", "measure": ["pair-likelihood"], **QUICK}
    stereometer.run("starter", out=tmp_path / "whole", **settings)
    stereometer.run("starter", out=tmp_path / "part", limit=10, **settings)
    stereometer.run(str(pairs(tmp_path / "d.csv")), out=tmp_path / "own", **settings)
    for other, says in (("part", "items: "), ("own", "benchmark: starter and custom")):
        with pytest.raises(UsageError, match=says):
            stereometer.compare(tmp_path / "whole", tmp_path / other)


def test_one_run_is_not_a_comparison(tmp_path: Path) -> None:
    stereometer.run("starter", model="ideal", limit=9, out=tmp_path, **QUICK)
    with pytest.raises(UsageError, match=r"at least two .* ideal on starter by .* is left out"):
        stereometer.compare(tmp_path)


def test_runs_with_no_item_in_common_are_not_compared(tmp_path: Path) -> None:
    data = pairs(tmp_path / "d.csv", 4)
    first = system(tmp_path, data, "x", 1)
    second = system(tmp_path, data, "y", 2, missing=3)
    lines = [json.loads(line) for line in (only(second) / "scores.jsonl").read_text().splitlines()]
    (only(second) / "scores.jsonl").write_text(
        "".join(json.dumps(one | {"skipped": "gone", "values": {}}) + "\n" for one in lines)
    )
    sealed(second)
    with pytest.raises(UsageError, match="no item that both answered"):
        stereometer.compare(first, second)


def test_a_run_that_lost_an_item_is_not_compared(tmp_path: Path) -> None:
    data = pairs(tmp_path / "d.csv", 4)
    first, second = (system(tmp_path, data, name, 1) for name in "xy")
    (only(second) / "scores.jsonl").write_text(
        "".join((only(second) / "scores.jsonl").read_text().splitlines(keepends=True)[1:])
    )
    sealed(second)
    with pytest.raises(UsageError, match="not scored on the same items"):
        stereometer.compare(first, second)


def test_runs_without_lms_are_compared_in_ss_alone(tmp_path: Path) -> None:
    data = cats(tmp_path / "d.json", 3)
    for model in ("ideal", "stereotyped"):
        stereometer.run(str(data), model=model, out=tmp_path / model, **QUICK)
    (pair,) = stereometer.compare(tmp_path / "ideal", tmp_path / "stereotyped", resamples=100).pairs
    assert {one.name for one in pair.differences} == {"ss"}
    assert difference(pair, "ss").difference == 50.0


def test_a_domain_that_only_one_task_has_is_compared_where_it_is(tmp_path: Path) -> None:
    apart = {"target": "cook", "bias_type": "trade"}, {"target": "aunt", "bias_type": "family"}
    data = stereoset_file(
        tmp_path / "dev.json",
        [intra(f"a{at}", **apart[0]) for at in range(4)],
        [inter(f"b{at}", **apart[1]) for at in range(4)],
    )
    found = stereometer.compare(
        system(tmp_path, data, "one", 1), system(tmp_path, data, "two", 2), **QUICK
    )
    slices = [one.slice for one in found.pairs[0].differences if one.name == "ss"]
    assert {"task": "intrasentence", "domain": "trade"} in slices
    assert {"task": "intrasentence", "domain": "family"} not in slices


@pytest.fixture
def made_up(tmp_path: Path) -> Result:
    """A result that knows no folder."""
    measured: dict[str, Any] = {
        "measure": "pair-likelihood",
        "limit": 9,
        "out": tmp_path,
        "cache": False,
    }
    (result,) = stereometer.run("starter", model="fake", **measured, **QUICK)
    return dataclasses.replace(result, folder=None)


@pytest.mark.parametrize("verb", ["compare", "relate", "ensemble"])
def test_a_result_that_is_not_stored_says_what_to_pass(verb: str, made_up: Result) -> None:
    with pytest.raises(UsageError, match=r"This Result is not a stored run\. .* `run` or `load`"):
        getattr(stereometer, verb)(made_up, made_up, made_up)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems on CATs, and on pairs by two measures."""
    folder = tmp_path_factory.mktemp("stored") / "runs"
    for model in ("random", "ideal"):
        stereometer.run("starter", model=model, limit=20, out=folder, **QUICK)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        lambda folder: [folder],
        lambda folder: [folder / "ideal", folder / "RANDOM"],
        lambda folder: [folder / "starter-ideal-cat", folder / "starter-random-cat"],
        lambda folder: [stereometer.load(run) for run in sorted(folder.glob("*-cat-*"))],
    ],
    ids=["folder of runs", "models", "beginnings", "Results"],
)
def test_runs_are_named_as_one_would_name_them(name: Any, stored: Path) -> None:
    found = stereometer.compare(*name(stored), **QUICK)
    assert (found.systems, found.others) == (("ideal", "random"), ())
    assert not {"folder", "folders"} & found.as_json().keys()


def test_what_a_folder_holds_besides_is_left_out_or_compared_apart(stored: Path) -> None:
    said = call("compare", stored, "--resamples", 100)
    assert "ideal on starter by pair-likelihood@1 is left out: no other whole run" in said.out
    stereometer.run("starter", model="fake", limit=20, out=stored.parent / "more", **QUICK)
    both = stereometer.compare(stored, stored.parent / "more", **QUICK)
    assert (both.kind, [other.kind for other in both.others]) == ("cat", ["pair"])
    assert {row["measure"] for row in both.rows()} > {both.measure}


def test_models_of_different_kinds_are_said_to_be(
    made_up: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    masked, causal, replayed = (
        dataclasses.replace(made_up, model_card={"family": family})
        for family in ("masked", "causal", "replayed")
    )
    assert family_notes([masked, masked, replayed]) == []
    (note,) = family_notes([masked, causal])
    assert "different kinds (causal, masked)" in note
    print_view(results([masked, causal]))
    assert note in capsys.readouterr().out


def test_a_difference_in_precision_is_said(made_up: Result) -> None:
    full, half, server = (
        dataclasses.replace(made_up, model=name, model_card={"family": family, "dtype": dtype})
        for name, family, dtype in (
            ("a", "causal", "float32"),
            ("b", "causal", "bfloat16"),
            ("c", "server", "unknown"),
        )
    )
    assert family_notes([full, full, server]) == []
    (note,) = family_notes([full, half, server])
    assert "Precision differs: a in float32, b in bfloat16." in note


@pytest.mark.long
def test_systems_that_are_alike_are_told_apart_about_as_often_as_the_level_says() -> None:
    """Ten terms, the fewest that are drawn: at 5 %, at most 9 % of 300 sets in each metric (5.3 %
    in icat over 1,000)."""
    rng, settings = np.random.default_rng(1), Settings(resamples=500)
    beyond: Counter[str] = Counter()
    for _ in range(300):
        leans = rng.normal(0.25, 0.3, 10)
        drawn = rng.normal([0.0, 0.0, -1.2], 1, (2, 200, 3)) + np.repeat(leans, 20)[:, None] * [
            1,
            0,
            0,
        ]
        systems = [
            [
                cat_score(at, "trade", at // 20, "intrasentence", tuple(row))
                for at, row in enumerate(some)
            ]
            for some in drawn
        ]
        (pair,) = comparison.compared(
            ["one", "other"], systems, catalog.shape("cat"), settings, all_pairs=False
        )
        beyond.update(one.name for one in pair.differences if not one.slice and one.p < 0.05)
    assert max(beyond[name] for name in ("lms", "ss", "icat")) <= 27


# -------------------------------------------------------------------------------------------- ties


def tied_pairs(rng: np.random.Generator, tied: float) -> list[Score]:
    """262 pairs, 60 % of those that are decided won."""
    scores = []
    for at in range(262):
        gap = 0.0 if rng.random() < tied else 1.0 if rng.random() < 0.6 else -1.0
        scores.append(pair_score(at, "age", None, gap - 2.0, -2.0))
    return scores


def rejected(tied: float, sets: int) -> float:
    """How often the interval misses the true difference, where one side has ties."""
    rng, shape, beyond = np.random.default_rng(7), catalog.shape("pair"), 0
    for _ in range(sets):
        first = tied_pairs(rng, 0.0)
        second = tied_pairs(rng, tied)
        (pair,) = comparison.compared(
            ["one", "other"], [first, second], shape, Settings(resamples=100, ties=1.0), False
        )
        row = difference(pair, "pair_preference")
        truth = 60 * (1 - tied) + 50 * tied - 60
        beyond += not row.low <= truth <= row.high
    return beyond / sets


@pytest.mark.long
@pytest.mark.parametrize("tied", [0.25, 0.5])
def test_ties_on_one_side_leave_the_size_as_it_is(tied: float) -> None:
    assert rejected(tied, 150) <= 0.11


def test_terms_that_all_differ_alike_are_not_certainty() -> None:
    """Twelve terms of three items, one more won in each by the second system."""
    both = [
        [
            cat_score(
                at, "age", at // 3, "intrasentence", (-1.0, -2.0 if at % 3 < won else 0.0, -3.0)
            )
            for at in range(36)
        ]
        for won in (1, 2)
    ]
    (pair,) = comparison.compared(
        ["one", "other"], both, catalog.shape("cat"), Settings(resamples=100), False
    )
    row = difference(pair, "ss")
    assert row.difference == pytest.approx(100 / 3)
    assert row.p == pytest.approx(sign_flip([np.array([0.0, 0.0, 1.0])] * 12))
    assert 0 < row.p < 0.05
    assert row.low < row.difference < row.high


def test_a_side_that_is_undetermined_is_not_compared() -> None:
    rng = np.random.default_rng(1)
    (pair,) = comparison.compared(
        ["one", "other"],
        [tied_pairs(rng, 0.0), tied_pairs(rng, 0.5)],
        catalog.shape("pair"),
        Settings(resamples=100),
        False,
    )
    assert not pair.differences
    assert all("other is undetermined" in row.why for row in pair.withheld)


def test_a_p_at_its_floor_says_so() -> None:
    """Few terms and 100 resamples: over ten pairs of systems no p of icat can be small."""
    systems = [
        [
            cat_score(at, "age", at % 4, "intrasentence", (0.0, -1.0 if at % of else 1.0, -3.0))
            for at in range(200)
        ]
        for of in (1, 2, 3, 5, 9)
    ]
    pairs = comparison.compared(
        list("abcde"), systems, catalog.shape("cat"), Settings(resamples=100), all_pairs=True
    )
    rows = [difference(pair, "icat") for pair in pairs]
    floored = [row for row in rows if row.p == pytest.approx(2 / 101)]
    assert floored
    for row in floored:
        assert row.verdict.startswith("not beyond noise: p cannot fall below 0.")
        assert (row.beyond_noise, row.closer) == (False, "neither")
