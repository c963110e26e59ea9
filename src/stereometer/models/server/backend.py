"""Models behind an OpenAI-compatible server: `server:URL#model`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from stereometer.core.asking.conversation import finished
from stereometer.core.asking.options import named
from stereometer.core.errors import BudgetSpent, ModelError, UsageError
from stereometer.core.types import (
    FILTERED,
    NO_ROOM,
    UNNAMED,
    Abilities,
    Answer,
    Continuation,
    Encoding,
    Generate,
    Memory,
    ModelCard,
    Options,
    Request,
    WholeText,
    digest_of,
)
from stereometer.core.types.names import shown
from stereometer.models.server.budget import Size, budget_of, guessed, size_of, thinking_of
from stereometer.models.server.opener import ServerOptions, check_key, is_free
from stereometer.models.server.probe import (
    CHAT,
    SUPPOSED,
    TEXT,
    ServerFinding,
    alike,
    known_likelihoods,
    naming,
    probe,
)
from stereometer.models.server.refusals import FILTERED_ENDS, Unwritten
from stereometer.models.server.scoring import likeliest, row, scored
from stereometer.models.server.terms import LIMIT, UNTHINKING, Negotiation
from stereometer.models.server.wire import Closed, Wire, Wires

VERSION = "1"


def open_server(spec: str, options: ServerOptions, memory: Memory | None = None) -> Server:
    """`URL#model`, or `URL1,URL2#model` for servers of one model."""
    url, sign, model = spec.rpartition("#")
    if not sign or not url or not model:
        raise UsageError(
            f"{shown(f'server:{spec}')} does not say which model. Write the address, # and the "
            "model's name. For instance server:http://127.0.0.1:8080/v1#name."
        )
    budget = budget_of(options.budget, options.price, model, is_free(url))
    wires = [
        Wire(each, options.timeout, options.in_flight, options.wait_initial, budget)
        for each in url.split(",")
    ]
    wire = wires[0] if len(wires) == 1 else Wires(wires)
    if options.dry_run:
        return Server(wire, model, SUPPOSED, options)
    for each in wires:
        check_key(each.base)
    if isinstance(wire, Wires):
        check_alike(wires, model, options.start_token)
    told = {} if options.thinking else UNTHINKING
    finding = known(wire, model, memory, options.start_token, told)
    return Server(wire, model, finding, options)


def check_alike(wires: Sequence[Wire], model: str, start: str = "") -> None:
    """Raises where two servers do not seem to have the same model."""
    first, *others = (probe(wire, model, start) for wire in wires)
    for wire, other in zip(wires[1:], others, strict=True):
        same = replace(other, likelihoods=(), listed="") == replace(
            first, likelihoods=(), listed=""
        )
        if not same or not alike(first.likelihoods, other.likelihoods):
            raise ModelError(
                f"{wires[0].base} and {wire.base} give different answers. They serve different "
                "models, or one model differently. Name servers of the same model."
            )


def known(
    wire: Wire | Wires,
    model: str,
    memory: Memory | None,
    start: str = "",
    told: Mapping[str, Any] | None = None,
) -> ServerFinding:
    """What the server offers, with the likelihoods that the model was first known by: the cache
    goes by them."""
    finding = probe(wire, model, start, told)
    if not finding.likelihoods:
        return finding
    server = digest_of([wire.base, model, replace(finding, likelihoods=()).as_json()])
    first = known_likelihoods(server, finding.likelihoods, memory)
    return replace(finding, likelihoods=first)


class Server:
    """Keeps some requests in flight; answers come in any order, each as soon as it is there."""

    def __init__(
        self,
        wire: Wire | Wires,
        model: str,
        finding: ServerFinding,
        options: ServerOptions | None = None,
    ) -> None:
        self.wire, self.model, self.finding = wire, model, finding
        self.options = options or ServerOptions()
        self.negotiation = Negotiation(wire, finding.terms)
        wire.acquainted.set()
        self.abilities = Abilities(
            frozenset(self._kinds()),
            chat_template="the server's own" if self.finding.chat else "",
            costly=True,
            keep_every=1,  # every answer is kept the moment it arrives
            room=self.options.room,
            thinking=self.options.thinking,
            continues=self.finding.completions,
            first_token=self.finding.start is not None,
        )
        self.card = self._card()

    def _kinds(self) -> Iterator[str]:
        yield Generate.kind
        if self.finding.likelihood != "none":
            yield from (WholeText.kind, Continuation.kind)
        # Whoever has room to think does not begin with an option.
        thinks = self.options.room and self.options.thinking
        if max(self.finding.top_k, self.finding.top_k_chat) and not thinks:
            yield Options.kind

    def _card(self) -> ModelCard:
        options = self.options
        # How much room there is makes no other answer, as long as it is enough.
        asked = {"room": bool(options.room), "thinking": options.thinking}
        finding = self.finding.as_json() | asked
        notes = [f"Served by {self.wire.base}: {self.finding}.", *self.finding.terms.notes]
        if options.room:
            notes.append(f"Room for thinking: {options.room} tokens beside an answer's own.")
        if not options.thinking:
            taken = [name for name in UNTHINKING if name not in self.finding.terms.left_out]
            how = f"told so by {' and '.join(taken)}" if taken else "but the server takes no word"
            notes.append(f"Asked not to think, {how}; thinking that comes all the same is cut off.")
        if not self.finding.completions:
            notes.append(
                "The server does not continue text: each prompt is sent as one chat message."
            )
        if not self.abilities.first_token:
            notes.append(
                "The server gives the first token of a text no log-probability: likelihoods are of "
                "the rest. With --option start_token=TEXT, the model's start token, they are whole."
            )
        return ModelCard(
            self.model,
            "server",
            f"server@{VERSION}",
            digest_of([self.wire.base, self.model, finding]),
            settings={"url": self.wire.base, "model": self.model, **finding},
            dtype="unknown",
            notes=tuple(notes),
            spec=f"server:{self.wire.base}#{self.model}",
        )

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError("a server reads text")

    def size(self, request: Request) -> Size:
        if isinstance(request, Generate | Options):
            return size_of(self._body(request)[1])
        return guessed((self.finding.start or "") + _read(request)[0]), 0

    def money(self, read: int, written: int) -> float | None:
        return self.wire.budget.estimate(read, written)

    def plan(self, read: int, written: int) -> str:
        return self.wire.budget.plan(read, written)

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        """Stops sending when the budget is spent or something fails for good; what is under way is
        still answered."""
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
            self.wire.close()  # interrupted: what is under way is broken off
            raise
        finally:
            pool.shutdown(wait=not self.wire.closing.is_set(), cancel_futures=True)
        if failed is not None:
            raise failed

    def _answer(self, request: Request) -> Answer:
        try:
            if isinstance(request, Generate):
                return self._written(request, self.negotiation.post(*self._body(request)))
            if isinstance(request, Options):
                return self._weighed(request)
            text, start = _read(request)
            mark, way = self.finding.start or "", self.finding.likelihood
            tokens = scored(self.wire, self.model, way, text, mark, self.finding.start_id)
            return row(tokens, text, start, mark)
        except Unwritten as reason:
            said = "" if isinstance(request, Generate) else None
            return Answer((), said, reason.end, kept=reason.end != NO_ROOM)

    def _weighed(self, request: Options) -> Answer:
        """What the options hold, as far as the likeliest tokens tell."""
        path, body = self._body(request)
        most = self.finding.top_k_chat if path == CHAT else self.finding.top_k
        if not most:
            return Answer((), end=UNNAMED)
        choice = self.negotiation.post(path, body | naming(path, most))
        return named(request.options, likeliest(choice))

    def _body(self, request: Generate | Options) -> tuple[str, dict[str, Any]]:
        common: dict[str, Any] = {
            "model": self.model,
            "temperature": request.temperature,
            "top_p": 1,
            "seed": int(request.key[:7], 16),
        }
        if request.stop and not self._stops_itself(request):
            common["stop"] = list(request.stop)
        if not request.messages and self.finding.completions:
            written = {"prompt": request.prompt, LIMIT: request.max_tokens}
            return TEXT, common | written
        if not self.finding.chat:
            raise ModelError(
                f"{self.model} at {self.wire.base} cannot hold a conversation. It only continues "
                "text. Ask without --chat."
            )
        turns = request.messages or (("user", request.prompt),)
        messages = [{"role": role, "content": content} for role, content in turns]
        told = {} if self.options.thinking else UNTHINKING
        limit = {LIMIT: request.max_tokens + self.options.room}
        return CHAT, common | {"messages": messages} | limit | told

    def _stops_itself(self, request: Generate | Options) -> bool:
        """Whether we end the text at a stop: a server would end thinking there too."""
        thinks = self.options.room and (request.messages or not self.finding.completions)
        return bool(thinks) or "stop" in self.negotiation.terms.left_out

    def _written(self, request: Generate, choice: Mapping[str, Any]) -> Answer:
        """Thinking stands before the answer, between tags, however the server sets it apart."""
        message = choice.get("message")
        inner: Mapping[str, Any] = message if isinstance(message, dict) else choice
        text, refusal = inner.get("content", inner.get("text")), inner.get("refusal")
        reason = str(choice.get("finish_reason") or "stop")
        said, thinking = _writable(refusal or text), _writable(thinking_of(choice))
        if thinking:
            said = f"<think>{thinking}{f'</think>{said}' if said else ''}"
        stops = request.stop if self._stops_itself(request) else ()
        end = "length" if reason == "length" else "stop"
        answer = finished(Answer((), self.wire.for_keeping(said), end), stops, self.options.room)
        is_filtered = refusal or reason.lower().startswith(FILTERED_ENDS)
        return replace(answer, end=FILTERED, kept=True) if is_filtered else answer

    @property
    def rest(self) -> str | None:
        return self.wire.budget.rest

    @property
    def charged(self) -> Mapping[str, float]:
        return self.wire.budget.charged


def _read(request: Request) -> tuple[str, int]:
    """The text whose likelihood is asked for, and from where on it counts."""
    match request:
        case Continuation():
            return request.joined
        case WholeText(text):
            return text, 0
        case _:
            raise TypeError(f"a server does not answer {request.kind}")


def _writable(content: Any) -> str:
    """A text, or the texts of its parts; half a surrogate pair cannot be written to a file."""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return re.sub("[\ud800-\udfff]", "\ufffd", "".join(str(text or "") for text in texts))
