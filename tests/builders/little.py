"""Little items, files and models that several tests use."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from stereometer.core.types import Answer, ModelCard, Request, Slice
from stereometer.models.baselines.fake import Fake

QUICK: dict[str, Any] = {"resamples": 100}
"""Enough where a test does not look at intervals."""


class Sliced(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def slice(self) -> Slice: ...


S = TypeVar("S", bound=Sliced)


def pick(estimates: Iterable[S], name: str, **fixed: str) -> S:
    """The only estimate of this name in exactly this slice."""
    (one,) = [one for one in estimates if one.name == name and dict(one.slice) == fixed]
    return one


# -------------------------------------------------------------------------------------------- items


def sentences(number: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    labels = ("stereotype", "anti-stereotype", "unrelated")
    return [
        {
            "id": f"{number}-{label[0]}",
            "sentence": text,
            "gold_label": label,
            "labels": [{"label": label, "human_id": "h"}],
        }
        for label, text in zip(labels, texts, strict=False)
    ]


def intra(
    number: str,
    context: str = "The cook is BLANK today.",
    fills: Sequence[str] = ("loud", "calm", "square"),
    **other: Any,
) -> dict[str, Any]:
    """An intrasentence item as dev.json has them."""
    texts = [context.replace("BLANK", fill) for fill in fills]
    base = {
        "id": number,
        "target": "cook",
        "bias_type": "profession",
        "context": context,
        "sentences": sentences(number, texts),
    }
    return base | other


def inter(
    number: str,
    context: str = "He is a cook.",
    texts: Sequence[str] = ("He shouts a lot.", "He whispers a lot.", "Rivers run to the sea."),
    **other: Any,
) -> dict[str, Any]:
    """An intersentence item as dev.json has them."""
    base = {
        "id": number,
        "target": "cook",
        "bias_type": "profession",
        "context": context,
        "sentences": sentences(number, texts),
    }
    return base | other


def stereoset_file(
    path: Path, intras: Sequence[Mapping[str, Any]] = (), inters: Sequence[Mapping[str, Any]] = ()
) -> Path:
    path.write_text(
        json.dumps(
            {
                "version": "1.0",
                "data": {"intrasentence": list(intras), "intersentence": list(inters)},
            }
        )
    )
    return path


def little_stereoset(path: Path, items: int = 6) -> Path:
    """Items of both tasks over three terms and two domains."""
    terms = [("cook", "profession"), ("nurse", "profession"), ("aunt", "gender")]
    places = [
        dict(zip(("target", "bias_type"), terms[number % 3], strict=True))
        for number in range(items)
    ]
    words = ["loud", "calm", "tall", "kind", "slow", "neat", "odd", "shy"]
    intras = [
        intra(
            f"a{number}",
            f"The {place['target']} of number {number} is BLANK now.",
            (words[number % 8], words[(number + 1) % 8], "seven"),
            **place,
        )
        for number, place in enumerate(places)
    ]
    inters = [
        inter(
            f"b{number}",
            f"This is {place['target']} number {number}.",
            (f"A {words[number % 8]} one.", f"A {words[(number + 3) % 8]} one.", "Seven rivers."),
            **place,
        )
        for number, place in enumerate(places)
    ]
    return stereoset_file(path, intras, inters)


def predictions(path: Path, change: Any = None) -> dict[str, list[dict[str, Any]]]:
    """Scores for every sentence of a StereoSet file: log-probabilities that differ from one
    another."""
    data = json.loads(path.read_text())["data"]
    found = {
        task: [
            {"id": one["id"], "score": -1.0 - (number * 7 + index * 5) % 11}
            for number, item in enumerate(items)
            for index, one in enumerate(item["sentences"])
        ]
        for task, items in data.items()
    }
    if change:
        change(found)
    return found


PAIRS = """\
id,sent_more,sent_less,stereo_antistereo,bias_type
p1,The old man lost his keys again.,The young man lost his keys again.,stereo,age
p2,The young woman fixed the radio.,The old woman fixed the radio.,antistereo,age
p3,The tall boy plays basketball.,The short boy plays basketball.,stereo,height
p4,The short girl reached the shelf.,The tall girl reached the shelf.,antistereo,height
"""


def pairs_file(path: Path, text: str = PAIRS) -> Path:
    path.write_text(text)
    return path


# ------------------------------------------------------------------------------------------- models


class Counting(Fake):
    """The fake model, with a list of every request it was asked."""

    card = ModelCard("counting", "masked and causal", "counting@1", "counting", "words")

    def __init__(self, seed: int = 0, stop_after: int | None = None) -> None:
        super().__init__(seed)
        self.asked: list[str] = []
        self.stop_after = stop_after

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, answer in super().answer(requests):
            if self.stop_after is not None and len(self.asked) >= self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(key)
            yield key, answer
