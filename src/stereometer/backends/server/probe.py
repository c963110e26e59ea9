"""What an endpoint can do, found out by asking it, before a run trusts its numbers.

An endpoint that ignores `echo` answers all the same, with numbers of something else: its scores would be chance, in silence. So
log-probabilities of a prompt count only where they come with the prompt's own tokens and find a sentence likelier than its words shuffled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from stereometer.backends.server.refusals import NoChoices, NotThere, Refused, TooLong
from stereometer.backends.server.wire import Wire, choice
from stereometer.errors import ModelError
from stereometer.types import TOO_LONG, digest_of

SENTENCE = "The cat sat on the mat and looked out of the window."
SHUFFLED = "window the sat of mat and on cat out looked The the."
QUESTION = "The capital of France is"
LIMITS = ("max_tokens", "max_completion_tokens")
"""What the length of an answer in a conversation is called: by most servers, and by those that renamed it."""
LASTING = ("id", "owned_by", "root", "parent", "max_model_len", "meta")
"""Fields of a list of models that are the same at every asking; `created` is often the time of the question."""
LONGEST_TOKEN = 20
"""Characters of a first token that a server may leave out."""
PART = re.compile(r"\ufffd|<0x[0-9A-Fa-f]{2}>|bytes:\s?(?:\\x[0-9A-Fa-f]{2})+")
"""How servers write a token that is a part of a character."""

Tokens = list[tuple[str, float | None]]
"""A prompt's tokens with their log-probabilities; None for one that has nothing before it or is left out, NaN for one that is impossible."""


@dataclass(frozen=True)
class Found:
    """The finding: part of the model's identity."""

    completions: bool
    chat: bool
    likelihood: str
    """How prompts are scored: `echo`, `prompt_logprobs` or `none`."""
    top_k: bool
    """Whether written tokens come with the likeliest others."""
    likelihoods: tuple[float, ...] = ()
    """Of a known sentence, where prompts are scored: another model behind the same name has others."""
    listed: str = ""
    """A digest of what the server's list of models says of this one."""
    limit: str = LIMITS[0]
    """What the length of an answer in a conversation is called."""

    def __str__(self) -> str:
        ways = [
            name for name, has in (("completions", self.completions), ("chat", self.chat)) if has
        ]
        scored = (
            f"prompts are scored through {self.likelihood}"
            if self.likelihood != "none"
            else "prompts are not scored"
        )
        return f"{' and '.join(ways)}; {scored}; {'top-k of written tokens' if self.top_k else 'no top-k of written tokens'}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"likelihoods": list(self.likelihoods)}


def probe(wire: Wire, model: str) -> Found:
    """Asks eight short questions at most, and for the list of models."""
    plain = {"model": model, "prompt": QUESTION, "max_tokens": 3}
    written, unwritten = _try(
        *(partial(chosen, wire, "/completions", plain | more) for more in ({"logprobs": 2}, {}))
    )
    limit, untold = _try(*(partial(_chat, wire, model, name) for name in LIMITS))
    if written is None and limit is None:
        raise ModelError(_nothing(wire, model, unwritten, untold))
    way, scored = _way(wire, model) if written is not None else ("none", [])
    values = tuple(round(value, 3) + 0.0 for _, value in scored if value is not None)
    return Found(
        written is not None,
        limit is not None,
        way,
        _has_top(written),
        values,
        _listed(wire, model),
        limit or LIMITS[0],
    )


def _way(wire: Wire, model: str) -> tuple[str, Tokens]:
    """How prompts are scored, with the tokens of a known sentence."""
    for name in SCORING:
        found = _scored(wire, model, name)
        if found is not None:
            return name, found
    return "none", []


def _models(wire: Wire) -> list[Mapping[str, Any]]:
    """What the server lists; nothing where it has no list or gives it to nobody."""
    try:
        found = wire.get("/models")
    except (ModelError, TooLong):
        return []
    data = found.get("data") if isinstance(found, dict) else None
    return [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []


def _listed(wire: Wire, model: str) -> str:
    """The model's own entry, or the only one: some servers answer to any name."""
    found = _models(wire)
    entry = next(
        (one for one in found if one.get("id") == model), found[0] if len(found) == 1 else {}
    )
    lasting = {name: entry[name] for name in LASTING if entry.get(name) is not None}
    return digest_of(lasting)[:16] if lasting else ""


def _nothing(wire: Wire, model: str, unwritten: str, untold: str) -> str:
    names = [str(one.get("id")) for one in _models(wire)]
    known = f"It has {', '.join(names[:8])}" if names else "It names no models"
    return (
        f"{wire.base} answers neither completions ({unwritten}) nor chat ({untold}) for the model '{model}'. {known}. "
        "Check the name after # and the path of the address."
    )


def _try(*ways: Callable[[], Any]) -> tuple[Any, str]:
    """What came of the first way of asking that the server takes; where it takes none, None and its own reasons."""
    reasons: list[str] = []
    for ask in ways:
        try:
            return ask(), ""
        except TooLong:
            reasons.append(TOO_LONG)
        except Refused as error:
            reasons.append(error.said)
            if isinstance(error, NotThere):
                break
    return None, "; ".join(dict.fromkeys(reasons))


def _chat(wire: Wire, model: str, limit: str) -> str:
    """The name of the limit, where a conversation with it is answered by a message."""
    found = chosen(
        wire,
        "/chat/completions",
        {"model": model, "messages": [{"role": "user", "content": "Say yes."}], limit: 3},
    )
    if not isinstance(found.get("message"), dict):
        raise Refused(
            f"{wire.base} answers a conversation without a message.", "an answer without a message"
        )
    return limit


def chosen(wire: Wire, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of an answer."""
    found = choice(wire.post(path, body))
    assert found is not None, "an answer without one is asked for again"
    return found


def _has_top(written: Mapping[str, Any] | None) -> bool:
    found = (written or {}).get("logprobs")
    return isinstance(found, dict) and bool(found.get("top_logprobs") or found.get("content"))


# ------------------------------------------------------------------------------------------- scoring


def by_echo(wire: Wire, model: str, text: str) -> Tokens | None:
    """OpenAI's way: the prompt comes back with its log-probabilities."""
    body = {
        "model": model,
        "prompt": text,
        "max_tokens": 0,
        "temperature": 0,
        "logprobs": 1,
        "echo": True,
    }
    logprobs = _looked_up(wire, body, "logprobs")
    if not isinstance(logprobs, dict):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    return _tokens(tokens, values)


def by_prompt_logprobs(wire: Wire, model: str, text: str) -> Tokens | None:
    """vLLM's way: a list with a table a token, the token itself among others."""
    body = {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
    listed = _looked_up(wire, body, "prompt_logprobs")
    if not isinstance(listed, list):
        return None
    own = [next(iter(one.values()), None) if isinstance(one, dict) else None for one in listed]
    words = [str(one.get("decoded_token", "")) if isinstance(one, dict) else "" for one in own]
    return _tokens(words, [one.get("logprob") if isinstance(one, dict) else None for one in own])


def _looked_up(wire: Wire, body: Mapping[str, Any], name: str) -> Any:
    """A field of the first choice; a server may give no choice where it has nothing to write."""
    try:
        return chosen(wire, "/completions", body).get(name)
    except NoChoices:
        return None


def _tokens(tokens: Any, values: Any) -> Tokens | None:
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    if not all(
        value is None or (isinstance(value, int | float) and not value > 1e-6) for value in values
    ):
        return None
    return [(str(token), _number(value)) for token, value in zip(tokens, values, strict=True)]


def _number(value: float | None) -> float | None:
    return value if value is None else float(value) if math.isfinite(value) else math.nan


def unnumbered(place: int, value: float | None) -> bool:
    """Whether a token has no number though it should: only the first may have nothing before it."""
    return place > 0 if value is None else math.isnan(value)


SCORING: Mapping[str, Callable[[Wire, str, str], Tokens | None]] = {
    "echo": by_echo,
    "prompt_logprobs": by_prompt_logprobs,
}


def covers(found: Tokens | None, text: str) -> bool:
    """Whether the tokens are those of the text, each with its number."""
    return spells(found, text) and not any(
        unnumbered(place, value) for place, (_, value) in enumerate(found or [])
    )


def spells(found: Tokens | None, text: str) -> bool:
    """Whether the tokens are those of the text, and not all without a number: all of it but a first token that has nothing before it."""
    if not found or (len(found) > 1 and all(value is None for _, value in found)):
        return False
    whole, joined = text.strip(), "".join(token for token, _ in found).strip()
    rest = "".join(token for token, _ in (found[1:] if found[0][1] is None else found)).strip()
    return joined == whole or (
        bool(rest) and whole.endswith(rest) and _one_token(whole[: len(whole) - len(rest)])
    )


def _one_token(text: str) -> bool:
    return len(text) <= LONGEST_TOKEN and len(text.split()) <= 1


def splits(found: Tokens | None, text: str) -> bool:
    """Whether tokens are of this text but hold parts of characters, which come back as what cannot be put together again."""
    pieces = PART.split("".join(token for token, _ in found or []))
    at = 0
    for piece in pieces:
        at = text.find(piece.strip(), at)
        if at < 0:
            return False
        at += len(piece.strip())
    return len(pieces) > 1


def _scored(wire: Wire, model: str, way: str) -> Tokens | None:
    """A known sentence, if it comes back token by token, likelier than its words shuffled."""
    sentence, shuffled = (
        _try(partial(SCORING[way], wire, model, text))[0] for text in (SENTENCE, SHUFFLED)
    )
    if not covers(sentence, SENTENCE) or not covers(shuffled, SHUFFLED):
        return None
    return sentence if _mean(sentence) > _mean(shuffled) else None


def _mean(found: Tokens) -> float:
    values = [value for _, value in found if value is not None]
    return sum(values) / len(values)
