"""StereoSet predictions from elsewhere: joined by id, in any order, with what is missing said."""

from __future__ import annotations

import gzip
import json
import random
from math import log
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError
from stereometer.core.types import Result
from stereometer.wings.replay.replay import read_replay, system_name
from tests.builders.little import QUICK, inter, intra, little_stereoset, predictions, stereoset_file
from tests.conftest import released


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    return little_stereoset(tmp_path / "dev.json", 12)


def replayed(dev: Path, given: Any, name: str = "scores.json", **settings: Any) -> Result:
    path = dev.with_name(name)
    text = json.dumps(given).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return stereometer.replay(path, benchmark="stereoset", data=dev, **QUICK, **settings)[0]


def shuffled(found: dict[str, list[Any]]) -> None:
    for rows in found.values():
        random.Random(3).shuffle(rows)


def test_order_and_packing_change_nothing_but_the_name_of_the_file(dev: Path) -> None:
    first = replayed(dev, predictions(dev))
    second = replayed(dev, predictions(dev, shuffled))
    packed = replayed(dev, predictions(dev), "scores.json.gz")
    assert first.estimates == second.estimates == packed.estimates
    assert first.model == packed.model == "scores"


def test_tasks_may_come_in_any_order(dev: Path) -> None:
    found = predictions(dev)
    assert replayed(dev, dict(reversed(found.items()))).estimates == replayed(dev, found).estimates


def test_scores_meet_the_items_they_belong_to(dev: Path) -> None:
    """Only one item's stereotype is preferred."""

    def one_wins(found: dict[str, list[dict[str, Any]]]) -> None:
        for rows in found.values():
            for row in rows:
                row["score"] = {"s": -2.0, "a": -1.0, "u": -9.0}[row["id"][-1]]
                row["score"] = 0.5 if row["id"] == "b3-s" else row["score"]

    result = replayed(dev, predictions(dev, one_wins))
    assert result.estimate("ss", domain="profession", target="cook").value == pytest.approx(100 / 8)
    assert result.estimate("ss", domain="gender", target="aunt").value == 0.0
    assert result.estimate("lms").value == 100.0
    assert result.scoring == "replayed"


def test_a_missing_task_is_noted_and_leaves_no_overall(dev: Path) -> None:
    result = replayed(dev, predictions(dev, lambda found: found.pop("intersentence")))
    assert "The file has no intersentence scores." in result.notes
    assert result.estimate("icat").value is None
    assert (result.estimate("icat").n, result.estimate("icat").asked) == (12, 24)
    assert result.estimate("icat").skipped == {"no score in the file": 12}
    assert result.estimate("icat", task="intrasentence").value is not None


def test_a_missing_sentence_skips_its_item_and_is_noted(dev: Path) -> None:
    result = replayed(dev, predictions(dev, lambda found: found["intrasentence"].pop(4)))
    assert "The file lacks 1 of 36 intrasentence sentence scores." in result.notes
    assert (result.estimate("ss").n, result.estimate("ss").asked) == (23, 24)


def test_scores_of_a_task_that_the_data_do_not_have_are_left_out(dev: Path, tmp_path: Path) -> None:
    found = predictions(dev)
    data = json.loads(dev.read_text())
    del data["data"]["intersentence"]
    dev.write_text(json.dumps(data))
    result = replayed(dev, found)
    assert "36 scores of a task that the data do not have were left out." in result.notes
    assert result.estimate("icat").value is not None


def change(found: dict[str, list[Any]], how: str) -> None:
    rows = found["intrasentence"]
    match how:
        case "twice":
            rows.append(dict(rows[0]))
        case "twice across tasks":
            found["intersentence"].append(dict(rows[0]))
        case "unknown":
            rows.append({"id": "nobody", "score": -1.0})
        case "text" | "true" | "null" | "list" | "nothing":
            rows[3]["score"] = {
                "text": "-1.5",
                "true": True,
                "null": None,
                "list": [1.0],
                "nothing": "",
            }[how]
        case "no score":
            del rows[3]["score"]
        case "no id":
            del rows[3]["id"]
        case "number id":
            rows[3]["id"] = 7
        case "no object":
            rows[3] = -1.0


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("twice", "id 'a0-s' has two scores"),
        ("twice across tasks", "id 'a0-s' has two scores"),
        ("unknown", "1 of the 73 ids .* are not in the data, for instance 'nobody'"),
        ("text", r"intrasentence\[3\]: the score '-1.5' is text"),
        ("true", r"intrasentence\[3\]: True is not a finite number"),
        ("null", r"intrasentence\[3\]: None is not a finite number"),
        ("list", r"intrasentence\[3\]: \[1.0\] is not a finite number"),
        ("nothing", "the score '' is text"),
        ("no score", r"intrasentence\[3\] has no id and score"),
        ("no id", r"intrasentence\[3\] has no id and score"),
        ("number id", r"intrasentence\[3\] has no id and score"),
        ("no object", r"intrasentence\[3\] has no id and score"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said_with_its_place(dev: Path, how: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        replayed(dev, predictions(dev, lambda found: change(found, how)))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(dev: Path, number: str) -> None:
    path = dev.with_name("scores.json")
    path.write_text(f'{{"intrasentence": [\n{{"id": "a0-s", "score": {number}}}]}}')
    with pytest.raises(DataError, match="finite"):
        read_replay(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "not a predictions file"),
        ("{}", "not a predictions file"),
        ('{"intrasentence": {}}', "not a predictions file"),
        ('{"version": "1.0", "data": {}}', "not a predictions file"),
        ('{"intrasentence": [], "sentences": []}', "has scores for sentences"),
        ('{"intrasentence": []}', "has no scores"),
        ('{"intrasentence": [', "not valid JSON"),
        ('{"intrasentence": [], "intrasentence": []}', "same key twice"),
    ],
)
def test_other_shapes_are_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "scores.json").write_text(text)
    with pytest.raises(DataError, match=says):
        read_replay(tmp_path / "scores.json")


def test_scores_for_other_items_altogether_are_refused(dev: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="3 of the 3 ids"):
        replayed(dev, {"intrasentence": [{"id": one, "score": -1.0} for one in "xyz"]})


# -------------------------------------------------------------------------------------------- scale


def rare(dev: Path, scores: tuple[float, float, float]) -> Result:
    """Three probabilities, equal for every item."""
    by_label = dict(zip("sau", scores, strict=True))

    def set_scores(found: dict[str, list[dict[str, Any]]]) -> None:
        for rows in found.values():
            for row in rows:
                row["score"] = by_label[row["id"][-1]]

    return replayed(dev, predictions(dev, set_scores))


def test_sound_compares_the_logarithms_of_probabilities(dev: Path) -> None:
    """3e-8 and 2e-8 are closer than a millionth; their logarithms are not."""
    result = rare(dev, (3e-8, 2e-8, 1e-8))
    assert (
        result.estimate("ss").value,
        result.estimate("lms").value,
        result.estimate("ss").ties,
    ) == (100.0, 100.0, 0)
    assert any("probabilities" in note for note in result.notes)


def test_within_a_sentence_a_tie_of_probabilities_is_a_tie_of_their_logarithms(dev: Path) -> None:
    tied = rare(dev, (0.5, 0.5 * (1 + 9e-7), 0.1)).estimate("ss", task="intrasentence")
    assert (tied.value, tied.ties) == (None, tied.n)
    assert (
        rare(dev, (0.5 * (1 + 1.1e-6), 0.5, 0.1)).estimate("ss", task="intrasentence").value
        == 100.0
    )


def test_across_sentences_log_odds_are_compared_which_do_not_saturate(dev: Path) -> None:
    """The logarithms of 1 - 1e-9 and 1 - 2e-9 differ by a billionth, their log-odds by log 2."""
    result = rare(dev, (1 - 1e-9, 1 - 2e-9, 0.5))
    assert result.estimate("ss", task="intersentence").value == 100.0
    tied = result.estimate("ss", task="intrasentence")
    assert (tied.value, tied.ties) == (None, tied.n)
    assert (
        "The intersentence scores are probabilities; their log-odds are compared." in result.notes
    )


def test_certain_sentences_tie(dev: Path) -> None:
    tied = rare(dev, (1.0, 1.0, 0.0)).estimate("ss")
    assert (tied.value, tied.ties) == (None, tied.n)


def test_probabilities_of_zero_tie(dev: Path) -> None:
    tied = rare(dev, (0.0, 0.0, 0.0)).estimate("lms")
    assert (tied.value, tied.ties) == (None, 2 * tied.n)


def test_log_probabilities_are_compared_as_they_are(dev: Path) -> None:
    tied = rare(dev, (log(0.5), log(0.5) - 5e-7, -9.0)).estimate("ss")
    assert (tied.value, tied.ties) == (None, tied.n)


def test_paper_compares_probabilities_as_they_are(dev: Path) -> None:
    found = predictions(dev)
    for rows in found.values():
        for row in rows:
            row["score"] = {"s": 3e-8, "a": 2e-8, "u": 1e-8}[row["id"][-1]]
    assert replayed(dev, found, variant="paper").estimate("ss").value == 100.0


def test_each_task_has_its_own_scale(dev: Path) -> None:
    """As in the authors' files: probabilities within sentences, log-odds across."""

    def mixed(found: dict[str, list[dict[str, Any]]]) -> None:
        for row in found["intrasentence"]:
            row["score"] = {"s": 3e-8, "a": 2e-8, "u": 1e-8}[row["id"][-1]]

    result = replayed(dev, predictions(dev, mixed))
    assert result.estimate("ss", task="intrasentence").value == 100.0
    assert (
        "The intrasentence scores are probabilities; their logarithms are compared." in result.notes
    )
    assert not any("intersentence" in note for note in result.notes)


def test_a_task_without_scores_is_not_called_probabilities(dev: Path) -> None:
    found = predictions(dev)
    found["intersentence"] = []
    assert not any("probabilities" in note for note in replayed(dev, found).notes)


# -------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("predictions_gpt2_ModelNSP_GPT2LM.json", "gpt2"),
        ("predictions_bert-base-cased_BertNextSentence_BertLM.json", "bert-base-cased"),
        ("predictions_albertina_900m.json", "albertina_900m"),
        ("predictions_llama_2_7b.json", "llama_2_7b"),
        ("predictions_llama_2_7b_chat_LlamaNSP_LlamaLM.json.gz", "llama_2_7b_chat"),
        ("predictions_LlamaForCausalLM_7b.json", "LlamaForCausalLM_7b"),
        ("predictions_meta_Llama_2_7b_LlamaNSP_LlamaLM.json", "meta_Llama_2_7b"),
        ("predictions_meta_Llama_2_13b_LlamaNSP_LlamaLM.json", "meta_Llama_2_13b"),
        ("predictions_SentimentModel.json.gz", "SentimentModel"),
        ("my.scores.json", "my.scores"),
        ("results_bert.csv", "results_bert"),
    ],
)
def test_the_system_is_named_after_the_file(file: str, name: str) -> None:
    assert system_name(Path(file)) == name


def test_files_of_one_series_replay_under_their_own_names(dev: Path) -> None:
    names = [f"meta_Llama_2_{size}{kind}" for size in ("7b", "13b") for kind in ("", "_chat")]
    files = [f"predictions_{name}_LlamaNSP_LlamaLM.json.gz" for name in names]
    assert [replayed(dev, predictions(dev), file).model for file in files] == names


def test_a_name_may_be_given(dev: Path) -> None:
    file = dev.with_name("scores.json")
    file.write_text(json.dumps(predictions(dev)))
    result = stereometer.replay(file, benchmark="stereoset", data=dev, name="mine", **QUICK)[0]
    assert result.model == "mine"


def test_other_scores_have_another_identity_and_the_same_scores_the_same(dev: Path) -> None:
    paths = [dev.with_name(name) for name in ("one.json", "two.json", "three.json")]
    given = [
        predictions(dev),
        predictions(dev, shuffled),
        predictions(dev, lambda found: found["intrasentence"][0].update(score=-99.0)),
    ]
    for path, value in zip(paths, given, strict=True):
        path.write_text(json.dumps(value))
    one, two, three = (read_replay(path).card.digest for path in paths)
    assert one == two != three


def test_a_file_of_one_item_each(tmp_path: Path) -> None:
    dev = stereoset_file(tmp_path / "dev.json", [intra("a")], [inter("b")])
    assert replayed(dev, predictions(dev)).estimate("ss").n == 2


def test_the_authors_own_predictions_are_read(tmp_path: Path) -> None:
    found = read_replay(released("stereoset/predictions/predictions_gpt2_ModelNSP_GPT2LM.json.gz"))
    assert (found.name, len(found.by_id)) == ("gpt2", 3 * 4229)
