"""A prompt before a text, in tokens: whatever is asked of a text can be asked of it after a prompt.

It stands after the tokens that open a text ([CLS], a first token). Tokens are joined, not texts, so
that the text has the same tokens with and without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stereometer.backends.local.tokens import Tokens
from stereometer.backends.local.trie import common
from stereometer.errors import ModelError
from stereometer.types import HIDDEN, CausalTokens, MaskedBlank, MaskedTokens, NextTokens

Asked = MaskedTokens | CausalTokens
"""Requests for tokens at positions of a text."""
LEAST = 8
"""Tokens of a text that must fit into the window after a prompt."""


@dataclass(frozen=True)
class Prefix:
    ids: tuple[int, ...]
    opening: tuple[int, ...]
    """What a text begins with before its first word."""

    def __len__(self) -> int:
        return len(self.ids)

    def before(self, request: Asked) -> Asked:
        """The question about the text after the prompt."""
        at = common(self.opening, request.ids)
        if isinstance(request, CausalTokens):
            at = min(at, request.start)
            return CausalTokens(self._joined(request.ids, at), request.start + len(self))
        steps = tuple(
            (tuple(self._moved(place, at) for place in hidden), self._moved(position, at))
            for hidden, position in request.steps
        )
        segments = request.segments
        if segments:
            kind = segments[min(at, len(segments) - 1)]
            segments = (*segments[:at], *[kind] * len(self), *segments[at:])
        return replace(request, ids=self._joined(request.ids, at), steps=steps, segments=segments)

    def _joined(self, ids: tuple[int, ...], at: int) -> tuple[int, ...]:
        return (*ids[:at], *self.ids, *ids[at:])

    def _moved(self, place: int, at: int) -> int:
        return place + len(self) if place >= at else place


def prefix_of(prompt: str, tokens: Tokens) -> Prefix:
    """A prompt as the model reads it, on a line of its own: a word after a line's end has the
    tokens of a text's first word."""
    written = f"{prompt.strip()}\n" if prompt.strip() else ""
    ids = tuple(tokens.tokenizer(written, add_special_tokens=False)["input_ids"]) if written else ()
    encoding = tokens.encode("a")
    first = next((at for at, word in enumerate(encoding.words) if word is not None), 0)
    if len(ids) + len(encoding.ids) + LEAST > tokens.window:
        raise ModelError(
            f"The prompt has {len(ids)} tokens, and the model takes {tokens.window} at once. No "
            "text would fit after it. Write a shorter prompt."
        )
    return Prefix(ids, encoding.ids[:first])


def context_of(request: MaskedTokens | CausalTokens | MaskedBlank | NextTokens, mask: int) -> Asked:
    """A request whose positions are those that another one asks about."""
    if isinstance(request, MaskedBlank):
        ids = tuple(mask if token == HIDDEN else token for token in request.ids)
        return MaskedTokens(ids, (((), request.position),), request.segments)
    if isinstance(request, NextTokens):
        return CausalTokens((*request.ids, request.ids[-1]), len(request.ids))
    return request
