"""What a server says instead of an answer, and what it means: ask again, skip, or give up."""

from __future__ import annotations

import json
import math
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.models.server.opener import KEY_VARIABLE, variable_for

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT = 120.0
"""A server that asks for more than this is not waited for."""
LONGEST_MESSAGE = 200
UNSAID = 0
"""The status of an error that stands where an answer should, without its own."""
WINDOW_NAMED = re.compile("context_length_exceeded|exceed_context_size")
WINDOW_DESCRIBED = re.compile(
    r"""context\ (length|window|size).*(exceed|maximum|too\ long|longer|not\ enough)
    | (exceed|maximum|too\ long|longer).*context\ (length|window|size)
    | longer\ than\ the\ maximum\ model\ length
    | `inputs`\ (tokens\ \+\ `max_new_tokens`\ must\ be|must\ have\ less\ than\ \d+\ tokens)
    | (prompt|input)\ (is|was)\ too\ long
    | (input|prompt)\ (token\ count|tokens|length)\b.*
      \b(exceeds?|greater\ than|larger\ than)\b.*\b(max|limit)
    | number\ of\ tokens\ in\ the\ prompt\ cannot\ exceed""",
    re.DOTALL | re.VERBOSE,
)
"""In the words of vLLM, llama.cpp, TGI, LM Studio, SGLang and the hosted services."""


class TooLong(Exception):
    """The prompt does not fit into the model's window."""


class Passing(Exception):
    """A failure that may not come again; `wait` is what the server asked for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Untaken(Passing):
    """The server did not take the question: nobody pays for it."""


class Unreached(Untaken):
    """There is no connection."""


class Late(Passing):
    """The time is up; the server may be answering all the same."""


class Empty(Passing):
    """An answer came, and holds nothing."""


class NoChoices(ModelError):
    """The server answers, and its answers hold nothing."""


class NoAnswer(ModelError):
    """A server did not answer, however often it was asked."""


class RefusedRequest(ModelError):
    """The server does not take this question; `reason` is its own."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text)
        self.reason = reason


class NotThere(RefusedRequest):
    """The server has no such model or endpoint."""


def refusal(base: str, code: int, text: str, reason: str, retry_after: str | None) -> Exception:
    """The exception for a status and its text; `reason` is what of the text may be shown."""
    if code in (401, 403):
        return ModelError(
            f"{base} refused the request ({code}: {reason}). The key is missing, wrong or not for "
            f"this model. Set {variable_for(base) or KEY_VARIABLE} to the right one."
        )
    if means_too_long(code, text):
        return TooLong()
    if code == 404:
        return NotThere(
            f"{base} has no such model or endpoint ({reason}). The name after # or the path is "
            "wrong. Check both.",
            reason,
        )
    if code == 429 and "insufficient_quota" in text:
        return ModelError(
            f"{base} says that the quota is spent ({reason}). It answers nothing more until the "
            "quota is raised. Answers so far are kept."
        )
    if code == UNSAID:
        return Empty(f"an error in place of an answer ({reason})")
    if code not in RETRIED:
        return RefusedRequest(
            f"{base} refused the request ({code}): {reason}. It does not accept what was asked. "
            "Check the model and the options.",
            reason,
        )
    wait = seconds(retry_after)
    if wait is None or wait <= LONGEST_WAIT:
        return (Untaken if code < 500 else Passing)(f"status {code} ({reason})", wait)
    return ModelError(
        f"{base} asks to wait {wait:.0f} s ({code}). That is longer than stereometer waits. "
        "Answers so far are kept; run the same command later."
    )


def seconds(retry_after: str | None) -> float | None:
    """Seconds, or until a date."""
    if not retry_after:
        return None
    try:
        wait = float(retry_after)
        return None if math.isnan(wait) else max(0.0, wait)
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def status_of(answer: Any) -> int | None:
    """The status of an error that came as an answer; None for an answer."""
    error = answer.get("error") if isinstance(answer, dict) and not answer.get("choices") else None
    code = error.get("code") if isinstance(error, dict) else None
    return None if not error else code if isinstance(code, int) and 400 <= code < 600 else UNSAID


def message(text: str) -> str:
    """What an error says, in the layouts that servers use."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # not JSON, or a number of over 4,300 digits
        return text
    inner = value.get("error", value) if isinstance(value, dict) else value
    return str(inner.get("message", inner) if isinstance(inner, dict) else inner)


def one_line(text: str) -> str:
    return " ".join(text.split())[:LONGEST_MESSAGE]


def means_too_long(code: int, text: str) -> bool:
    """Kept for good, so only what names the window counts: Go calls a time-out `context deadline
    exceeded`, often with status 500."""
    plain = text.lower()
    if WINDOW_NAMED.search(plain):
        return code in (UNSAID, 400, 413, 422, 500)
    return (
        code in (UNSAID, 400, 413, 422)
        and "deadline" not in plain
        and WINDOW_DESCRIBED.search(plain) is not None
    )
