"""From the probabilities of single tokens to those of the options of a question, and from what the
options hold to the share of each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, isfinite, log

from stereometer.core.errors import ModelError
from stereometer.core.types import NOT_FINITE, UNNAMED, Answer, Backend, Options

SPACE_MARKS = "\u0120\u010a\u2581"
"""How vocabularies write a space or a line break."""
MASS_FLOOR = 0.1
"""An answer whose options hold less than this of the probability is about something else."""
LOW_MASS = f"the options hold less than {MASS_FLOOR:.0%} of the probability"


def bare(token: str) -> str:
    """A token's text without the white space around it."""
    return token.strip().strip(SPACE_MARKS).strip()


def held(logprobs: Sequence[float], mass: float | None = None, end: str = "") -> Answer:
    """The answer that says what options hold, one log-probability each."""
    if not all(map(isfinite, logprobs)):
        return Answer((), end=NOT_FINITE)
    whole = fsum(map(exp, logprobs)) if mass is None else mass
    row = {"logprob": array("d", logprobs), "mass": array("d", [min(1.0, whole)])}
    return Answer((row,), end=end)


def named(options: Sequence[str], tokens: Iterable[tuple[str, float]]) -> Answer:
    """From the likeliest tokens with their log-probabilities; those that are impossible have
    none."""
    chances: dict[str, list[float]] = {}
    seen = [(bare(text), exp(value)) for text, value in tokens if isfinite(value)]
    for text, chance in seen:
        chances.setdefault(text, []).append(chance)
    shares = [fsum(chances.get(option, ())) for option in options]
    if not any(shares):
        return Answer((), end=UNNAMED)
    least = min(chance for _, chance in seen if chance)
    return held(
        [log(share or least) for share in shares], fsum(shares), "" if all(shares) else UNNAMED
    )


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
