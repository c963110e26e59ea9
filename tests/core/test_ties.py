"""Ties: above one in ten there is no score, and from where to where it could be is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import stereometer
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats.metrics import summarize
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.metrics import summarize as summarize_pairs
from tests.builders.little import QUICK, pick
from tests.builders.stored import only
from tests.builders.sure import all_of, sure
from tests.strategies import cat_score, pair_score


def cats(tied: int, unrelated_tied: int = 0, terms: int = 20) -> list[Score]:
    """A hundred items, five a term, the stereotype ahead in two of three, some tied."""
    scores = []
    for at in range(100):
        stereotype = 0.0 if at % 3 else -2.0
        values = (stereotype, -1.0 if at >= tied else stereotype, -3.0)
        if at < unrelated_tied:
            values = (values[0], values[1], values[0])
        scores.append(cat_score(at, "age", at % terms, "intrasentence", values))
    return scores


def pairs(tied: int) -> list[Score]:
    return [
        pair_score(
            at, "age", None, -1.0 if at < tied or at % 3 else -3.0, -1.0 if at < tied else -2.0
        )
        for at in range(100)
    ]


def both(tied: int, settings: Settings) -> list[Estimate]:
    return [
        pick(summarize(cats(tied), settings), "ss"),
        pick(summarize_pairs(pairs(tied), settings), "pair_preference"),
    ]


@pytest.mark.parametrize("tied", [0, 10])
def test_up_to_one_in_ten_there_is_a_score_with_its_bounds(tied: int) -> None:
    for row in both(tied, Settings(resamples=100)):
        assert row.value is not None
        assert row.verdict is not None
        assert sure(row.most) - sure(row.least) == pytest.approx(tied)
        assert row.value == pytest.approx((sure(row.least) + sure(row.most)) / 2)


def test_above_there_is_none_and_no_verdict() -> None:
    for row in both(11, Settings(resamples=100)):
        assert (row.value, row.low, row.high, row.p, row.verdict) == (None,) * 5
        assert (row.why, row.ties) == ("undetermined: 11 % ties", 11)
        assert sure(row.most) - sure(row.least) == pytest.approx(11)


def test_paper_keeps_its_value_and_has_the_bounds_beside_it() -> None:
    for row in both(11, Settings("paper", resamples=100)):
        assert row.value == pytest.approx(sure(row.least))
        assert (row.low, row.p, row.verdict) == (None, None, "undetermined: 11 % ties")
        assert sure(row.most) - sure(row.least) == pytest.approx(11)


def test_ties_that_are_meant_are_counted_as_halves() -> None:
    for row in both(60, Settings(resamples=100, ties=1.0)):
        assert row.value == pytest.approx((sure(row.least) + sure(row.most)) / 2)


def test_ties_with_the_unrelated_candidate_are_of_lms() -> None:
    """Thirty of a hundred items tie once: 15 % of the comparisons."""
    estimates = summarize(cats(0, unrelated_tied=30), Settings(resamples=100))
    lms, ss, icat = (pick(estimates, name) for name in ("lms", "ss", "icat"))
    assert (lms.why, icat.why) == ("undetermined: 15 % ties",) * 2
    assert sure(lms.most) - sure(lms.least) == pytest.approx(15)
    assert ss.value is not None


def test_bounds_are_averaged_over_terms_as_the_score_is() -> None:
    """One term of one tied item, one of nine that are won: 0 or 100, and 100."""
    ties = [cat_score(0, "age", 0, "intrasentence", (-1.0, -1.0, -3.0))]
    won = [cat_score(at, "age", 1, "intrasentence", (-1.0, -2.0, -3.0)) for at in range(1, 10)]
    row = pick(summarize(ties + won, Settings(resamples=100)), "ss")
    assert (sure(row.least), row.value, sure(row.most)) == (50.0, 75.0, 100.0)


def test_icat_is_bounded_by_all_that_its_parts_may_be() -> None:
    row = pick(summarize(cats(10), Settings(resamples=100)), "icat")
    ss = pick(summarize(cats(10), Settings(resamples=100)), "ss")
    assert sure(row.least) == pytest.approx((100 - sure(ss.most)) * 2)
    assert sure(row.most) == pytest.approx((100 - sure(ss.least)) * 2)


def test_scores_that_are_all_zero_satisfy_no_bar(tmp_path: Path) -> None:
    benchmark = stereometer.open_benchmark("starter")
    lines = [
        {"id": item.id} | dict.fromkeys(item.candidate_ids, 0.0)
        for item in all_of(Pair, benchmark.items("pair"))
    ]
    file = tmp_path / "zeros.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = stereometer.replay(file, benchmark="starter", out=tmp_path / "run", **QUICK)[0]
    row = result.estimate("pair_preference")
    assert (row.value, row.low, row.high) == (None, None, None)
    assert row.why == "undetermined: 100 % ties"


@pytest.mark.parametrize("measure", ["cat-likelihood", "pair-likelihood"])
def test_a_baseline_means_its_ties(measure: str, tmp_path: Path) -> None:
    (result,) = stereometer.run(
        "starter", model="ideal", measure=measure, out=tmp_path / "run", **QUICK
    )
    name = "ss" if measure.startswith("cat") else "pair_preference"
    row = result.estimate(name)
    assert (row.value, row.ties) == (50.0, row.n)
    assert result.settings["ties"] == 1.0


def test_forced_choice_keeps_its_own_rule(tmp_path: Path) -> None:
    (result,) = stereometer.run(
        "starter",
        model="fake",
        measure="pair-forced-choice",
        limit=20,
        out=tmp_path / "run",
        **QUICK,
    )
    assert result.settings["ties"] == 1.0
    assert not str(result.estimate("pair_preference").why).startswith("undetermined")


def test_the_plan_holds_margin_and_ties(tmp_path: Path) -> None:
    stereometer.run("starter", model="ideal", delta=3.0, out=tmp_path / "run", **QUICK)
    for folder in (tmp_path / "run").iterdir():
        plan = json.loads((only(folder) / "run.json").read_text())["plan"]
        assert (plan["delta"], plan["ties"]) == (3.0, 1.0)


def test_nothing_else_moves_where_there_are_no_ties() -> None:
    strict, lenient = (both(0, Settings(resamples=100, ties=ties)) for ties in (0.0, 1.0))
    assert strict == [replace(row) for row in lenient]
