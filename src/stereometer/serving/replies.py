"""What is sent back, as the protocol writes it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from starlette.responses import JSONResponse

from stereometer.measures.spans import scored_positions
from stereometer.types import Answer, Encoding

Listed = list[tuple[str, float | None, int]]
"""Token, log-probability, where it begins in the text."""


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class Problem(BaseModel):
    message: str
    type: str
    code: str


class Failure(BaseModel):
    """An error, for whoever reads the description of this server."""

    error: Problem


class Reply(JSONResponse):
    """In ASCII: half a surrogate pair can be written too."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode()


def failure(error: Refused) -> Reply:
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    problem = Problem(message=error.message, type=kind, code=error.code)
    return Reply({"error": problem.model_dump()}, error.status)


def reply(
    model: str, kind: str, choice: Mapping[str, Any], read: int, written: Answer | None
) -> dict[str, Any]:
    wrote = len(logprobs_of(written))
    return {
        "id": "stereometer",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, **choice}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": wrote,
            "total_tokens": read + wrote,
        },
    }


def logprobs_of(written: Answer | None) -> Sequence[float]:
    return written.column("logprob") if written and written.rows else ()


def read_tokens(text: str, encoding: Encoding, scores: Sequence[float]) -> Listed:
    """Every token of the text with its own stretch of it; special tokens are of no text."""
    real = set(scored_positions(encoding))
    listed: Listed = []
    at = 0
    for index, (_, end) in enumerate(encoding.offsets):
        stretch = text[at:end] if index in real and end > at else ""
        if index in real or index == 0:
            listed.append((stretch, None if index == 0 else scores[index - 1], at))
        at += len(stretch)
    return listed


def written_tokens(text: str, start: int, written: Answer | None) -> Listed:
    """The first token stands for the whole text."""
    values = logprobs_of(written)
    return [(text if at == 0 else "", value, start) for at, value in enumerate(values)]


def columns(tokens: Listed) -> dict[str, Any] | None:
    """No number stands for a token that is impossible: JSON has no infinity."""
    if not tokens:
        return None
    return {
        "tokens": [token for token, _, _ in tokens],
        "token_logprobs": [
            value if value is not None and math.isfinite(value) else None for _, value, _ in tokens
        ],
        "text_offset": [at for _, _, at in tokens],
        "top_logprobs": None,
    }
