"""What an endpoint can do and which model answers there, learnt by asking, before a run trusts it.

An endpoint that ignores `echo` answers all the same, with numbers of something else: its scores
would be chance, in silence. So log-probabilities of a prompt count only where they come with the
prompt's own tokens and rate a sentence likelier than its words shuffled.

A server's log-probabilities differ a little from one asking to the next, so no rounding of them
can be a key: some always straddle an edge. They are compared with those first seen, which are kept
beside the answers. What is near is the same model, under the first numbers; what is not is another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count
from typing import Any

from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.types import Memory, digest_of
from stereometer.models.server.refusals import NoRoom, NotThere, RefusedRequest, Unwritten
from stereometer.models.server.scoring import SCORING, ScoreReading, likeliest, reading, scored
from stereometer.models.server.terms import LIMIT, SAMPLING, Negotiation, QuestionTerms
from stereometer.models.server.wire import TOKENIZER, Wire, Wires

TEXT, CHAT = "/completions", "/chat/completions"
SENTENCE = "The cat sat on the mat and looked out of the window."
SHUFFLED = "window the sat of mat and on cat out looked The the."
QUESTION = "The capital of France is"
GREETING = [{"role": "user", "content": "Say yes."}]
LASTING = ("id", "owned_by", "root", "parent", "max_model_len", "meta")
"""Fields of a list of models that stay the same; `created` is often the time of the question."""


@dataclass(frozen=True)
class ServerFinding:
    """What the probe learnt: part of the model's identity."""

    completions: bool
    chat: bool
    likelihood: str
    """How prompts are scored: `echo`, `prompt_logprobs` or `none`."""
    top_k: int
    """How many of the likeliest tokens are named beside one that continues a text; 0 for none."""
    top_k_chat: int
    """Likewise in a conversation."""
    likelihoods: tuple[float, ...] = ()
    """Of a known sentence, where prompts are scored: another model of that name has others."""
    listed: str = ""
    """A digest of what the server's list of models says of this one."""
    terms: QuestionTerms = field(default_factory=QuestionTerms)
    """Which parameters of a question the server takes, and how."""
    start: str | None = ""
    """What we put before a scored text, so that its first token has a number: nothing where the
    server does so itself, None where its first token stays without."""
    start_id: int | None = None
    """Its token, where it stands there only if tokens are sent and no text."""

    def __str__(self) -> str:
        endpoints = {"completions": self.completions, "chat": self.chat}
        scored = self.likelihood != "none"
        first = "without their first token" if self.start is None else f"after {self.start}"
        sent = "" if self.start_id is None else ", sent as tokens"
        way = f"scored through {self.likelihood}{f' {first}{sent}' if self.start != '' else ''}"
        return "; ".join(
            [
                " and ".join(name for name, has in endpoints.items() if has),
                f"prompts are {way if scored else 'not scored'}",
                f"{max(self.top_k, self.top_k_chat) or 'no'} likeliest tokens named",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"likelihoods": list(self.likelihoods)}


MOST_NAMED = 20, 5
"""How many of the likeliest tokens are asked for: some servers take fewer."""
SUPPOSED = ServerFinding(True, True, next(iter(SCORING)), MOST_NAMED[0], MOST_NAMED[0])
"""What a dry run plans with: a server that offers all a measure could need."""


def probe(
    wire: Wire | Wires, model: str, start: str = "", told: Mapping[str, Any] | None = None
) -> ServerFinding:
    """Asks a dozen short questions, more where parameters are refused, and for the list of models;
    `told` is what a conversation is told beside, such as not to think."""
    plain = {"model": model, "prompt": QUESTION, LIMIT: 3}
    negotiation = Negotiation(wire)
    written, no_text = _try(*_asked(negotiation, TEXT, plain, SAMPLING))
    chat, no_chat = _chat(negotiation, model, told or {})
    if written is None and chat is None:
        raise ModelError(_nothing(wire, model, no_text, no_chat))
    way, found = _way(wire, model) if written is not None else ("none", None)
    mark: str | None = ""
    mark_id: int | None = None
    if found is not None:
        mark, mark_id, found = _marked(wire, model, way, found, start)
    values = tuple(
        round(value, 3) + 0.0 for _, value in (found.tokens if found else ()) if value is not None
    )
    return ServerFinding(
        written is not None,
        chat is not None,
        way,
        _named(written),
        _named(chat),
        values,
        _listed(wire, model),
        negotiation.terms,
        mark,
        mark_id,
    )


def _try(*ways: Callable[[], Any]) -> tuple[Any, str]:
    """What came of the first way that the server takes; else None and the server's own reasons."""
    reasons: list[str] = []
    for ask in ways:
        try:
            return ask(), ""
        except Unwritten as error:
            return None, error.end
        except RefusedRequest as error:
            reasons.append(error.reason)
            if isinstance(error, NotThere):
                break
    return None, "; ".join(dict.fromkeys(reasons))


def _chat(
    negotiation: Negotiation, model: str, told: Mapping[str, Any]
) -> tuple[Mapping[str, Any] | None, str]:
    """How a conversation is answered: by a message, or not before there is more room."""
    body = {"model": model, "messages": GREETING, LIMIT: 3}
    ways = (SAMPLING, told) if told else (SAMPLING,)
    choice, refused = _try(*_asked(negotiation, CHAT, body, *ways))
    if refused == NoRoom.end:
        return {}, ""
    if choice is not None and not isinstance(choice.get("message"), dict):
        return None, "an answer without a message"
    return choice, refused


def naming(path: str, most: int) -> dict[str, Any]:
    """What a question says besides, so that the likeliest tokens are named."""
    is_chat = path == CHAT
    return {"logprobs": True, "top_logprobs": most} if is_chat else {"logprobs": most}


def _asked(
    negotiation: Negotiation, path: str, body: Mapping[str, Any], *ways: Mapping[str, Any]
) -> Iterator[Callable[[], Any]]:
    """With the likeliest tokens, with fewer of them, and without."""
    for most in MOST_NAMED:
        yield partial(negotiation.first, path, {**body, **naming(path, most)}, *ways)
    yield partial(negotiation.first, path, body, *ways)


def _named(choice: Mapping[str, Any] | None) -> int:
    """How many of the likeliest tokens can be asked for, as an answer shows."""
    count = len(likeliest(choice or {}))
    return next((most for most in reversed(MOST_NAMED) if 1 < count <= most + 1), 0)


def _nothing(wire: Wire | Wires, model: str, no_text: str, no_chat: str) -> str:
    names = [str(entry.get("id")) for entry in _models(wire)]
    known = f"It has {', '.join(names[:8])}" if names else "It names no models"
    return (
        f"{wire.base} answers neither completions ({no_text}) nor chat ({no_chat}) for the model "
        f"'{model}'. {known}. Check the name after # and the path of the address."
    )


def _way(wire: Wire | Wires, model: str) -> tuple[str, ScoreReading | None]:
    """How prompts are scored, with a known sentence as it was read."""
    for name in SCORING:
        found = known_sentence(wire, model, name)
        if found is not None:
            return name, found
    return "none", None


def _marked(
    wire: Wire | Wires, model: str, way: str, plain: ScoreReading, start: str
) -> tuple[str | None, int | None, ScoreReading]:
    """What is put before a text whose first token has no number otherwise, and the known sentence
    read so: a mark that is one token and leaves the tokens after it as they were."""
    if plain.first is None:
        if start:
            raise ModelError(_unfit(wire, start, "The server puts a start token first by itself"))
        return "", None, plain
    mark = start or _start_token(wire)
    for mark_id in _mark_ids(wire, model, mark):
        found = known_sentence(wire, model, way, mark, mark_id)
        if found is not None and found.pieces == plain.pieces:
            return mark, mark_id, found
    if start:
        raise ModelError(_unfit(wire, start, "The server does not read it as one token"))
    return None, None, plain


def _mark_ids(wire: Wire | Wires, model: str, mark: str) -> Iterator[int | None]:
    """None for its text, which is tried first; then its token. A tokenizer may drop the space after
    a mark, or read the first word after one as the inside of a word."""
    if mark:
        yield None
        ids, _ = _try(partial(wire.ids, model, mark))
        if ids and len(ids) == 1:
            yield ids[0]


def _unfit(wire: Wire | Wires, start: str, why: str) -> str:
    return (
        f"{wire.base} cannot be given the start token {start}. {why}. Leave out --option "
        "start_token, or name the token that the model was trained with."
    )


def _start_token(wire: Wire | Wires) -> str:
    """As the server describes its tokenizer (vLLM, where it was told to), chosen as a local model's
    is: the start token, or else the end token."""
    told = _told(wire, TOKENIZER)
    named = [told.get(name) for name in ("bos_token", "eos_token")]
    texts = (each.get("content") if isinstance(each, dict) else each for each in named)
    return next((text for text in texts if isinstance(text, str) and text), "")


def known_sentence(
    wire: Wire | Wires, model: str, way: str, mark: str = "", mark_id: int | None = None
) -> ScoreReading | None:
    """How it was read, if its tokens come back one by one and are likelier than its words
    shuffled. After a mark those follow a space, which not every mark leaves alone."""
    texts = (SENTENCE, f" {SHUFFLED}" if mark else SHUFFLED)
    sentence, shuffled = (
        reading(_try(partial(scored, wire, model, way, text, mark, mark_id))[0], text, mark)
        for text in texts
    )
    if not (sentence and shuffled and sentence.whole and shuffled.whole):
        return None
    return sentence if _mean(sentence) > _mean(shuffled) else None


def _mean(found: ScoreReading) -> float:
    values = [value for _, value in found.tokens if value is not None]
    return sum(values) / len(values)


def _told(wire: Wire | Wires, path: str) -> Mapping[str, Any]:
    """What the server says of itself; nothing where it has no such page or shows it to nobody."""
    try:
        answer = wire.get(path)
    except (ModelError, Unwritten):
        return {}
    return answer if isinstance(answer, dict) else {}


def _models(wire: Wire | Wires) -> list[Mapping[str, Any]]:
    """What the server lists."""
    data = _told(wire, "/models").get("data")
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _listed(wire: Wire | Wires, model: str) -> str:
    """The model's own entry, or the only one: some servers answer to any name."""
    entries = _models(wire)
    own = [entry for entry in entries if entry.get("id") == model] or entries
    entry = own[0] if len(own) == 1 or own is not entries else {}
    lasting = {name: entry[name] for name in LASTING if entry.get(name) is not None}
    return digest_of(lasting)[:16] if lasting else ""


# ------------------------------------------------------------------------------ which model answers

TOLERANCE = 0.05
"""Of a log-probability. Batches and half precision move it by less, other weights by more."""


def known_likelihoods(
    server: str, likelihoods: Sequence[float], memory: Memory | None
) -> tuple[float, ...]:
    """The likelihoods first seen of the model that has these; these, where it is a new one.

    A memory that cannot be used is no reason not to ask.
    """
    try:
        return remembered(server, likelihoods, memory) if memory else tuple(likelihoods)
    except StereometerError:
        return tuple(likelihoods)


def remembered(server: str, likelihoods: Sequence[float], memory: Memory) -> tuple[float, ...]:
    fresh = json.dumps([float(likelihood) for likelihood in likelihoods])
    for number in count():
        key = f"{server} {number}"
        memory.keep("servers", key, fresh)  # one that is there already stays
        first = json.loads(memory.record("servers", key) or fresh)
        if alike(first, likelihoods):
            return tuple(first)
    raise AssertionError("a free number ends the search")


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether they are of as many tokens, none farther apart than the tolerance."""
    return len(first) == len(second) and not any(
        abs(left - right) > TOLERANCE for left, right in zip(first, second, strict=True)
    )
