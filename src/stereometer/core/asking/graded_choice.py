"""Graded choice: the two candidates are weighed by the probabilities of their options.

With d1 and d2 the log-odds of the first place in both orders, (d1 - d2) / 2 is the preference for
the candidate that was first in the one and (d1 + d2) / 2 that for the place: a habit adds the same
to both and cancels. So there is a score where answers that are counted all follow the position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Any

from stereometer.core.asking.forced_choice import (
    ChoiceMethod,
    PairedChoice,
    Presentation,
    orders,
    shares,
)
from stereometer.core.asking.habits import (
    NEUTRAL_SHARE,
    OPTION_MASS,
    POSITION_EFFECT,
    first_position,
    order_agreement,
    position_effect,
    shares_held,
)
from stereometer.core.asking.options import LOW_MASS, MASS_FLOOR
from stereometer.core.methods.declared import OURS, answers_of
from stereometer.core.types import (
    UNNAMED,
    Answer,
    Estimate,
    Exchanged,
    Options,
    Score,
    Settings,
    Skip,
)


@dataclass(frozen=True)
class LogOdds:
    """Of the first option against the second; ends where one of them is only known by a bound."""

    value: float
    low: float
    high: float
    mass: float
    neutral: float
    """The share of what all options hold."""

    @classmethod
    def of(cls, answer: Answer) -> LogOdds:
        first, second, *others = answer.column("logprob")
        mass, value = answer.column("mass")[0], first - second
        if mass < MASS_FLOOR:
            raise Skip(LOW_MASS)
        bound = min(first, second, *others) if answer.end == UNNAMED else -inf
        neutral = exp(others[0]) / (exp(first) + exp(second) + exp(others[0])) if others else 0.0
        low = -inf if first == bound else value
        return cls(value, low, inf if second == bound else value, mass, neutral)


@dataclass(frozen=True)
class Weighed:
    """One comparison, in both orders."""

    there: LogOdds
    back: LogOdds

    @property
    def preference(self) -> float:
        """For the candidate that is first there. Where only a bound is known: at least so much."""
        return (self.there.value - self.back.value) / 2

    @property
    def position(self) -> float:
        return (self.there.value + self.back.value) / 2

    @property
    def won(self) -> float:
        """1, 0, or one half for neither; raises where an option that is not named may decide."""
        low, high = self.there.low - self.back.high, self.there.high - self.back.low
        if not (low > 0 or high < 0 or low == high):
            raise Skip(UNNAMED)
        return 0.5 if low == high == 0 else float(low > 0)


@dataclass(frozen=True)
class GradedChoice(PairedChoice):
    """Candidates weighed by what their options hold of the probability."""

    @property
    def read_as(self) -> Mapping[str, Any]:
        return {"mass_floor": MASS_FLOOR}

    def _request(self, item: Any, first: str, second: str) -> Options:
        options = self.worded(item).offered(self.neutral)
        return Options(**self.fields(item, first=first, second=second), options=options)

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        """Each comparison by the sign of its preference, which is kept as it is too."""
        weighed = {
            f"{left}>{right}": Weighed(*map(LogOdds.of, answers_of(exchanged, f"{left}>{right}")))
            for left, right in self.shown.comparisons
        }
        sides = [side for each in weighed.values() for side in (each.there, each.back)]
        derived = {f"preference {name}": each.preference for name, each in weighed.items()}
        derived |= {
            POSITION_EFFECT: _mean([each.position for each in weighed.values()]),
            OPTION_MASS: _mean([side.mass for side in sides]),
        }
        if self.neutral:
            derived[NEUTRAL_SHARE] = _mean([side.neutral for side in sides])
        return Score(
            item.id,
            item.slices,
            shares({name: each.won for name, each in weighed.items()}),
            texts=item.texts,
            derived=derived,
            answers=tuple(self._said(item, weighed)),
        )

    def _said(self, item: Any, weighed: Mapping[str, Weighed]) -> Iterable[dict[str, str]]:
        """What stands for an answer: the odds, and the likelier option."""
        options = self.worded(item).options
        for name, each in weighed.items():
            left, right = name.split(">")
            for pair, odds in zip(orders(left, right), (each.there, each.back), strict=True):
                place = 1 if odds.value >= 0 else 2
                text = f"{options[place - 1]}: {abs(odds.value):.2f} in log-odds"
                yield {"text": text, "position": str(place), "asked": ">".join(pair)}

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        every = list(scores)
        held = (OPTION_MASS, NEUTRAL_SHARE) if self.neutral else (OPTION_MASS,)
        return [
            *self.shown.summarize(every, settings),
            position_effect(every, settings),
            *(shares_held(name, every, settings) for name in held),
            first_position(every, settings),
            order_agreement({}, every, settings),
        ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def graded_method(kind: str, shown: Presentation) -> ChoiceMethod:
    needs = {kind: [frozenset({Options.kind})]}
    return ChoiceMethod(
        f"{kind}-graded-choice",
        kind,
        needs,
        manner="graded",
        shown=shown,
        choice=GradedChoice,
        source=f"{OURS}: the items as questions, read by probability",
    )
