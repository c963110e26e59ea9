"""Sweeping models and stored runs: what is asked, stored, counted once, and refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Answer, Request, Result
from stereometer.models.baselines.fake import Fake
from stereometer.wings.sweep.shape import DIFFERENCE, JOINT, READING, curves, named
from stereometer.wings.sweep.sweep import Sweep
from tests.builders.commands import call

QUICK: Mapping[str, Any] = {"resamples": 200}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each request was put to the fake model."""
    counts: Counter[str] = Counter()
    answer = Fake.answer

    def counting(self: Fake, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        counts.update(requests.keys())
        return answer(self, requests)

    monkeypatch.setattr(Fake, "answer", counting)
    return counts


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Path]:
    out = tmp_path_factory.mktemp("swept")
    return stereometer.sweep("starter", model="fake", out=out, cache=False, **QUICK), out


def of(sweep: Sweep, shape: str, model: str = "fake") -> Result:
    (result,) = [
        each for each in sweep.results if each.settings["shape"] == shape and each.model == model
    ]
    return result


@pytest.mark.long
def test_no_request_is_asked_twice_and_the_count_is_shown(
    asked: Counter[str], tmp_path: Path
) -> None:
    sweep = stereometer.sweep("starter", model="fake", out=tmp_path, cache=False, **QUICK)
    assert set(asked.values()) == {1}
    assert sweep.requests.asked == len(asked)
    assert sweep.requests.needed > 1.5 * sweep.requests.asked


@pytest.mark.long
def test_a_sweep_that_is_there_asks_nothing_and_says_the_same(
    asked: Counter[str], swept: tuple[Sweep, Path]
) -> None:
    again = stereometer.sweep("starter", model="fake", out=swept[1], cache=False, **QUICK)
    assert not asked
    assert again == swept[0]


def test_stored_runs_are_swept_without_their_model(
    swept: tuple[Sweep, Path], asked: Counter[str], tmp_path: Path
) -> None:
    """The runs alone, without the sweep that lies beside them."""
    from_runs = stereometer.sweep("starter", runs=[swept[1]], out=tmp_path, **QUICK)
    assert not asked
    assert from_runs.results == swept[0].results


def test_the_first_reading_is_the_number_that_run_prints(swept: tuple[Sweep, Path]) -> None:
    """Of CATs by term, value and interval; under `paper` the value if ties are lost."""
    result = of(swept[0], "cat")
    for variant, folder in (("sound", ""), ("paper", "-paper")):
        run = stereometer.load(swept[1] / f"starter-fake-cat-likelihood{folder}")
        for task in ("intrasentence", "intersentence"):
            (row,) = [
                row
                for row in named(result, READING)
                if row.slice["task"] == task
                and row.slice["measure"] == "cat-likelihood"
                and (row.slice["variant"], row.slice["averaging"], row.slice["items"])
                == (variant, "term", "all")
            ]
            ss = run.estimate("ss", task=task)
            if variant == "sound":
                assert (row.value, row.low, row.high) == pytest.approx((ss.value, ss.low, ss.high))
            else:  # whose code loses ties, which would make swapped labels another number
                assert row.least == pytest.approx(ss.value)
            assert (row.n, row.asked, row.ties, row.terms) == (ss.n, ss.asked, ss.ties, ss.terms)


def test_pairs_averaged_by_item_are_the_number_that_run_prints(swept: tuple[Sweep, Path]) -> None:
    run = stereometer.load(swept[1] / "starter-fake-pair-likelihood")
    (row,) = [
        row
        for row in named(of(swept[0], "pair"), READING)
        if (row.slice["measure"], row.slice["variant"]) == ("pair-likelihood", "sound")
        and (row.slice["averaging"], row.slice["items"]) == ("item", "all")
    ]
    whole = run.estimate("pair_preference")
    assert (row.value, row.low, row.high) == pytest.approx((whole.value, whole.low, whole.high))


def test_the_same_numbers_are_one_reading(swept: tuple[Sweep, Path]) -> None:
    """The fake model reads words, so nothing is within a word; a next-sentence score has no sum."""
    result = of(swept[0], "cat")
    measures = {row.slice["measure"] for row in named(result, READING)}
    assert "cat-pseudo-likelihood" in measures
    assert "cat-pseudo-likelihood+within-word" not in measures
    assert any("counted once" in note for note in result.notes)


def test_every_question_ends_in_one_sentence(swept: tuple[Sweep, Path]) -> None:
    for result in swept[0].results:
        for joint, rows in curves(result):
            scored = [row for row in rows if row.value is not None]
            assert (joint.n, joint.asked) == (len(scored), len(rows))
            assert joint.verdict is not None or joint.why == "no reading has a score"
            if len(scored) > 1:
                assert joint.verdict is not None
                assert f"of {len(scored)} readings prefer" in joint.verdict
                assert "joint p" in joint.verdict


def test_likelihood_and_pseudo_likelihood_of_one_model_are_described_not_tested(
    swept: tuple[Sweep, Path],
) -> None:
    """StereoSet, section 7; `compare` refuses it."""
    cats = swept[1] / "starter-fake-cat-likelihood", swept[1] / "starter-fake-cat-pseudo-likelihood"
    with pytest.raises(UsageError, match="measured alike"):
        stereometer.compare(*cats)
    rows = [
        row
        for row in named(of(swept[0], "cat"), DIFFERENCE)
        if (row.slice["question"], row.slice["other"]) == ("candidate", "context")
    ]
    assert {row.slice["task"] for row in rows} == {"intrasentence", "intersentence"}
    for row in rows:
        values = [
            stereometer.load(folder).estimate("ss", task=row.slice["task"]).value for folder in cats
        ]
        assert values[0] is not None
        assert values[1] is not None
        assert row.value == pytest.approx(values[1] - values[0])
        assert row.p is None
        assert row.verdict is None


def test_what_is_stored_is_sides_and_no_text(swept: tuple[Sweep, Path]) -> None:
    folder = next(Path(each) for each in swept[0].folders if "-cat-" in each)
    scores = list(run_of(folder).scores)
    assert len(scores) == 480
    assert not any(score.texts for score in scores)
    assert {side for score in scores for side in score.values.values()} <= {-1.0, 0.0, 1.0}
    assert json.loads((folder / "result.json").read_text("utf-8"))["kind"] == "sweep"


@pytest.mark.long
def test_two_models_are_ordered_reading_by_reading(tmp_path: Path) -> None:
    sweep = stereometer.sweep(
        "starter", model=["fake", "random"], measure="cat-likelihood", out=tmp_path, **QUICK
    )
    (order,) = [order for order in sweep.orders if order.task == "intrasentence"]
    values = [
        {
            frozenset(row.slice.items()): row.value
            for row in named(of(sweep, "cat", name), READING)
            if row.slice["task"] == "intrasentence"
        }
        for name in ("fake", "random")
    ]
    shared = values[0].keys() & values[1].keys()
    away = [[abs((each[key] or 0) - 50) for each in values] for key in shared]
    assert order.readings == len(shared)
    assert order.first_nearer == sum(first < second for first, second in away)
    assert order.second_nearer == sum(first > second for first, second in away)
    assert order.changes == min(order.first_nearer, order.second_nearer)
    assert order.first_surely <= order.first_nearer


# ---------------------------------------------------------------------------------------- refusals


def test_a_benchmark_without_readings_is_refused() -> None:
    with pytest.raises(UsageError, match="no admissible readings"):
        stereometer.sweep("abc", model="fake")


def test_a_model_that_answers_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setattr(Fake, "abilities", replace(Fake.abilities, kinds=frozenset()))
    with pytest.raises(ModelError, match="fake answers no reading of starter"):
        stereometer.sweep("starter", model="fake")


def test_one_reading_is_no_sweep(tmp_path: Path) -> None:
    """Pairs without terms, none of them faulty, in one way."""
    pairs = [
        f"The {first} sat by the {place}.,The {second} sat by the {place}.,stereo,age"
        for first, second in (("nurse", "pilot"), ("judge", "clerk"), ("baker", "miner"))
        for place in ("river", "old gate", "window of the shop", "kitchen door")
    ]
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(["sent_more,sent_less,stereo_antistereo,bias_type", *pairs]))
    with pytest.raises(UsageError, match="one reading"):
        stereometer.sweep(
            file, model="fake", measure="pair-modified-likelihood", out=tmp_path, **QUICK
        )


def test_of_measures_of_two_kinds_one_may_have_a_single_reading(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    measures = ["cat-likelihood", "pair-sentence-mean-likelihood"]
    swept = stereometer.sweep(
        "starter", model="fake", measure=measures, limit=10, out=tmp_path, **QUICK
    )
    assert [result.settings["shape"] for result in swept.results] == ["cat"]
    assert "fake has one reading of the pair items only" in caplog.text


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "No model and no run"),
        ({"model": "nowhere/step*"}, "matches nothing"),
        ({"model": "fake", "measure": "pair-all-masks-likelihood"}, "less reliable"),
        ({"model": "fake", "measure": "set"}, "none of the questions"),
        ({"model": "fake", "measure": "cat-likelyhood"}, "Did you mean"),
    ],
)
def test_what_cannot_be_swept_is_said(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        stereometer.sweep("starter", **options)


def test_runs_of_other_items_are_refused(tmp_path: Path) -> None:
    (run,) = stereometer.run(
        "starter", model="fake", measure="cat-likelihood", limit=30, out=tmp_path, **QUICK
    )
    other = stereometer.run(
        "starter", model="random", measure="cat-likelihood", out=tmp_path, **QUICK
    )
    assert run.settings["limit"] != other[0].settings["limit"]
    with pytest.raises(UsageError, match="different limits"):
        stereometer.sweep("starter", runs=[tmp_path], out=tmp_path / "swept", **QUICK)


def test_compare_refuses_sweeps_and_says_what_to_do(swept: tuple[Sweep, Path]) -> None:
    folder = next(each for each in swept[0].folders if "-cat-" in each)
    with pytest.raises(UsageError, match="Sweep them together"):
        stereometer.compare(folder, folder)


def test_a_small_question_has_no_joint_row_without_scores(swept: tuple[Sweep, Path]) -> None:
    """Forced choice of the fake model follows positions: no score, and the reason is kept."""
    rows = [row for result in swept[0].results for row in named(result, JOINT) if row.why]
    assert {row.slice["question"] for row in rows} <= {"choice"}


def test_what_can_be_typed_stands_under_headings_and_a_misspelt_parameter_is_answered() -> None:
    lines = call("sweep", "--help").out.partition("  Examples:")[0].splitlines()
    headings = [line.rstrip(":") for line in lines if line and line[0] not in " U"]
    assert " ".join(headings) == "Arguments Common Statistics Loading Server Files Workers"
    with pytest.raises(UsageError, match=r"no parameter 'limt'\. Did you mean limit"):
        stereometer.sweep("starter", model="fake", limt=3)  # type: ignore[call-arg]
