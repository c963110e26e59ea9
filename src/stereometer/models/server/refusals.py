"""What a server says instead of an answer, and what it means: ask again, skip, or give up."""

from __future__ import annotations

import json
import math
import re
import time
from email.utils import parsedate_to_datetime
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types import FILTERED, NO_ROOM, TOO_LONG
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
REFUSING = frozenset({UNSAID, 400, 403, 422, 451})
FILTER = re.compile(
    r"""content_filter | content_policy_violation | ResponsibleAIPolicyViolation
    | data_inspection_failed | block_?reason | PROHIBITED_CONTENT
    | (prompt|input|request)\ (was|is|has\ been)\ (blocked|flagged)""",
    re.IGNORECASE | re.VERBOSE,
)
"""How Azure, OpenAI, Gemini, OpenRouter and others say that a filter held something back."""
FILTERED_ENDS = ("content_filter", "refusal", "safety", "prohibited_content", "blocklist")
"""What a reason for the end of an answer begins with, where a filter ended it."""
CUT_SHORT = re.compile(r"could not finish the message because max_(completion_)?tokens", re.I)


class Unwritten(Exception):
    """The server says that there will be no answer, and why; nothing is wrong with the question."""

    end = ""


class TooLong(Unwritten):
    """The prompt does not fit into the model's window."""

    end = TOO_LONG


class Filtered(Unwritten):
    """A filter of the service holds the prompt or the answer back: it has read the prompt."""

    end = FILTERED


class NoRoom(Unwritten):
    """The limit on the answer was reached before it began."""

    end = NO_ROOM


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
    """The server does not take this question; `reason` is its own, and `named` are the words in
    which it may name a parameter."""

    def __init__(self, text: str, reason: str, named: frozenset[str] = frozenset()) -> None:
        super().__init__(text)
        self.reason, self.named = reason, named


class NotThere(RefusedRequest):
    """The server has no such model or endpoint."""


def refusal(base: str, code: int, text: str, reason: str, retry_after: str | None) -> Exception:
    """The exception for a status and its text; `reason` is what of the text may be shown."""
    if code in REFUSING and FILTER.search(text):
        return Filtered()
    if code in (401, 403):
        return ModelError(
            f"{base} refused the request ({code}: {reason}). The key is missing, wrong or not for "
            f"this model. Set {variable_for(base) or KEY_VARIABLE} to the right one."
        )
    if means_too_long(code, text):
        return TooLong()
    if code == 400 and CUT_SHORT.search(text):
        return NoRoom()
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
            parameters(text) if code in (400, 422) else frozenset(),
        )
    wait = seconds(retry_after)
    if wait is None or wait <= LONGEST_WAIT:
        return (Untaken if code < 500 else Passing)(f"status {code} ({reason})", wait)
    return ModelError(
        f"{base} asks to wait {wait:.0f} s ({code}). That is longer than stereometer waits. "
        "Answers so far are kept; run the same command later."
    )


def parameters(text: str) -> frozenset[str]:
    """Words of a refusal, among them the parameter that it names: of its field for that, where it
    has one."""
    try:
        error = json.loads(text)["error"]["param"]
    except (ValueError, RecursionError, LookupError, TypeError):
        error = ""
    return frozenset(re.findall(r"\w+", str(error or text)))


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
    (value,) = value if isinstance(value, list) and len(value) == 1 else [value]  # Gemini's
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
