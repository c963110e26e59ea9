"""The log-probabilities of a prompt's own tokens, as servers give them, and whether they hold."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types import BOUNDARY, Answer
from stereometer.models.server.refusals import NoChoices
from stereometer.models.server.wire import Wire, Wires

LONGEST_TOKEN = 20
"""Characters of a first token that a server may leave out, and of a text that may be one token."""
MOST_WORDS = 4
"""In one token: more are a text in one piece."""
PART = re.compile(r"\ufffd|<0x[0-9A-Fa-f]{2}>|bytes:\s?(?:\\x[0-9A-Fa-f]{2})+")
"""How servers write a token that is a part of a character."""
SPLIT = "a character is split over tokens"
"""Why a text is not scored: where its tokens begin is not known."""
UNNUMBERED = "the server gives a token no log-probability"
"""Why a text is not scored: it is impossible to the model, or the number is missing."""

Prompt = str | list[int]
"""A text, or its tokens."""
Tokens = list[tuple[str, float | None]]
"""A prompt's tokens with their log-probabilities.

None for one that has nothing before it or is left out, NaN for one that is impossible.
"""


def by_echo(wire: Wire | Wires, model: str, prompt: Prompt) -> Tokens | None:
    """OpenAI's way: the prompt comes back with its log-probabilities."""
    logprobs = _field(wire, model, prompt, "logprobs", max_tokens=0, logprobs=1, echo=True)
    if not isinstance(logprobs, dict):
        return None
    return tokens_of(logprobs.get("tokens"), logprobs.get("token_logprobs"))


def by_prompt_logprobs(wire: Wire | Wires, model: str, prompt: Prompt) -> Tokens | None:
    """vLLM's way: a list with a table a token, the token itself among others."""
    listed = _field(wire, model, prompt, "prompt_logprobs", max_tokens=1, prompt_logprobs=0)
    if not isinstance(listed, list):
        return None
    firsts = [next(iter(row.values()), None) if isinstance(row, dict) else None for row in listed]
    own = [first if isinstance(first, dict) else {} for first in firsts]
    return tokens_of(
        [str(token.get("decoded_token", "")) for token in own],
        [token.get("logprob") for token in own],
    )


SCORING: Mapping[str, Callable[[Wire | Wires, str, Prompt], Tokens | None]] = {
    "echo": by_echo,
    "prompt_logprobs": by_prompt_logprobs,
}


def scored(
    wire: Wire | Wires, model: str, way: str, text: str, mark: str = "", mark_id: int | None = None
) -> Tokens | None:
    """A text after a mark. Where the mark's token is given, tokens are sent, as the server itself
    makes them of the text alone."""
    prompt: Prompt = mark + text if mark_id is None else [mark_id, *wire.ids(model, text)]
    return SCORING[way](wire, model, prompt)


def _field(wire: Wire | Wires, model: str, prompt: Prompt, name: str, **options: Any) -> Any:
    """A field of the first choice; a server may give no choice where it has nothing to write."""
    body = {"model": model, "prompt": prompt, "temperature": 0, **options}
    try:
        return wire.post("/completions", body).get(name)
    except NoChoices:
        return None


def tokens_of(tokens: Any, values: Any) -> Tokens | None:
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    numbers = [value for value in values if value is not None]
    # Not `isinstance`: to Python true and false are integers.
    if not all(type(value) in (int, float) and not value > 1e-6 for value in numbers):
        return None
    return [(str(token), _number(value)) for token, value in zip(tokens, values, strict=True)]


def _number(value: float | None) -> float | None:
    try:
        return value if value is None else float(value) if math.isfinite(value) else math.nan
    except OverflowError:  # a whole number of 400 digits
        return math.nan


def likeliest(choice: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The likeliest tokens at the first place of what was written, in either protocol's form."""
    logprobs = choice.get("logprobs")
    told: Mapping[str, Any] = logprobs if isinstance(logprobs, dict) else {}
    content, tops = told.get("content"), told.get("top_logprobs")
    if isinstance(content, list) and content and isinstance(content[0], dict):
        listed = content[0].get("top_logprobs")
        rows = listed if isinstance(listed, list) else []
        pairs = [(row.get("token"), row.get("logprob")) for row in rows if isinstance(row, dict)]
    else:
        first = tops[0] if isinstance(tops, list) and tops else None
        pairs = list(first.items()) if isinstance(first, dict) else []
    texts, values = [text for text, _ in pairs], [value for _, value in pairs]
    return [(text, value) for text, value in tokens_of(texts, values) or () if value is not None]


@dataclass(frozen=True)
class ScoreReading:
    """A text as a server read it."""

    first: str | None
    """Its first token, where that has no number because nothing stood before it."""
    tokens: Tokens
    """The others."""

    @property
    def whole(self) -> bool:
        """Whether all of them have their number."""
        return not any(value is None or math.isnan(value) for _, value in self.tokens)

    @property
    def pieces(self) -> list[str]:
        """All tokens of the text, as far as they can be seen."""
        first = [] if self.first is None else [self.first]
        return [piece.strip() for piece in (*first, *(token for token, _ in self.tokens))]


def reading(tokens: Tokens | None, text: str, mark: str = "") -> ScoreReading | None:
    """The tokens of a text, without the mark that stands before it; None where they are not its
    own, all of them without a number, or too long for tokens."""
    if not tokens or (len(tokens) > 1 and all(value is None for _, value in tokens)):
        return None
    shown, value = tokens[0][0].strip(), tokens[0][1]
    own = tokens if value is not None else tokens[1:]
    whole, rest = text.strip(), _joined(own).strip()
    first = whole[: len(whole) - len(rest)].rstrip()
    if not whole.endswith(rest) or not _are_tokens(first, own):
        return None
    if mark:
        is_mark = value is None and shown in ("", mark.strip()) and not first
        swallowed = text[:1].isspace() and not _joined(own)[:1].isspace()
        return ScoreReading(None, own) if is_mark and not swallowed else None
    if first and value is None and shown not in ("", first):
        return None
    # White space that the text begins with may be a token of its own.
    unseen = tokens[0][0] if value is None and not shown and text[:1].isspace() else ""
    return ScoreReading(first or unseen or None, own)


def _are_tokens(first: str, others: Tokens) -> bool:
    """Whether no piece is too long for a token: a text in one piece has a number, but not the
    numbers of its tokens."""
    only = others[0][0] if len(others) == 1 else ""
    return (
        max(len(first), len(only.strip())) <= LONGEST_TOKEN
        and len(first.split()) <= 1
        and all(len(token.split()) <= MOST_WORDS for token, _ in others)
    )


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


def row(tokens: Tokens | None, text: str, start: int, mark: str = "") -> Answer:
    """The log-probabilities of the tokens from `start` on; a token belongs where its first visible
    character stands. Where the text's first token has none, the answer names it."""
    found = reading(tokens, text, mark)
    if found is None:
        if splits(tokens, mark + text):
            return Answer((), end=SPLIT)
        raise ModelError(
            "The server no longer gives the log-probabilities of a prompt, as it did when it was "
            "probed. Its numbers cannot be trusted. Check the server."
        )
    values, at = array("d"), len(text.rstrip()) - len(_joined(found.tokens).rstrip())
    if 0 < start < at and found.first and text[start:at].strip():
        return Answer((), end=BOUNDARY)
    for token, value in found.tokens:
        first, end = at + len(token) - len(token.lstrip()), at + len(token)
        if first < start < end and text[start:end].strip():
            return Answer((), end=BOUNDARY)
        if first >= start:
            if value is None or math.isnan(value):
                return Answer((), end=UNNUMBERED)
            values.append(value)
        at = end
    if not values:
        return Answer((), end="no token to score")
    return Answer(({"logprob": values},), None if start else found.first)


def _joined(tokens: Tokens) -> str:
    return "".join(token for token, _ in tokens)
