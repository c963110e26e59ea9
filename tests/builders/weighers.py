"""Models that give the probabilities of options, as a function has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from math import exp, log
from pathlib import Path
from typing import Any

from stereometer.core.asking.options import held
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Abilities, Answer, Encoding, ModelCard, Options, Request
from tests.builders.talkers import SETTINGS

Odds = Callable[[str, str], float]
"""From the two candidates, as they are put, to the log-odds of the first."""
OPTION = re.compile(r"(?m)^(?:[AX1]\. |Option A: |First sentence: )(.*)$")
OTHER = re.compile(r"(?m)^(?:[BY2]\. |Option B: |Second sentence: )(.*)$")


class Weigher:
    """Weighs the options of a question, which hold some of the probability."""

    def __init__(self, odds: Odds, mass: float = 0.8, neutral: float = 0.0) -> None:
        self.odds, self.mass, self.neutral = odds, mass, neutral
        self.card = ModelCard("weigher", "weigher", "weigher@1", "weigher")
        self.abilities = Abilities(frozenset({Options.kind}))
        self.asked: list[str] = []

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            assert isinstance(request, Options)
            asked = request.prompt or request.messages[-1][1]
            self.asked.append(asked)
            yield key, self.weighed(asked, request.options)

    def weighed(self, asked: str, options: tuple[str, ...]) -> Answer:
        first, second = OPTION.findall(asked)[0], OTHER.findall(asked)[0]
        share = 1 / (1 + exp(-self.odds(first, second)))
        shares = [share, 1 - share]
        if len(options) == 3:
            shares = [each * (1 - self.neutral) for each in shares] + [self.neutral]
        return held([log(self.mass * each) for each in shares])


class Rater(Weigher):
    """Gives one number of seven most of the probability."""

    def __init__(self, rate: Callable[[str], int], mass: float = 0.8) -> None:
        super().__init__(lambda first, second: 0.0, mass)
        self.rate = rate

    def weighed(self, asked: str, options: tuple[str, ...]) -> Answer:
        chosen = self.rate(asked)
        rest = (1 - 0.7) / (len(options) - 1)
        shares = [0.7 if at == chosen else rest for at in range(1, len(options) + 1)]
        return held([log(self.mass * each) for each in shares])


def measured(
    model: Any, measure: str, folder: Path, limit: int | None = None, **options: Any
) -> Any:
    """A run on the starter set."""
    shape = measure.split("-")[0]
    items = open_benchmark("starter")
    job = job_for(items, shape, [measure], model, SETTINGS, limit, options)
    with opened_cache(False) as cache:
        return execute(job, folder, cache)
