"""Models that only talk."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import (
    Abilities,
    Answer,
    Encoding,
    Generate,
    ModelCard,
    Request,
    Settings,
)
from stereometer.kinds.cats.items import Cat
from tests.builders.sure import all_of

SETTINGS = Settings(resamples=200)


Say = Callable[[str, str, str], str]
"""From the whole prompt and its two options to an answer."""


class Talker:
    """Says what a function says."""

    def __init__(self, say: Say, name: str = "talker") -> None:
        self.say = say
        self.card = ModelCard(name, "talker", "talker@1", name)
        self.abilities = Abilities(frozenset({Generate.kind}))

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            assert isinstance(request, Generate)
            asked = request.prompt or request.messages[-1][1]
            options = re.findall(r"(?m)^[AB]\. (.*)$", asked)
            yield key, Answer((), self.say(asked, *options), "stop")


def measured(talker: Talker, shape: str, tmp_path: Path, **options: Any) -> Any:
    name = f"{shape}-forced-choice"
    job = job_for(open_benchmark("starter"), shape, [name], talker, SETTINGS, options=options)
    with opened_cache(False) as cache:
        return execute(job, tmp_path, cache)


def texts_of(label: str) -> set[str]:
    """Each item's sentence of this label, and its context with that filler."""
    return {
        text
        for item in all_of(Cat, open_benchmark("starter").items("cat"))
        for text in (
            item.texts[label],
            item.context.replace("BLANK", item.filler(label) or "BLANK"),
        )
    }


STEREOTYPES, UNRELATED = texts_of("stereotype"), texts_of("unrelated")


def by_content(asked: str, first: str, second: str) -> str:
    rank = [1 if text in STEREOTYPES else 3 if text in UNRELATED else 2 for text in (first, second)]
    return "A" if rank[0] < rank[1] else "B"
