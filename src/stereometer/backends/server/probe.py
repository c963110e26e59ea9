"""What an endpoint can do, learnt by asking it, before a run trusts its numbers.

An endpoint that ignores `echo` answers all the same, with numbers of something else: its scores
would be chance, in silence. So log-probabilities of a prompt count only where they come with the
prompt's own tokens and rate a sentence likelier than its words shuffled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from stereometer.backends.server.refusals import NotThere, Refused, TooLong
from stereometer.backends.server.scoring import SCORING, Tokens, covers
from stereometer.backends.server.wire import Wire
from stereometer.backends.server.wires import Wires
from stereometer.errors import ModelError
from stereometer.types import TOO_LONG, digest_of

SENTENCE = "The cat sat on the mat and looked out of the window."
SHUFFLED = "window the sat of mat and on cat out looked The the."
QUESTION = "The capital of France is"
LIMITS = ("max_tokens", "max_completion_tokens")
"""What the length of an answer in a conversation is called: by most servers, and by some newer."""
LASTING = ("id", "owned_by", "root", "parent", "max_model_len", "meta")
"""Fields of a list of models that stay the same; `created` is often the time of the question."""


@dataclass(frozen=True)
class Finding:
    """What the probe learnt: part of the model's identity."""

    completions: bool
    chat: bool
    likelihood: str
    """How prompts are scored: `echo`, `prompt_logprobs` or `none`."""
    top_k: bool
    """Whether written tokens come with the likeliest others."""
    likelihoods: tuple[float, ...] = ()
    """Of a known sentence, where prompts are scored: another model of that name has others."""
    listed: str = ""
    """A digest of what the server's list of models says of this one."""
    limit: str = LIMITS[0]
    """What the length of an answer in a conversation is called."""

    def __str__(self) -> str:
        endpoints = {"completions": self.completions, "chat": self.chat}
        scored = self.likelihood != "none"
        return "; ".join(
            [
                " and ".join(name for name, has in endpoints.items() if has),
                f"prompts are {f'scored through {self.likelihood}' if scored else 'not scored'}",
                f"{'' if self.top_k else 'no '}top-k of written tokens",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"likelihoods": list(self.likelihoods)}


def probe(wire: Wire | Wires, model: str) -> Finding:
    """Asks eight short questions at most, and for the list of models."""
    plain = {"model": model, "prompt": QUESTION, "max_tokens": 3}
    bodies = (plain | {"logprobs": 2}, plain)
    written, no_text = _try(*(partial(wire.post, "/completions", body) for body in bodies))
    limit, no_chat = _try(*(partial(_chat, wire, model, name) for name in LIMITS))
    if written is None and limit is None:
        raise ModelError(_nothing(wire, model, no_text, no_chat))
    way, scored = _way(wire, model) if written is not None else ("none", [])
    values = tuple(round(value, 3) + 0.0 for _, value in scored if value is not None)
    return Finding(
        written is not None,
        limit is not None,
        way,
        _has_top(written),
        values,
        _listed(wire, model),
        limit or LIMITS[0],
    )


def _try(*ways: Callable[[], Any]) -> tuple[Any, str]:
    """What came of the first way that the server takes; else None and the server's own reasons."""
    reasons: list[str] = []
    for ask in ways:
        try:
            return ask(), ""
        except TooLong:
            reasons.append(TOO_LONG)
        except Refused as error:
            reasons.append(error.reason)
            if isinstance(error, NotThere):
                break
    return None, "; ".join(dict.fromkeys(reasons))


def _chat(wire: Wire | Wires, model: str, limit: str) -> str:
    """The name of the limit, where a conversation with it is answered by a message."""
    messages = [{"role": "user", "content": "Say yes."}]
    choice = wire.post("/chat/completions", {"model": model, "messages": messages, limit: 3})
    if not isinstance(choice.get("message"), dict):
        raise Refused(
            f"{wire.base} answers a conversation without a message.", "an answer without a message"
        )
    return limit


def _nothing(wire: Wire | Wires, model: str, no_text: str, no_chat: str) -> str:
    names = [str(entry.get("id")) for entry in _models(wire)]
    known = f"It has {', '.join(names[:8])}" if names else "It names no models"
    return (
        f"{wire.base} answers neither completions ({no_text}) nor chat ({no_chat}) for the model "
        f"'{model}'. {known}. Check the name after # and the path of the address."
    )


def _way(wire: Wire | Wires, model: str) -> tuple[str, Tokens]:
    """How prompts are scored, with the tokens of a known sentence."""
    for name in SCORING:
        tokens = known_sentence(wire, model, name)
        if tokens is not None:
            return name, tokens
    return "none", []


def known_sentence(wire: Wire | Wires, model: str, way: str) -> Tokens | None:
    """Its tokens, if they come back one by one and are likelier than its words shuffled."""
    sentence, shuffled = (
        _try(partial(SCORING[way], wire, model, text))[0] for text in (SENTENCE, SHUFFLED)
    )
    if not covers(sentence, SENTENCE) or not covers(shuffled, SHUFFLED):
        return None
    return sentence if _mean(sentence) > _mean(shuffled) else None


def _mean(tokens: Tokens) -> float:
    values = [value for _, value in tokens if value is not None]
    return sum(values) / len(values)


def _has_top(written: Mapping[str, Any] | None) -> bool:
    logprobs = (written or {}).get("logprobs")
    return isinstance(logprobs, dict) and bool(
        logprobs.get("top_logprobs") or logprobs.get("content")
    )


def _models(wire: Wire | Wires) -> list[Mapping[str, Any]]:
    """What the server lists; nothing where it has no list or gives it to nobody."""
    try:
        answer = wire.get("/models")
    except (ModelError, TooLong):
        return []
    data = answer.get("data") if isinstance(answer, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _listed(wire: Wire | Wires, model: str) -> str:
    """The model's own entry, or the only one: some servers answer to any name."""
    entries = _models(wire)
    own = [entry for entry in entries if entry.get("id") == model] or entries
    entry = own[0] if len(own) == 1 or own is not entries else {}
    lasting = {name: entry[name] for name in LASTING if entry.get(name) is not None}
    return digest_of(lasting)[:16] if lasting else ""
