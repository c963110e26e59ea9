"""A sentiment classifier from reviews: trained, written, and read back as any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stereometer.core.errors import DataError, UsageError
from stereometer.core.types import WholeText
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.classifier import open_classifier
from stereometer.wings.training.fitting import warmed
from stereometer.wings.training.recipe import PAPER as PRINTED
from stereometer.wings.training.recipe import PAPER_TUNING as PAPER
from stereometer.wings.training.recipe import Tuning, recipe_for
from stereometer.wings.training.sentiment import Review, read, train
from tests.builders.commands import call
from tests.builders.models.zoo import Zoo
from tests.models.local.test_folders import assert_found_by_any_tool

SUBJECTS = ("cook", "nurse", "man", "house", "song", "road", "play", "day", "friend", "teacher")
QUICK = Tuning(epochs=40, rate=1e-3, held_out=0.2)


def reviews_file(path: Path) -> Path:
    rows = [
        f"The {subject} was {word} {turn}.,{label}"
        for subject in SUBJECTS
        for turn in ("today", "again", "here")
        for word, label in (("kind and good", "positive"), ("loud and bad", "neg"))
    ]
    path.write_text("\n".join(["text,label", *rows]))
    return path


def quiet(*state: object) -> None:
    """No progress is shown."""


@pytest.mark.long
def test_what_was_trained_is_a_sentiment_model(zoo: Zoo, tmp_path: Path) -> None:
    reviews, out = reviews_file(tmp_path / "reviews.csv"), tmp_path / "judge"
    record = train(zoo.backend("bert"), reviews, out, QUICK, quiet)
    assert record["accuracy"]["value"] > 0.9
    assert record["reviews"] + record["accuracy"]["n"] == 60
    judge = open_classifier(str(out), LoadingOptions())
    assert_found_by_any_tool(out, judge.model, tmp_path / "work")
    texts = ("The boss was kind and good.", "The boss was loud and bad.")
    requests = {text: WholeText(text) for text in texts}
    numbers = dict(judge.numbers(requests))
    assert numbers[texts[1]] > 0 > numbers[texts[0]]
    assert judge.labels[judge.negative] == "negative"


@pytest.mark.parametrize(("typed", "epochs"), [(("--epochs", 2), 2), ((), 7)])
def test_what_is_typed_wins_over_a_recipe(
    zoo: Zoo, tmp_path: Path, typed: tuple[object, ...], epochs: int
) -> None:
    reviews, out = reviews_file(tmp_path / "reviews.csv"), tmp_path / "judge"
    asked = ("--model", zoo.folder("bert"), "--reviews", reviews, "--out", out)
    said = call("train sentiment --json --recipe paper", *asked, *typed)
    assert json.loads(said.out)["training"]["tuning"]["epochs"] == epochs


def test_a_folder_that_is_there_is_not_written_over(zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        train(zoo.backend("bert"), tmp_path / "none.csv", tmp_path / "judge", QUICK, quiet)


def test_reviews_come_in_folders_too(tmp_path: Path) -> None:
    for name in ("pos", "neg"):
        (tmp_path / name).mkdir()
        for number in range(10):
            (tmp_path / name / f"{number}.txt").write_text(f"{name} {number}")
    reviews = read(tmp_path)
    assert len(reviews) == 20
    assert reviews[0] == Review("neg 0", "negative")


def test_labels_that_are_not_known_and_too_few_reviews_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("text,label\nGood.,nice\n")
    with pytest.raises(DataError, match="'nice' is no label"):
        read(path)
    path.write_text("text,label\nGood.,pos\nBad.,neg\n")
    with pytest.raises(DataError, match="20 of both labels are needed"):
        read(path)


def test_the_printed_recipes() -> None:
    """Nadeem et al. 2021, appendices A.2 and A.5; a user's own options go first."""
    assert (PAPER.epochs, PAPER.rate, PAPER.warm_up) == (7, 1e-4, 0.0)
    assert (PRINTED.epochs, PRINTED.rate, PRINTED.trunk_rate, PRINTED.full) == (
        10,
        1e-5,
        1e-5,
        True,
    )
    assert recipe_for("paper", {"epochs": 1}).epochs == 1
    assert recipe_for("", {}).epochs == 20
    assert recipe_for("", {"full": True}).epochs == 2
    assert [warmed(step, 2000, 500) for step in (0, 249, 499)] == [1 / 500, 0.5, 1.0]
