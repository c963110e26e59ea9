"""What an answer must be to count, and when two workers agree."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from stereometer.types import (
    NOT_FINITE,
    Answer,
    CausalTokens,
    Follows,
    Generate,
    MaskedBlank,
    MaskedTokens,
    NextTokens,
    Request,
    SpanVectors,
)

ABOVE_ZERO = 1e-4
"""How far above 0 rounding may carry a log-probability."""
AGREEMENT = {"float32": 1e-4, "float64": 1e-4}
"""How far apart two workers' numbers may be, by precision, for numbers about 1;"""
ROUGHLY = 0.05
"""and in any other precision."""


def expected_length(request: Request) -> int | None:
    """Entries in each column of an answer, where the request fixes it."""
    match request:
        case MaskedTokens(_, steps):
            return len(steps)
        case CausalTokens(ids, start):
            return len(ids) - start
        case MaskedBlank(_, _, asked) | NextTokens(_, asked):
            return len(asked)
        case Follows():
            return 1
    return None


def breach(request: Request, answer: object) -> str | None:
    """Why an answer cannot be one to this request."""
    if not isinstance(answer, Answer):
        return "it is not an answer"
    if isinstance(request, Generate):
        return None if isinstance(answer.text, str) else "nothing was written"
    if not answer.rows:
        return None if answer.end else "it is empty"
    rows = len(request.positions) if isinstance(request, SpanVectors) else 1
    if len(answer.rows) != rows:
        return f"it has {len(answer.rows)} rows where {rows} were asked"
    return next((why for row in answer.rows for why in _row(request, row)), None)


def _row(request: Request, row: Mapping[str, object]) -> list[str]:
    length = expected_length(request)
    faults = []
    for name, column in row.items():
        values = list(column)  # type: ignore[call-overload]
        if length is not None and len(values) != length:
            faults.append(f"it has {len(values)} numbers where {length} were asked")
        elif not all(map(isfinite, values)):
            faults.append(NOT_FINITE)
        elif name in ("logprob", "logmass") and max(values, default=0.0) > ABOVE_ZERO:
            faults.append("a log-probability is above 0")
    return faults if row else ["it has no numbers"]


def breaches(requests: Mapping[str, Request], answers: Mapping[str, Answer]) -> dict[str, str]:
    """By key, why a request has no answer that counts."""
    faults = {
        key: why
        for key, request in requests.items()
        if (why := breach(request, answers[key]) if key in answers else "it was not answered")
    }
    if answers.keys() - requests.keys():
        return dict.fromkeys(requests, "what was not asked was answered") | faults
    return faults


def differing(first: Mapping[str, Answer], second: Mapping[str, Answer], dtype: str) -> str | None:
    """The key of a request to which two workers gave answers that are not the same."""
    tolerance = AGREEMENT.get(dtype, ROUGHLY)
    return next((key for key in first if not agree(first[key], second[key], tolerance)), None)


def agree(left: Answer, right: Answer, tolerance: float) -> bool:
    if (left.text, left.end, len(left.rows)) != (right.text, right.end, len(right.rows)):
        return False
    return all(
        mine.keys() == other.keys()
        and all(
            abs(x - y) <= tolerance * max(1.0, abs(x))
            for name in mine
            for x, y in zip(mine[name], other[name], strict=True)
        )
        for mine, other in zip(left.rows, right.rows, strict=True)
    )
