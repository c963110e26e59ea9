"""What an endpoint can do, found out by asking it, before a run trusts its numbers.

An endpoint that ignores `echo` answers all the same, with numbers of something else: its scores would be chance, in silence. So
log-probabilities of a prompt count only where they come with the prompt's own tokens and find a sentence likelier than its words shuffled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from stereometer.backends.wire import NotThere, TooLong, Wire
from stereometer.errors import ModelError

SENTENCE = "The cat sat on the mat and looked out of the window."
SHUFFLED = "window the sat of mat and on cat out looked The the."
QUESTION = "The capital of France is"

Tokens = list[tuple[str, float | None]]
"""A prompt's tokens with their log-probabilities; None for one that has nothing before it."""


@dataclass(frozen=True)
class Found:
    """The finding: part of the model's identity."""

    completions: bool
    chat: bool
    likelihood: str
    """How prompts are scored: `echo`, `prompt_logprobs` or `none`."""
    top_k: bool
    """Whether written tokens come with the likeliest others."""
    said: str
    """What the model wrote after a known prompt: another model behind the same name says something else."""

    def __str__(self) -> str:
        ways = [name for name, has in (("completions", self.completions), ("chat", self.chat)) if has]
        scored = f"prompts are scored through {self.likelihood}" if self.likelihood != "none" else "prompts are not scored"
        return f"{' and '.join(ways)}; {scored}; {'top-k of written tokens' if self.top_k else 'no top-k of written tokens'}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def probe(wire: Wire, model: str) -> Found:
    """Asks five short questions."""
    written = _try(lambda: _completion(wire, model, QUESTION, max_tokens=3, temperature=0, logprobs=2))
    talked = _try(lambda: _chat(wire, model))
    if written is None and talked is None:
        raise ModelError(_nothing(wire, model))
    way = "none"
    if written is not None:
        way = next((name for name in SCORING if _scores(wire, model, name)), "none")
    return Found(written is not None, talked is not None, way, _has_top(written), str((written or {}).get("text") or talked)[:80])


def _nothing(wire: Wire, model: str) -> str:
    listed = _try(lambda: wire.get("/models"))
    names = [str(one.get("id")) for one in listed.get("data", []) if isinstance(one, dict)] if isinstance(listed, dict) else []
    known = f"It has {', '.join(names[:8])}" if names else "It names none"
    return f"{wire.base} answers neither completions nor chat for the model '{model}'. {known}. Check the name after # and the path of the address."


def _try(ask: Callable[[], Any]) -> Any:
    """What came of it; None where there is no such endpoint or it does not take the question."""
    try:
        return ask()
    except (NotThere, TooLong):
        return None
    except ModelError as error:
        if "(400)" in str(error) or "(422)" in str(error) or "(405)" in str(error) or "(501)" in str(error):
            return None
        raise


def _completion(wire: Wire, model: str, prompt: str, **options: Any) -> Mapping[str, Any] | None:
    answer = wire.post("/completions", {"model": model, "prompt": prompt, **options})
    return choice(answer)


def _chat(wire: Wire, model: str) -> str | None:
    body = {"model": model, "messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 3, "temperature": 0}
    found = choice(wire.post("/chat/completions", body))
    message = found.get("message") if found else None
    return str(message.get("content")) if isinstance(message, dict) else None


def choice(answer: Any) -> Mapping[str, Any] | None:
    """The first choice of an answer, if it has one."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _has_top(written: Mapping[str, Any] | None) -> bool:
    found = (written or {}).get("logprobs")
    return isinstance(found, dict) and bool(found.get("top_logprobs") or found.get("content"))


# ------------------------------------------------------------------------------------------- scoring


def by_echo(wire: Wire, model: str, text: str) -> Tokens | None:
    """OpenAI's way: the prompt comes back with its log-probabilities."""
    body = {"model": model, "prompt": text, "max_tokens": 0, "temperature": 0, "logprobs": 1, "echo": True}
    found = choice(wire.post("/completions", body))
    logprobs = found.get("logprobs") if found else None
    if not isinstance(logprobs, dict):
        return None
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    return _tokens(tokens, values)


def by_prompt_logprobs(wire: Wire, model: str, text: str) -> Tokens | None:
    """vLLM's way: a list with a table a token, the token itself among others."""
    body = {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
    found = choice(wire.post("/completions", body))
    listed = found.get("prompt_logprobs") if found else None
    if not isinstance(listed, list):
        return None
    own = [next(iter(one.values()), None) if isinstance(one, dict) else None for one in listed]
    words = [str(one.get("decoded_token", "")) if isinstance(one, dict) else "" for one in own]
    return _tokens(words, [one.get("logprob") if isinstance(one, dict) else None for one in own])


def _tokens(tokens: Any, values: Any) -> Tokens | None:
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    numbers = [None if value is None else float(value) if isinstance(value, int | float) else math.nan for value in values]
    if any(number is not None and not (math.isfinite(number) and number <= 1e-6) for number in numbers):
        return None
    return [(str(token), number) for token, number in zip(tokens, numbers, strict=True)]


SCORING: Mapping[str, Callable[[Wire, str, str], Tokens | None]] = {"echo": by_echo, "prompt_logprobs": by_prompt_logprobs}


def covers(found: Tokens | None, text: str) -> bool:
    """Whether the tokens are those of the text: all of it but a first token that has nothing before it."""
    if not found or sum(value is not None for _, value in found) < 1:
        return False
    joined = "".join(token for token, _ in found)
    rest = "".join(token for token, value in found if value is not None)
    return joined.strip() == text.strip() or (bool(rest.strip()) and text.strip().endswith(rest.strip()) and len(rest) >= len(text) / 2)


def _scores(wire: Wire, model: str, way: str) -> bool:
    """Whether a known sentence comes back token by token, likelier than its words shuffled."""
    sentence, shuffled = (_try(partial(SCORING[way], wire, model, text)) for text in (SENTENCE, SHUFFLED))
    if not covers(sentence, SENTENCE) or not covers(shuffled, SHUFFLED):
        return False
    return _mean(sentence) > _mean(shuffled)


def _mean(found: Tokens) -> float:
    values = [value for _, value in found if value is not None]
    return sum(values) / len(values)
