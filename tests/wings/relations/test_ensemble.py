"""Ensembles: cross-fitting that keeps its promise, the authors' rule by hand, and runs that compare
and report take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stereometer
from stereometer.core.errors import UsageError
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Score
from stereometer.kinds.cats.shape import SHAPE as CAT
from stereometer.wings.relations.ensemble import rules as ensemble
from stereometer.wings.relations.ensemble.combine import ensemble as combine
from stereometer.wings.relations.ensemble.combine import mean_weights
from tests.builders.little import little_stereoset, pairs_file, predictions
from tests.builders.stored import only
from tests.builders.trait_runs import stored_run
from tests.strategies import MODERATE, cat_score

LABELS = ("stereotype", "anti-stereotype", "unrelated")


def rows_of(seed: int, terms: int = 6, items: int = 4, members: int = 2) -> list[tuple[Score, ...]]:
    """A good member (unrelated lowest, with noise) and worse ones."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(terms * items):
        drawn = [
            cat_score(
                number,
                "trade",
                number % terms,
                "intrasentence",
                tuple(rng.normal([0, 0, -2 if at == 0 else 0], 1)),
            )
            for at in range(members)
        ]
        found.append(tuple(drawn))
    return found


# ------------------------------------------------------------------------------------------- linear


def test_weights_favour_the_member_that_knows_language() -> None:
    found = ensemble.linear(CAT, rows_of(1), 3, 0)
    assert all(
        one.weights[0] > 0.7 and sum(one.weights) == pytest.approx(1) for one in found.fitted
    )


def test_no_term_is_scored_with_weights_that_saw_it() -> None:
    """Whatever is done to a term's own scores, its weights stay; changed terms change the weights
    of others."""
    rows = rows_of(2)
    spoiled = [
        (
            tuple(
                cat_score(int(score.item[5:]), "trade", 0, "intrasentence", (-9.0, 3.0, 99.0))
                for score in row
            )
            if CAT.term(row[0]) == "trade-0"
            else row
        )
        for row in rows
    ]

    def weights_of(rows: list[tuple[Score, ...]]) -> dict[str, tuple[float, ...]]:
        return {
            term: one.weights
            for one in ensemble.linear(CAT, rows, 6, 0).fitted
            for term in one.terms
        }

    before, after = weights_of(rows), weights_of(spoiled)
    assert set(before) == {f"trade-{at}" for at in range(6)}
    assert before["trade-0"] == after["trade-0"]
    assert any(before[term] != after[term] for term in before if term != "trade-0")


@MODERATE
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), min_size=1, unique=True),
    st.integers(1, 7),
    st.integers(0, 3),
)
def test_parts_hold_every_term_once(places: list[tuple[str, int]], folds: int, seed: int) -> None:
    terms = [(domain, f"{domain}{number}") for domain, number in places]
    parts = ensemble.parts_of(sorted(terms), folds, seed)
    assert sorted(term for part in parts for term in part) == sorted(term for _, term in terms)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_the_scale_of_a_member_does_not_matter() -> None:
    rows = rows_of(3)
    scaled = [
        (
            first,
            cat_score(
                int(second.item[5:]),
                "trade",
                int(second.slices["target"][-1]),
                "intrasentence",
                tuple(1000 * second.values[label] - 7 for label in LABELS),
            ),
        )
        for first, second in rows
    ]
    for one, other in zip(
        ensemble.linear(CAT, rows, 3, 0).scores,
        ensemble.linear(CAT, scaled, 3, 0).scores,
        strict=True,
    ):
        assert other.values == pytest.approx(one.values, abs=1e-4)


@pytest.mark.long
def test_fit_finds_the_least_loss_on_a_grid() -> None:
    rng = np.random.default_rng(5)
    differences = rng.normal([1.0, 0.3], 1.0, size=(200, 2))
    shares = np.full(200, 1 / 200)
    found = ensemble.fit(differences, shares)
    grid = [
        (
            float(
                (shares * np.logaddexp(0, -differences @ w)).sum() + ensemble.RIDGE / 2 * (w @ w)
            ),
            *w,
        )
        for w in (np.array([a, b]) for a in np.arange(0, 4, 0.05) for b in np.arange(0, 4, 0.05))
    ]
    _, a, b = min(grid)
    assert found[0] == pytest.approx(a / (a + b), abs=0.03)


def test_members_that_do_not_help_weigh_the_same() -> None:
    assert ensemble.fit(np.array([[-1.0, -2.0]]), np.array([1.0])) == pytest.approx([0.5, 0.5])


# ----------------------------------------------------------------------------------------- the rule


def test_the_winner_of_every_comparison_gains_weight_times_score() -> None:
    assert ensemble.gains({"a": 0.5, "b": 0.2, "c": 0.1}, 10.0) == {"a": 10.0, "b": 2.0, "c": 0.0}
    assert ensemble.gains({"a": 0.5, "b": 0.5, "c": 0.1}, 1.0) == {
        "a": 0.5,
        "b": 0.5,
        "c": 0.0,
    }  # the tie adds nothing


def test_log_scores_are_read_as_the_probabilities_they_are_of() -> None:
    """exp within sentences, the logistic function across: what makes a computed run and a replayed
    one the same."""
    probabilities = (0.5, 0.2, 0.1)
    for task, inverse in (
        ("intrasentence", np.log),
        ("intersentence", lambda p: np.log(p) - np.log(1 - p)),
    ):
        plain = [(cat_score(0, "trade", 1, task, probabilities),)]
        logged = [(cat_score(0, "trade", 1, task, tuple(map(float, map(inverse, probabilities)))),)]
        weights = {task: [3.0]}
        assert ensemble.winners(CAT, logged, weights).scores[0].values == pytest.approx(
            ensemble.winners(CAT, plain, weights).scores[0].values
        )


def test_the_authors_weights_are_found_by_name_then_by_family() -> None:
    assert ensemble.weights_for("gpt2-large", "replayed") == {
        "intrasentence": 10000.0,
        "intersentence": 15.0,
    }
    assert ensemble.weights_for("my-own", "masked") == {"intrasentence": 1.0, "intersentence": 35.0}
    assert ensemble.weights_for("my-own", "replayed") is None


# ------------------------------------------------------------------------------------------ as runs


@pytest.fixture
def members(tmp_path: Path) -> list[Path]:
    """Two replays of the same little set."""
    dev = little_stereoset(tmp_path / "dev.json", 9)
    places = []
    for at, name in enumerate(("gpt2", "bert-base-cased")):
        (tmp_path / f"{name}.json").write_text(
            json.dumps(predictions(dev, lambda found, at=at: shift(found, at)))
        )
        for variant in ("sound", "paper"):
            place = tmp_path / f"{name}-{variant}"
            stereometer.replay(
                tmp_path / f"{name}.json",
                benchmark=str(dev),
                variant=variant,
                resamples=100,
                out=place,
            )[0]
            places.append(place)
    return places


def shift(found: dict[str, list[dict[str, Any]]], at: int) -> None:
    for task in found:
        for number, row in enumerate(found[task]):
            row["score"] = 1 / (2 + (number * (3 + 2 * at)) % 7)


@pytest.mark.long
def test_an_ensemble_is_a_run_that_compare_and_report_take(
    members: list[Path], tmp_path: Path
) -> None:
    done = combine(members[0], members[2], resamples=100, out=tmp_path / "both")
    assert (done.result.model, done.result.scoring, done.result.measure) == (
        "ensemble",
        "combined",
        "cat-replay@1",
    )
    assert [one.item for one in run_of(done.folder).scores] == [
        one.item for one in run_of(members[0]).scores
    ]
    assert set(mean_weights(done.result)) == {"intrasentence", "intersentence"}
    assert stereometer.compare(members[0], done.folder, resamples=100).systems == (
        "gpt2",
        "ensemble",
    )
    assert stereometer.write_report([members[0], done.folder], tmp_path / "report.html").exists()


@pytest.mark.long
def test_the_same_runs_give_the_same_bytes_and_a_finished_one_is_found(
    members: list[Path], tmp_path: Path
) -> None:
    for name in ("one", "two", "one"):
        combine(members[0], members[2], resamples=100, out=tmp_path / name)
    for file in ("result.json", "scores.jsonl"):
        first, second = (only(tmp_path / name) / file for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()
    with pytest.raises(UsageError, match="other settings"):
        combine(members[0], members[2], resamples=200, out=tmp_path / "one")


def test_paper_combines_raw_scores_by_hand(members: list[Path], tmp_path: Path) -> None:
    done = combine(members[1], members[3], resamples=100, out=tmp_path / "paper")
    first, second = (
        {one.item: one for one in run_of(place).scores} for place in (members[1], members[3])
    )
    for score in run_of(done.folder).scores:
        weights = (10000.0, 1.0) if score.slices["task"] == "intrasentence" else (15.0, 35.0)
        expected = dict.fromkeys(LABELS, 0.0)
        for member, weight in zip((first, second), weights, strict=True):
            values = member[score.item].values
            for one in LABELS:
                expected[one] += sum(
                    weight * values[one] for other in LABELS if values[one] > values[other]
                )
        assert score.values == pytest.approx(expected)


def test_an_item_that_one_member_lacks_is_skipped_and_says_whose(tmp_path: Path) -> None:
    dev = little_stereoset(tmp_path / "dev.json", 9)
    (tmp_path / "whole.json").write_text(json.dumps(predictions(dev)))
    (tmp_path / "part.json").write_text(
        json.dumps(predictions(dev, lambda found: found["intrasentence"].pop(0)))
    )
    places = [tmp_path / name for name in ("whole", "part")]
    for place in places:
        stereometer.replay(
            place.with_suffix(".json"), benchmark=str(dev), resamples=100, out=place
        )[0]
    done = combine(*places, resamples=100, coverage=0.5, out=tmp_path / "both")
    assert done.result.estimate("ss").skipped == {"not answered by part": 1}


def test_pairs_weigh_the_same_unless_told(tmp_path: Path) -> None:
    places = []
    for model in ("fake", "random"):
        places.append(tmp_path / model)
        stereometer.run(
            str(pairs_file(tmp_path / "pairs.csv")),
            model=model,
            measure=["pair-sentence-likelihood"],
            resamples=100,
            out=places[-1],
            cache=False,
        )
    done = combine(*places, resamples=100, out=tmp_path / "both")
    assert mean_weights(done.result) == {"pair": {"fake": 0.5, "random": 0.5}}
    assert "all members weigh the same" in done.result.notes[0]
    told = combine(*places, weights=["pair=3,1"], resamples=100, out=tmp_path / "told")
    assert mean_weights(told.result) == {"pair": {"fake": 0.75, "random": 0.25}}
    with pytest.raises(UsageError, match="does not fit these runs"):
        combine(*places, weights=["pair=3,1", "pair=1,3"], resamples=100, out=tmp_path / "twice")


@pytest.mark.parametrize("shape", ["cat", "pair"])
def test_answers_are_not_added_up_as_scores(shape: str, tmp_path: Path) -> None:
    from tests.builders.talkers import Talker, by_content, measured

    """A forced choice also keeps who beat whom, which is no candidate's score."""
    for name in ("one", "two"):
        measured(Talker(by_content, name), shape, tmp_path / name)
    with pytest.raises(UsageError, match="counts answers"):
        combine(tmp_path / "one", tmp_path / "two", resamples=100, out=tmp_path / "both")


def test_runs_on_neither_cats_nor_pairs_are_refused(tmp_path: Path) -> None:
    places = [
        stored_run(tmp_path / name, lambda template, group, trait: 1.0, ("man", "woman"), ("that",))
        for name in ("one", "two")
    ]
    with pytest.raises(UsageError, match="neither CATs nor pairs"):
        combine(*places, resamples=100, out=tmp_path / "both")
