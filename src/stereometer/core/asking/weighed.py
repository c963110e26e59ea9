"""Graded reading: from what the options of a question hold of the probability to each's share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, fsum

from stereometer.core.asking.graded_choice import LOW_MASS, MASS_FLOOR
from stereometer.core.errors import ModelError
from stereometer.core.types import Answer, Backend, Options


def check_weighs(backend: Backend) -> None:
    """Raises where the model says nothing of what it would write."""
    if Options.kind not in backend.abilities.kinds:
        raise ModelError(
            f"{backend.card.name} gives no probabilities of what it would write next. It answers "
            f"{backend.abilities}. Leave out --graded."
        )


@dataclass(frozen=True)
class OptionShares:
    """The share of each answer in what all options hold, or why there is none."""

    shares: Mapping[str, float] = field(default_factory=dict)
    mass: float = 0.0
    skipped: str = ""


def weighed(spelt: Mapping[str, str], answer: Answer) -> OptionShares:
    """Of an answer to `Options`: `spelt` says which of the answers each option stands for, in their
    order. An option that a server did not name counts with its bound."""
    if not answer.rows:
        return OptionShares(skipped=answer.end or LOW_MASS)
    mass = answer.column("mass")[0]
    if mass < MASS_FLOOR:
        return OptionShares({}, mass, LOW_MASS)
    held = [exp(value) for value in answer.column("logprob")]
    shares = dict.fromkeys(spelt.values(), 0.0)
    for meant, value in zip(spelt.values(), held, strict=True):
        shares[meant] += value / fsum(held)
    return OptionShares(shares, mass)
