"""What `train` prints of a head or a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.training.verbs import TrainedClassifier, TrainedHead


def print_head(head: TrainedHead) -> None:
    accuracy, trained = head.card.accuracy, head.card.training
    _print(
        f"{head.file}: next-sentence head for {head.card.base}, pooling {head.card.pooling}",
        f"held-out accuracy {_share(accuracy)} on {accuracy['n']} pairs of {accuracy['groups']} "
        "groups of articles",
        f"trained on {trained['training_pairs']} pairs; {trained['training_articles']} articles "
        f"in {trained['training_groups']} groups, {trained['held_out_articles']} in "
        f"{trained['held_out_groups']} held out; {trained['too_long']} pairs were longer than "
        f"{trained['longest']} tokens",
        *trained["notes"],
    )


def print_classifier(classifier: TrainedClassifier) -> None:
    folder, record = classifier.folder, classifier.training
    _print(
        f"{folder}: sentiment classifier from {record['base']}, trained on {record['reviews']} "
        "reviews",
        f"held-out accuracy {_share(record['accuracy'])} on {record['accuracy']['n']} reviews",
        f"use it: --model sentiment:{folder}",
    )


def _print(*lines: str) -> None:
    for line in lines:
        render.line(line, soft_wrap=True)


def _share(accuracy: Mapping[str, Any]) -> str:
    value, low, high = (100 * accuracy[name] for name in ("value", "low", "high"))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"
