"""Models behind an OpenAI-compatible server: `server:URL#model`."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from stereometer.backends.server.budget import budget_of
from stereometer.backends.server.probe import (
    SCORING,
    Found,
    Tokens,
    chosen,
    probe,
    spells,
    splits,
    unnumbered,
)
from stereometer.backends.server.refusals import TooLong
from stereometer.backends.server.wire import Closed, Wire, shown
from stereometer.errors import BudgetSpent, ModelError, UsageError
from stereometer.types import (
    BOUNDARY,
    FILTERED,
    TOO_LONG,
    Answer,
    Continuation,
    Encoding,
    Generate,
    ModelCard,
    Request,
    WholeText,
    digest_of,
)

VERSION = "2"
"""1 sent no top_p: its answers were drawn as the server liked."""


SPLIT = "a character is split over tokens"
"""Why a text is not scored: where its tokens begin cannot be told."""
UNNUMBERED = "the server gives a token no log-probability"
"""Why a text is not scored: it is impossible to the model, or the number is missing."""


Remember = Callable[[str, tuple[float, ...]], tuple[float, ...]]
"""Given a server and the likelihoods of a known sentence, gives those that the same model is known by."""


def open_server(
    spec: str,
    options: Mapping[str, Any] | None = None,
    remember: Remember = lambda server, likelihoods: likelihoods,
) -> Server:
    """`URL#model`, with how patiently and at what cost it is asked."""
    url, sign, model = spec.rpartition("#")
    if not sign or not url or not model:
        raise UsageError(
            f"{shown(f'server:{spec}')} does not say which model. It is the address, # and the model's name. For instance server:http://127.0.0.1:8080/v1#name."
        )
    asked = dict(options or {})
    budget = budget_of(asked.get("budget"), asked.get("price"))
    wire = Wire(
        url,
        float(asked.get("timeout", 60.0)),
        int(asked.get("in_flight", 8)),
        float(asked.get("wait_initial", 0.5)),
        budget,
    )
    return Server(wire, model, remember)


class Server:
    """Keeps some requests in flight; answers come in any order, each as soon as it is there."""

    keep_every = 1
    """Every answer is kept the moment it arrives."""
    costly = True
    """A dry run asks it nothing."""

    def __init__(self, wire: Wire, model: str, remember: Remember) -> None:
        self.wire, self.model = wire, model
        self.found: Found = self._known(probe(wire, model), remember)
        wire.acquainted = True
        scored = {WholeText.kind, Continuation.kind} if self.found.likelihood != "none" else set()
        self.supports = frozenset({Generate.kind, *scored})
        self.chat_template = "the server's own" if self.found.chat else ""
        self.card = self._card()

    def _known(self, found: Found, remember: Remember) -> Found:
        """The finding, with the likelihoods that the model was first known by: the cache goes by them."""
        if not found.likelihoods:
            return found
        server = digest_of([self.wire.base, self.model, replace(found, likelihoods=()).as_json()])
        return replace(found, likelihoods=remember(server, found.likelihoods))

    def _card(self) -> ModelCard:
        notes = [f"Served by {self.wire.base}: {self.found}."]
        if not self.found.completions:
            notes.append(
                "The server continues no text: a prompt is sent as one message of a conversation."
            )
        settings = {"url": self.wire.base, "model": self.model, **self.found.as_json()}
        digest = digest_of([self.wire.base, self.model, self.found.as_json()])
        return ModelCard(
            self.model,
            "server",
            f"server@{VERSION}",
            digest,
            settings=settings,
            dtype="unknown",
            notes=tuple(notes),
        )

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError("a server reads text")

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        """Stops sending when the budget is spent or something fails for good; what is under way is still answered."""
        waiting = iter(requests.items())
        running: dict[Future[Answer], str] = {}
        failed: Exception | None = None
        pool = ThreadPoolExecutor(self.wire.in_flight, thread_name_prefix="stereometer-server")
        try:
            while True:
                while (
                    failed is None
                    and len(running) < self.wire.in_flight
                    and (following := next(waiting, None)) is not None
                ):
                    key, request = following
                    running[pool.submit(self._answer, request)] = key
                if not running:
                    break
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    key = running.pop(done)
                    try:
                        answer = done.result()
                    except (BudgetSpent, ModelError, Closed) as error:
                        failed = failed or error
                        continue
                    yield key, answer
        except BaseException:
            self.wire.close()  # interrupted: what is under way is broken off, and nothing waits for it
            raise
        finally:
            pool.shutdown(wait=not self.wire.closing.is_set(), cancel_futures=True)
        if failed is not None:
            raise failed

    def _answer(self, request: Request) -> Answer:
        try:
            if isinstance(request, Generate):
                return self._text(chosen(self.wire, *self._body(request)))
            text, start = (
                request.joined
                if isinstance(request, Continuation)
                else (request.text, 0)
                if isinstance(request, WholeText)
                else ("", 0)
            )
            return _row(SCORING[self.found.likelihood](self.wire, self.model, text), text, start)
        except TooLong:
            return (
                Answer((), "", TOO_LONG)
                if isinstance(request, Generate)
                else Answer((), end=TOO_LONG)
            )

    def _body(self, request: Generate) -> tuple[str, dict[str, Any]]:
        common: dict[str, Any] = {
            "model": self.model,
            "temperature": request.temperature,
            "top_p": 1,
            "seed": int(request.key[:7], 16),
        }
        if request.stop:
            common["stop"] = list(request.stop)
        if not request.messages and self.found.completions:
            return "/completions", {
                **common,
                "prompt": request.prompt,
                "max_tokens": request.max_tokens,
            }
        if not self.found.chat:
            raise ModelError(
                f"{self.model} at {self.wire.base} holds no conversation. It only continues text. Ask without --chat."
            )
        turns = request.messages or (("user", request.prompt),)
        messages = [{"role": role, "content": content} for role, content in turns]
        return "/chat/completions", {
            **common,
            "messages": messages,
            self.found.limit: request.max_tokens,
        }

    def _text(self, found: Mapping[str, Any]) -> Answer:
        message = found.get("message")
        inner: Mapping[str, Any] = message if isinstance(message, dict) else found
        text, refusal = inner.get("content", inner.get("text")), inner.get("refusal")
        reason = str(found.get("finish_reason") or "stop")
        kept = self.wire.for_keeping(_writable(refusal or text))
        if refusal or reason == "content_filter":
            return Answer((), kept, FILTERED)
        return Answer((), kept, "length" if reason == "length" else "stop")


def _writable(content: Any) -> str:
    """A text, or the texts of its parts; half a surrogate pair can come in JSON, and never be written to a file."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return re.sub("[\ud800-\udfff]", "\ufffd", "".join(str(text or "") for text in texts))


# ------------------------------------------------------------------------------------------- scoring


def _row(found: Tokens | None, text: str, start: int) -> Answer:
    """The log-probabilities of the tokens from `start` on; a token belongs where its first character that is no space stands."""
    if not spells(found, text):
        if splits(found, text):
            return Answer((), end=SPLIT)
        raise ModelError(
            "The server no longer gives the log-probabilities of a prompt, as it did when it was probed. Its numbers cannot be trusted. Check the server."
        )
    assert found is not None
    row, at = array("d"), len(text.rstrip()) - len("".join(token for token, _ in found).rstrip())
    for place, (token, value) in enumerate(found):
        first = at + len(token) - len(token.lstrip())
        if first < start < at + len(token) and text[start : at + len(token)].strip():
            return Answer((), end=BOUNDARY)
        if first >= start and unnumbered(place, value):
            return Answer((), end=UNNUMBERED)
        if first >= start and value is not None:
            row.append(value)
        at += len(token)
    return Answer(({"logprob": row},)) if row else Answer((), end="no token to score")
