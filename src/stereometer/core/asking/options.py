"""From the probabilities of single tokens to those of the options of a question."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import exp, fsum, isfinite, log

from stereometer.core.types import NOT_FINITE, UNNAMED, Answer

SPACE_MARKS = "\u0120\u010a\u2581"
"""How vocabularies write a space or a line break."""


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
