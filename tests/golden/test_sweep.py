"""A sweep over the StereoSet authors' released predictions: no model is asked."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

import stereometer
from stereometer.wings.sweep.shape import JOINT, READING, named
from stereometer.wings.sweep.sweep import Sweep
from tests.conftest import released
from tests.golden.test_stereoset import SYSTEMS

pytestmark = pytest.mark.golden


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    runs, out = (tmp_path_factory.mktemp(name) for name in ("runs", "swept"))
    for system in ("gpt2", "bert-base-cased", "SentimentModel.json"):
        stereometer.replay(
            released(f"stereoset/predictions/{SYSTEMS[system]}.json.gz"),
            benchmark="stereoset",
            measure="cat-likelihood",
            variant="paper",
            name=system,
            resamples=100,
            out=runs,
        )[0]
    return stereometer.sweep("stereoset", runs=[runs], out=out, resamples=1000)


def test_one_of_the_readings_is_the_published_number(swept: Sweep) -> None:
    """Averaged by term over all items, with ties lost as the authors' code has it."""
    published = json.loads(released("stereoset/published_scores.json").read_text())
    for result in swept.results:
        for task in ("intrasentence", "intersentence"):
            (row,) = [
                row
                for row in named(result, READING)
                if (row.slice["task"], row.slice["averaging"], row.slice["items"])
                == (task, "term", "all")
            ]
            theirs = published[result.model][task]["overall"]["SS Score"]
            assert row.least == pytest.approx(theirs, abs=1e-9)


def test_scores_alone_answer_averaging_and_items(swept: Sweep) -> None:
    for result in swept.results:
        rows = [row for row in named(result, READING) if row.slice["task"] == "intrasentence"]
        chosen = {(row.slice["averaging"], row.slice["items"]) for row in rows}
        assert chosen == {(a, b) for a in ("term", "item") for b in ("all", "clean")}
    assert swept.requests.needed == 0


def test_a_preference_of_gpt2_across_sentences_turns_on_the_items(swept: Sweep) -> None:
    """On all items within five points of 50, on clean ones beyond noise; BERT's does not turn."""
    said = {
        (result.model, row.slice["task"]): row.verdict or ""
        for result in swept.results
        for row in named(result, JOINT)
    }
    assert said["gpt2", "intersentence"].startswith("2 of 4 readings prefer stereotypes")
    assert said["gpt2", "intersentence"].endswith("it turns on: items")
    for task in ("intrasentence", "intersentence"):
        verdict = said["bert-base-cased", task]
        assert verdict.startswith("4 of 4 readings prefer stereotypes, joint p")
        assert verdict.endswith("no choice changes what they say")


def test_every_two_systems_are_ordered(swept: Sweep) -> None:
    pairs = {(order.first, order.second) for order in swept.orders}
    assert len(pairs) == len(list(combinations(swept.results, 2)))
    assert all(order.readings == 4 for order in swept.orders)
