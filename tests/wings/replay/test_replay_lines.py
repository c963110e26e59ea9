"""JSONL of log-probabilities, in its three forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError, UsageError
from stereometer.core.types import Result
from stereometer.wings.replay.replay import read_replay
from tests.builders.little import QUICK, little_stereoset, pairs_file


def lines(path: Path, given: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in given))
    return path


def replayed(path: Path, benchmark: Path, **settings: Any) -> Result:
    return stereometer.replay(path, benchmark=str(benchmark), **QUICK, **settings)[0]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return pairs_file(tmp_path / "pairs.csv")


@pytest.fixture
def cats(tmp_path: Path) -> Path:
    return little_stereoset(tmp_path / "dev.json", 2)


def items(cats: Path) -> list[str]:
    return [item["id"] for task in json.loads(cats.read_text())["data"].values() for item in task]


def test_what_is_no_score_is_not_used_and_said(tmp_path: Path) -> None:
    given = [{"id": "p1", "sent_more": -1.0, "sent_less": -2.0, "n_tokens": 12, "model": "gpt2"}]
    found = read_replay(lines(tmp_path / "s.jsonl", given))
    assert found.by_id == {"p1:sent_more": -1.0, "p1:sent_less": -2.0}
    assert found.notes == ("Fields of the file that hold no score were not used: n_tokens, model.",)


def test_one_line_an_item_with_a_value_a_candidate(tmp_path: Path, cats: Path) -> None:
    given = [
        {"id": one, "stereotype": -1.0, "anti-stereotype": -2.0, "unrelated": -3.0}
        for one in items(cats)
    ]
    result = replayed(lines(tmp_path / "s.jsonl", given), cats)
    assert (result.estimate("ss").value, result.estimate("lms").value, result.estimate("ss").n) == (
        100.0,
        100.0,
        4,
    )


def test_one_line_a_pair(tmp_path: Path, pairs: Path) -> None:
    given = [
        {"id": f"p{number}", "sent_more": -1.0, "sent_less": -2.0 + (number == 4) * 1.5}
        for number in (1, 2, 3, 4)
    ]
    result = replayed(lines(tmp_path / "s.jsonl", given), pairs)
    assert (result.estimate("pair_preference").value, result.estimate("pair_preference").n) == (
        75.0,
        4,
    )


def test_one_line_a_sentence(tmp_path: Path, cats: Path) -> None:
    given = [
        {"id": f"{one}-{label}", "logprob": score}
        for one in items(cats)
        for label, score in (("s", -2.0), ("a", -1.0), ("u", -1.5))
    ]
    result = replayed(lines(tmp_path / "s.jsonl", given), cats)
    assert (result.estimate("ss").value, result.estimate("lms").value) == (0.0, 50.0)


def test_a_list_of_token_log_probabilities_is_summed(tmp_path: Path) -> None:
    found = read_replay(
        lines(
            tmp_path / "s.jsonl",
            [
                {"id": "a", "logprob": [-1.0, -0.5]},
                {"id": "b", "sent_more": [-1, -2], "sent_less": -1},
            ],
        )
    )
    assert found.by_id == {"a": -1.5, "b:sent_more": -3.0, "b:sent_less": -1.0}


def test_numbers_serve_as_ids(tmp_path: Path) -> None:
    assert read_replay(lines(tmp_path / "s.jsonl", [{"id": 0, "logprob": -1.0}])).by_id == {
        "0": -1.0
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            {"id": "p1", "sent_more": -1.0, "sent_less": -2.0},
            "line 2: id 'p1:sent_more' has two scores",
        ),
        ({"id": "p2", "sent_more": "-1", "sent_less": -2.0}, "line 2: the score '-1' is text"),
        ({"id": "p2", "sent_more": True, "sent_less": -2.0}, "line 2: True is not a finite number"),
        (
            {"id": "p2", "sent_more": [-1.0, None], "sent_less": -2.0},
            "line 2: None is not a finite number",
        ),
        ({"id": "p2"}, "line 2 has no id or no score"),
        ({"sent_more": -1.0, "sent_less": -2.0}, "line 2 has no id or no score"),
        ([1], "line 2 is not a JSON object"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(tmp_path: Path, line: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_replay(
            lines(tmp_path / "s.jsonl", [{"id": "p1", "sent_more": -1.0, "sent_less": -2.0}, line])
        )


def test_nan_is_refused_on_the_first_line_and_on_later_ones(tmp_path: Path) -> None:
    good, bad = '{"id": "p1", "logprob": -1}\n', '{"id": "p2", "logprob": NaN}\n'
    for text in (good + bad, bad + good):
        (tmp_path / "s.jsonl").write_text(text)
        with pytest.raises(DataError):
            read_replay(tmp_path / "s.jsonl")


def test_an_unknown_pair_is_refused(tmp_path: Path, pairs: Path) -> None:
    given = [
        {"id": one, "sent_more": -1.0, "sent_less": -2.0} for one in ("p1", "p2", "p3", "p4", "p5")
    ]
    with pytest.raises(DataError, match=r"2 of the 10 ids .* for instance 'p5:sent_more'"):
        replayed(lines(tmp_path / "s.jsonl", given), pairs)


def test_an_unknown_sentence_of_a_cat_is_refused(tmp_path: Path, cats: Path) -> None:
    given = [{"id": f"{one}-{label}", "logprob": -1.0} for one in items(cats) for label in "sau"]
    given[0]["id"] = "mistyped"
    with pytest.raises(DataError, match="mistyped"):
        replayed(lines(tmp_path / "s.jsonl", given), cats)


def test_a_sentence_without_tokens_has_no_score(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_replay(lines(tmp_path / "s.jsonl", [{"id": "a", "logprob": []}]))


@pytest.mark.parametrize("measure", ["nonsense", "cat-likelihood", "pair-likelihood@99"])
def test_a_measure_that_these_scores_cannot_be_of_is_refused(
    tmp_path: Path, pairs: Path, measure: str
) -> None:
    given = [{"id": f"p{number}", "sent_more": -1.0, "sent_less": -2.0} for number in (1, 2, 3, 4)]
    with pytest.raises(UsageError):
        replayed(lines(tmp_path / "s.jsonl", given), pairs, measure=measure)


@pytest.mark.parametrize("starter", ["cat", "pair"])
def test_ids_say_which_shape_of_a_benchmark_with_both_is_meant(
    tmp_path: Path, starter: str
) -> None:
    benchmark = stereometer.open_benchmark("starter")
    candidates = {
        "cat": ("stereotype", "anti-stereotype", "unrelated"),
        "pair": ("sent_more", "sent_less"),
    }[starter]
    given = [
        {"id": item.id, **dict.fromkeys(candidates, -1.0)} for item in benchmark.items(starter)
    ]
    result = stereometer.replay(lines(tmp_path / "s.jsonl", given), benchmark="starter", **QUICK)[0]
    assert result.measure == f"{starter}-replay@1"
    assert result.data["items"] == len(given)
