"""Sentiment by a classifier: tiny models with random weights, against one text at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from stereometer.core.errors import ModelError, UnknownName
from stereometer.core.runs.open import open_model
from stereometer.core.types import Follows, WholeText
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.classifier import Classifier, negative_index, open_classifier
from tests.builders.commands import assert_refused, call
from tests.builders.models.builders import BUILDS, SHAPE, build

TEXTS = [
    "The cook was loud.",
    "The cook sang a song.",
    "Rivers run to the sea, and the sea is deep.",
    "No.",
    "The baker was calm today.",
]
NAMED = {0: "NEGATIVE", 1: "neutral", 2: "positive"}


def saved(
    folder: Path, kind: str = "bert", labels: dict[int, str] | None = None, **other: Any
) -> Path:
    torch.manual_seed(3)
    names = labels or NAMED
    tokenizer = BUILDS[kind].reads.make()
    common: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "id2label": names,
        "label2id": {name: at for at, name in names.items()},
        **other,
    }
    if kind == "bert":
        model: Any = transformers.BertForSequenceClassification(
            transformers.BertConfig(**SHAPE, **common)
        )
    else:
        model = transformers.GPT2ForSequenceClassification(
            transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=130, **common)
        )
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def one_by_one(folder: Path, text: str, negative: int = 0) -> float:
    """The log-odds from the probabilities, in double precision, one text at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).double().eval()
    with torch.inference_mode():
        chances = model(torch.tensor([tokenizer(text)["input_ids"]])).logits[0].softmax(0)
    return float(chances[negative].log() - (1 - chances[negative]).log())


def answers(model: Classifier) -> dict[str, float]:
    requests = {text: WholeText(text) for text in TEXTS}
    return {key: answer.column("logprob")[0] for key, answer in model.answer(requests)}


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_batches_say_what_one_text_at_a_time_says(kind: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / kind, kind)
    found = answers(open_classifier(str(folder), LoadingOptions()))
    assert set(found) == set(TEXTS)
    for text, odds in found.items():
        assert odds == pytest.approx(one_by_one(folder, text), abs=2e-4)


def test_the_context_is_not_looked_at(tmp_path: Path) -> None:
    model = open_classifier(str(saved(tmp_path / "m")), LoadingOptions())
    asked = {"one": Follows("A.", TEXTS[0]), "two": Follows("Something else.", TEXTS[0])}
    found = {key: answer.column("logodds")[0] for key, answer in model.answer(asked)}
    assert found["one"] == pytest.approx(found["two"], abs=1e-5)
    assert found["one"] == pytest.approx(answers(model)[TEXTS[0]], abs=1e-5)


def test_labels_that_hold_by_themselves_are_taken_by_themselves(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", problem_type="multi_label_classification")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        logit = float(model(torch.tensor([tokenizer(TEXTS[0])["input_ids"]])).logits[0, 0])
    assert answers(open_classifier(str(folder), LoadingOptions()))[TEXTS[0]] == pytest.approx(
        logit, abs=1e-4
    )


def test_which_label_is_negative() -> None:
    assert negative_index({0: "POS", 1: "NEG"}, "m", None) == 1
    assert negative_index({0: "1 star", 1: "5 stars"}, "m", "1 star") == 0
    with pytest.raises(ModelError, match="--negative-label"):
        negative_index({0: "LABEL_0", 1: "LABEL_1"}, "m", None)
    with pytest.raises(UnknownName, match=r"Did you mean LABEL_0.*The labels are those of"):
        negative_index({0: "LABEL_0", 1: "LABEL_1"}, "m", "LABEL0")
    with pytest.raises(ModelError, match="one output"):
        negative_index({0: "score"}, "m", None)


def test_it_runs_by_its_name_and_says_which_label(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", labels={0: "LABEL_0", 1: "LABEL_1"})
    refused = call(
        "run starter --measure cat-likelihood --resamples 100",
        "--model",
        f"sentiment:{folder}",
        "--out",
        tmp_path / "r",
    )
    assert_refused(refused, 3, "does not say which label is negative", "LABEL_0, LABEL_1")
    said = call(
        "run starter --negative-label LABEL_1 --measure cat-likelihood "
        "--resamples 100 --limit 24 --no-cache --json",
        "--model",
        f"sentiment:{folder}",
        "--out",
        tmp_path / "r",
    )
    (result,) = said.json["results"]
    assert (result["model"], result["model_card"]["spec"]) == ("sentiment:m", f"sentiment:{folder}")
    assert result["model_card"]["settings"]["negative"] == "LABEL_1"
    assert result["estimates"][0]["n"] == 24


def test_analyze_takes_it_too(tmp_path: Path) -> None:
    said = call(
        "analyze starter --resamples 100 --json",
        "--sentiment",
        f"sentiment:{saved(tmp_path / 'm')}",
    )
    assert said.json["sentiment"].startswith("sentiment:")
    assert {one["label"] for one in said.json["shapes"][0]["tones"]} == {
        "stereotype",
        "anti-stereotype",
    }
    assert (
        "NEGATIVE is negative, neutral is neutral, every other counts as positive"
        in said.json["sentiment"]
    )


def most_likely(folder: Path, text: str) -> int:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        return int(model(torch.tensor([tokenizer(text)["input_ids"]])).logits[0].argmax())


def test_tones_are_those_of_the_most_likely_label(tmp_path: Path) -> None:
    """A neutral text is not positive because the negative label has less than half of the
    probability."""
    for names, signs in (
        (NAMED, (-1, 0, 1)),
        ({0: "positive", 1: "Neutral", 2: "negative"}, (1, 0, -1)),
    ):
        folder = saved(tmp_path / names[0], labels=names)
        found = open_classifier(str(folder), LoadingOptions()).tones(TEXTS)
        assert found == {text: signs[most_likely(folder, text)] for text in TEXTS}
    model = open_classifier(str(tmp_path / "NEGATIVE"), LoadingOptions())
    logits = torch.tensor([[3.0, 1, 1], [1, 3, 2.9], [1, 2.9, 3], [2, 1.9, 1.9]])
    assert model._signs(logits).tolist() == [-1, 0, 1, -1]


def test_without_a_neutral_label_a_text_is_negative_or_not(tmp_path: Path) -> None:
    model = open_classifier(
        str(saved(tmp_path / "m", labels={0: "anger", 1: "joy", 2: "fear"})),
        LoadingOptions(),
        "anger",
    )
    assert set(model._signs(torch.eye(3)).tolist()) == {-1, 1}
    assert model.toned_by.endswith("anger is negative, every other counts as positive")


def test_where_several_labels_may_hold_and_none_does_a_text_is_neutral(tmp_path: Path) -> None:
    folder = saved(
        tmp_path / "m",
        labels={0: "negative", 1: "positive"},
        problem_type="multi_label_classification",
    )
    assert open_classifier(str(folder), LoadingOptions())._signs(
        torch.tensor([[-1.0, -2], [1, -1], [1, 2]])
    ).tolist() == [0, -1, 1]


def test_what_is_no_classifier_is_refused(tmp_path: Path) -> None:
    masked = build("bert", tmp_path / "masked")
    for spec, code, words in (
        (masked, 3, "not a text-classification model"),
        (tmp_path / "nothing-there", 3, "was not found"),
        (tmp_path, 3, "without config.json"),
    ):
        assert_refused(
            call(
                "run starter --measure cat-likelihood",
                "--model",
                f"sentiment:{spec}",
                "--out",
                tmp_path / "r",
            ),
            code,
            words,
        )


def test_the_same_weights_are_the_same_model(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    one, other = (
        open_model(f"sentiment:{folder}", options={"negative_label": label})
        for label in ("NEGATIVE", "positive")
    )
    assert one.card.digest == other.card.digest
    assert one.card.identity != other.card.identity
