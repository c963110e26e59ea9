"""Stopping and going on, and the same bytes for the same plan."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import stereometer
from stereometer.core.types import Answer, Request
from stereometer.models.baselines import fake
from tests.builders.little import QUICK, Counting, little_stereoset
from tests.builders.stored import only

BYTES = ("result.json", "scores.jsonl")


def with_model(monkeypatch: pytest.MonkeyPatch, model: Counting) -> Counting:
    monkeypatch.setattr(fake, "Fake", lambda seed=0: model)
    return model


@pytest.mark.parametrize("stop_after", [0, 1, 300, 700])
def test_an_interrupted_run_keeps_its_answers_and_the_next_asks_only_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    path = str(little_stereoset(tmp_path / "dev.json", 150))
    stopped = with_model(monkeypatch, Counting(stop_after=stop_after))
    with pytest.raises(KeyboardInterrupt):
        stereometer.run(path, model="fake", out=tmp_path / "run", **QUICK)
    assert not (only(tmp_path / "run") / "result.json").exists()
    assert not list((tmp_path / "run").glob("*scores*"))

    going_on = with_model(monkeypatch, Counting())
    (later,) = stereometer.run(path, model="fake", out=tmp_path / "run", **QUICK)
    assert len(stopped.asked) == stop_after
    assert not set(stopped.asked) & set(going_on.asked)

    whole = with_model(monkeypatch, Counting())
    (at_once,) = stereometer.run(path, model="fake", out=tmp_path / "whole", cache=False, **QUICK)
    assert later == at_once
    assert set(stopped.asked) | set(going_on.asked) == set(whole.asked)
    for name in BYTES:
        here, there = only(tmp_path / "run") / name, only(tmp_path / "whole") / name
        assert here.read_bytes() == there.read_bytes()


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        stereometer.run("starter", model="fake", out=tmp_path / name, cache=False, **QUICK)
    for folder in (tmp_path / "a").iterdir():
        for name in BYTES:
            assert (folder / name).read_bytes() == (
                tmp_path / "b" / folder.name / name
            ).read_bytes()


def test_another_seed_gives_other_intervals_and_the_same_values(tmp_path: Path) -> None:
    first, second = (
        stereometer.run("starter", model="fake", seed=seed, out=tmp_path / str(seed), **QUICK)[0]
        for seed in (1, 2)
    )
    assert [one.value for one in first.estimates] == [one.value for one in second.estimates]
    assert [one.low for one in first.estimates] != [one.low for one in second.estimates]


def test_times_stand_in_the_record_of_the_run_only(tmp_path: Path) -> None:
    stereometer.run(
        "starter", model="ideal", measure=["pair-likelihood"], out=tmp_path / "run", **QUICK
    )
    record = json.loads((only(tmp_path / "run") / "run.json").read_text())
    assert record["schema"] == "stereometer-run@1"
    assert {"started", "seconds", "machine", "asked"} <= set(record)
    assert "started" not in (only(tmp_path / "run") / "result.json").read_text()


class Infinite(Counting):
    """Gives a token no probability at all, as half-precision models do."""

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, answer in super().answer(requests):
            answer.rows[0]["logprob"][0] = float("-inf")
            yield key, answer


def test_an_item_without_a_finite_score_is_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(monkeypatch, Infinite())
    (result,) = stereometer.run(
        "starter", model="fake", measure=["pair-likelihood"], out=tmp_path / "run", **QUICK
    )
    assert result.estimate("pair_preference").value is None
    assert sum(result.estimate("pair_preference").skipped.values()) == 400
