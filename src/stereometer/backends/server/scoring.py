"""The log-probabilities of a prompt's own tokens, as servers give them, and whether they hold."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Mapping
from typing import Any

from stereometer.backends.server.refusals import NoChoices
from stereometer.backends.server.wire import Wire
from stereometer.backends.server.wires import Wires
from stereometer.errors import ModelError
from stereometer.types import BOUNDARY, Answer

LONGEST_TOKEN = 20
"""Characters of a first token that a server may leave out."""
PART = re.compile(r"\ufffd|<0x[0-9A-Fa-f]{2}>|bytes:\s?(?:\\x[0-9A-Fa-f]{2})+")
"""How servers write a token that is a part of a character."""
SPLIT = "a character is split over tokens"
"""Why a text is not scored: where its tokens begin is not known."""
UNNUMBERED = "the server gives a token no log-probability"
"""Why a text is not scored: it is impossible to the model, or the number is missing."""

Tokens = list[tuple[str, float | None]]
"""A prompt's tokens with their log-probabilities.

None for one that has nothing before it or is left out, NaN for one that is impossible.
"""


def by_echo(wire: Wire | Wires, model: str, text: str) -> Tokens | None:
    """OpenAI's way: the prompt comes back with its log-probabilities."""
    logprobs = _field(wire, model, text, "logprobs", max_tokens=0, logprobs=1, echo=True)
    if not isinstance(logprobs, dict):
        return None
    return tokens_of(logprobs.get("tokens"), logprobs.get("token_logprobs"))


def by_prompt_logprobs(wire: Wire | Wires, model: str, text: str) -> Tokens | None:
    """vLLM's way: a list with a table a token, the token itself among others."""
    listed = _field(wire, model, text, "prompt_logprobs", max_tokens=1, prompt_logprobs=0)
    if not isinstance(listed, list):
        return None
    firsts = [next(iter(row.values()), None) if isinstance(row, dict) else None for row in listed]
    own = [first if isinstance(first, dict) else {} for first in firsts]
    return tokens_of(
        [str(token.get("decoded_token", "")) for token in own],
        [token.get("logprob") for token in own],
    )


SCORING: Mapping[str, Callable[[Wire | Wires, str, str], Tokens | None]] = {
    "echo": by_echo,
    "prompt_logprobs": by_prompt_logprobs,
}


def _field(wire: Wire | Wires, model: str, text: str, name: str, **options: Any) -> Any:
    """A field of the first choice; a server may give no choice where it has nothing to write."""
    body = {"model": model, "prompt": text, "temperature": 0, **options}
    try:
        return wire.post("/completions", body).get(name)
    except NoChoices:
        return None


def tokens_of(tokens: Any, values: Any) -> Tokens | None:
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    numbers = [value for value in values if value is not None]
    if not all(isinstance(value, int | float) and not value > 1e-6 for value in numbers):
        return None
    return [(str(token), _number(value)) for token, value in zip(tokens, values, strict=True)]


def _number(value: float | None) -> float | None:
    return value if value is None else float(value) if math.isfinite(value) else math.nan


def unnumbered(place: int, value: float | None) -> bool:
    """Whether a token lacks a number that it should have: only the first has nothing before it."""
    return place > 0 if value is None else math.isnan(value)


def covers(tokens: Tokens | None, text: str) -> bool:
    """Whether the tokens are those of the text, each with its number."""
    return spells(tokens, text) and not any(
        unnumbered(place, value) for place, (_, value) in enumerate(tokens or [])
    )


def spells(tokens: Tokens | None, text: str) -> bool:
    """Whether the tokens are those of the text, all but a first one that has nothing before it, and
    not all without a number."""
    if not tokens or (len(tokens) > 1 and all(value is None for _, value in tokens)):
        return False
    whole, joined = text.strip(), _joined(tokens).strip()
    rest = _joined(tokens[1:] if tokens[0][1] is None else tokens).strip()
    first = whole[: len(whole) - len(rest)]
    is_token = len(first) <= LONGEST_TOKEN and len(first.split()) <= 1
    return joined == whole or (bool(rest) and whole.endswith(rest) and is_token)


def splits(tokens: Tokens | None, text: str) -> bool:
    """Whether tokens are of this text but hold parts of characters, which cannot be joined."""
    pieces = PART.split(_joined(tokens or []))
    at = 0
    for piece in pieces:
        at = text.find(piece.strip(), at)
        if at < 0:
            return False
        at += len(piece.strip())
    return len(pieces) > 1


def row(tokens: Tokens | None, text: str, start: int) -> Answer:
    """The log-probabilities of the tokens from `start` on; a token belongs where its first visible
    character stands."""
    if not spells(tokens, text):
        if splits(tokens, text):
            return Answer((), end=SPLIT)
        raise ModelError(
            "The server no longer gives the log-probabilities of a prompt, as it did when it was "
            "probed. Its numbers cannot be trusted. Check the server."
        )
    assert tokens is not None
    values, at = array("d"), len(text.rstrip()) - len(_joined(tokens).rstrip())
    for place, (token, value) in enumerate(tokens):
        first, end = at + len(token) - len(token.lstrip()), at + len(token)
        if first < start < end and text[start:end].strip():
            return Answer((), end=BOUNDARY)
        if first >= start and unnumbered(place, value):
            return Answer((), end=UNNUMBERED)
        if first >= start and value is not None:
            values.append(value)
        at = end
    return Answer(({"logprob": values},)) if values else Answer((), end="no token to score")


def _joined(tokens: Tokens) -> str:
    return "".join(token for token, _ in tokens)
