"""Pairs of a known term vary together: they are counted, compared and stored with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

import stereometer
from stereometer.core import catalog
from stereometer.core.compare import compared
from stereometer.core.shapes.points import copied
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.pairs.files import read_pairs, write
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.metrics import summarize
from tests.builders.little import little_stereoset, pick
from tests.builders.stored import only
from tests.builders.sure import sure
from tests.strategies import pair_score

SHAPE = catalog.find("shape", "pair")
QUICK = Settings(resamples=100)


def of_terms(won: list[int], size: int = 4) -> list[Score]:
    """`size` pairs a term, so many of them won."""
    scores: list[Score] = []
    for term, wins in enumerate(won):
        for at in range(size + term % 2):
            score = pair_score(len(scores), "age", None, -1.0 - (at >= wins), -1.5)
            scores.append(replace(score, slices={**score.slices, "target": f"term{term}"}))
    return scores


WON = [4, 1, 3, 3, 0, 2, 4, 4, 1, 3, 2, 4]


def by_hand(won: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """The interval of a ratio over clusters of unequal size (CR2)."""
    share, weights = won.sum() / sizes.sum(), sizes / sizes.sum()
    error = np.sqrt(((won - share * sizes) ** 2 / (1 - weights)).sum()) / sizes.sum()
    half = t.ppf(0.975, 1 / (weights**2).sum() - 1) * error
    return 100 * (share - half), 100 * (share + half)


def preference(scores: list[Score]) -> Estimate:
    return pick(summarize(scores, QUICK), "pair_preference")


def test_ten_terms_get_students_t_over_them() -> None:
    row = preference(of_terms(WON))
    sizes = np.array([4 + at % 2 for at in range(12)])
    assert (row.low, row.high) == pytest.approx(by_hand(np.array(WON), sizes))
    assert (row.interval, row.scope, row.terms) == ("t over target terms", "terms like these", 12)
    assert row.test == "t over target terms, pairs weighing alike"
    assert (sure(row.p) < 0.05) == (not sure(row.low) <= 50 <= sure(row.high))


def test_fewer_are_held_fixed_and_none_is_said() -> None:
    few, alone = of_terms(WON[:9]), [replace(s, slices={"bias_type": "age"}) for s in of_terms(WON)]
    assert (preference(few).scope, preference(few).interval) == (
        "these terms",
        "Wilson, ties apart",
    )
    assert preference(few).correction == "one test"
    assert preference(few).test == "exact sign test over pairs that are not ties"
    assert (preference(alone).scope, preference(alone).terms) == ("pairs like these", None)


def test_a_pair_of_no_term_stands_for_itself() -> None:
    scores = of_terms(WON)
    mixed = [
        replace(s, slices={"bias_type": "age"}) if at < 4 else s for at, s in enumerate(scores)
    ]
    sizes = np.array([1, 1, 1, 1] + [4 + at % 2 for at in range(1, 12)])
    row = preference(mixed)
    assert (row.low, row.high) == pytest.approx(by_hand(np.array([1] * 4 + WON[1:]), sizes))
    assert row.terms == 11


def test_terms_have_no_slices_of_their_own() -> None:
    assert not [row for row in summarize(of_terms(WON), QUICK) if "target" in row.slice]


def test_two_systems_are_compared_over_terms() -> None:
    other = [min(4, wins + at % 3) for at, wins in enumerate(WON)]
    (pair,) = compared(["a", "b"], [of_terms(WON), of_terms(other)], SHAPE, QUICK, False)
    row = pair.differences[0]
    sizes = np.array([4 + at % 2 for at in range(12)])
    change = np.array(other) - np.array(WON)
    assert (row.low, row.high) == pytest.approx(by_hand(change, sizes))
    assert (row.test, row.scope, row.terms) == (
        "paired t over terms, pairs weighing alike",
        "terms like these",
        12,
    )
    assert (row.p < 0.05) == (not row.low <= 0 <= row.high)


def test_shifts_are_over_terms() -> None:
    scores = of_terms(WON)
    row = pick(SHAPE.shifts(scores, {s.item for s in scores[::2]}, QUICK, False), "pair_preference")
    assert (row.interval, row.scope) == ("t over target terms", "terms like these")
    assert sure(row.low) < sure(row.difference) < sure(row.high)


def test_a_table_may_name_the_term_and_asks_the_same(tmp_path: Path) -> None:
    pairs = [Pair(f"p{at}", f"The old {at}.", f"The new {at}.", "age") for at in range(3)]
    plain, with_terms = tmp_path / "plain.csv", tmp_path / "terms.csv"
    write(plain, pairs)
    write(with_terms, [replace(pair, target="old") for pair in pairs])
    assert "target" not in plain.read_text()
    assert [pair.target for pair in read_pairs(with_terms)] == ["old"] * 3
    digests = {stereometer.open_benchmark(str(path)).digest for path in (plain, with_terms)}
    assert len(digests) == 1


def test_stereoset_read_as_pairs_keeps_its_terms(tmp_path: Path) -> None:
    data = little_stereoset(tmp_path / "dev.json")
    stereometer.run(
        "stereoset", model="fake", measure="pair-likelihood", data=data, out=tmp_path / "run",
        resamples=100, cache=False,
    )  # fmt: skip
    lines = (only(tmp_path / "run") / "scores.jsonl").read_text().splitlines()
    assert lines
    assert all(json.loads(line)["slices"]["target"] for line in lines)


def test_identical_texts_are_one_draw_and_a_text_in_two_terms_is_noted() -> None:
    """Sixty pairs, each of them twice: what sixty would show."""
    once = [
        replace(score, texts={"sent_more": score.item}, slices={"bias_type": "age"})
        for score in of_terms([3] * 15, size=4)[:60]
    ]
    twice = [*once, *(replace(score, item=f"{score.item} again") for score in once)]
    fields = ("value", "low", "high", "p", "detectable", "equivalent")
    one, two = preference(once), preference(twice)
    assert [getattr(two, name) for name in fields] == pytest.approx(
        [getattr(one, name) for name in fields]
    )
    assert two.interval == "Wilson, ties apart, identical texts as one"
    (pair,) = compared(["a", "b"], [twice, [*twice[1:], twice[0]]], SHAPE, QUICK, False)
    assert "identical texts" in pair.differences[0].test
    pairs = [Pair(f"p{at}", "The old.", "The new.", "age") for at in range(5)]
    named = [replace(item, target="old" if at else "new") for at, item in enumerate(pairs[:2])]
    assert list(copied([*pairs[2:], *named], ("target",))) == [
        "3 items of no known term share their texts: those of one text are one draw.",
        "Under more than one target term: 1 text, counted in each.",
    ]
