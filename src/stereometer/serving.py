"""A small OpenAI-compatible server over our own backends, for tests and for a closer look.

Requests that wait at the same time are answered together: several in flight are as fast as a batch.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Thread
from typing import Any

from stereometer.backends.server.keys import KEY_VARIABLE
from stereometer.errors import ModelError, StereometerError, UsageError
from stereometer.measures.spans import scored_positions
from stereometer.types import (
    TOO_LONG,
    Answer,
    Backend,
    CausalTokens,
    Encoding,
    Generate,
    Request,
    Skip,
)

LARGEST = 4 * 1024 * 1024
"""Bytes of a request."""
MOST_TOKENS = 2048
GATHERED = 64
"""Requests answered together."""
PAUSE = 0.005
"""Seconds in which others may join."""


class Refused(Exception):
    """A request that is answered with an error, as the protocol writes them."""

    def __init__(self, status: int, message: str, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Desk:
    """One thread that asks the model, for as many requests at once as are waiting."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._waiting: Queue[tuple[Request, Future[Answer]] | None] = Queue()
        self._thread = Thread(target=self._work, daemon=True, name="stereometer-desk")
        self._thread.start()

    def ask(self, request: Request) -> Answer:
        answer: Future[Answer] = Future()
        self._waiting.put((request, answer))
        return answer.result()

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        ended = False
        while not ended and (first := self._waiting.get()) is not None:
            batch, until = [first], time.monotonic() + PAUSE
            while len(batch) < GATHERED and not ended:
                try:
                    following = self._waiting.get(timeout=max(0.0, until - time.monotonic()))
                except Empty:
                    break
                if following is None:
                    ended = True
                else:
                    batch.append(following)
            self._answer(batch)

    def _answer(self, batch: Sequence[tuple[Request, Future[Answer]]]) -> None:
        waiting: dict[str, list[Future[Answer]]] = {}
        for request, future in batch:
            waiting.setdefault(request.key, []).append(future)
        try:
            for key, answer in self.backend.answer({request.key: request for request, _ in batch}):
                for future in waiting.pop(key):
                    future.set_result(answer)
        except Exception as error:  # whatever a model raises, those who wait are told
            for futures in waiting.values():
                for future in futures:
                    future.set_exception(error)


@dataclass(frozen=True)
class Protocol:
    """The endpoints, from parsed JSON to what is sent back."""

    backend: Backend
    desk: Desk

    @property
    def name(self) -> str:
        return self.backend.card.name

    def models(self) -> dict[str, Any]:
        entry = {"id": self.name, "object": "model", "owned_by": "stereometer"}
        return {"object": "list", "data": [entry]}

    def completions(self, body: Mapping[str, Any]) -> dict[str, Any]:
        prompt = body.get("prompt")
        if not isinstance(prompt, str):
            raise Refused(400, "prompt must be one text")
        echo, most = bool(body.get("echo")), _whole(body, "max_tokens", 16, 0, MOST_TOKENS)
        scored = body.get("logprobs") is not None
        encoding = self._encoded(prompt)
        written = self._written({"prompt": prompt}, body, most) if most else None
        text = (written.text or "") if written else ""
        tokens = _listed(prompt, encoding, self._scored(encoding)) if echo and scored else []
        if written and scored and written.rows:
            values = written.column("logprob")
            tokens += [
                (text if at == 0 else "", value, len(prompt)) for at, value in enumerate(values)
            ]
        choice = {
            "index": 0,
            "text": prompt + text if echo else text,
            "finish_reason": written.end if written else "length",
            "logprobs": _columns(tokens) if tokens else None,
        }
        return self._reply("text_completion", choice, len(encoding.ids), written)

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        turns = body.get("messages")
        if not isinstance(turns, list) or not turns or not all(map(_is_turn, turns)):
            raise Refused(400, "messages must be a list of objects with role and content")
        messages = tuple((turn["role"], turn["content"]) for turn in turns)
        most = _whole(body, "max_tokens", 64, 1, MOST_TOKENS)
        written = self._written({"messages": messages}, body, most)
        message = {"role": "assistant", "content": written.text}
        choice = {"index": 0, "message": message, "finish_reason": written.end}
        read = sum(len(content.split()) for _, content in messages)
        return self._reply("chat.completion", choice, read, written)

    def _encoded(self, text: str) -> Encoding:
        try:
            return self.backend.encode(text)
        except Skip as reason:
            raise _unreadable(reason.reason) from None

    def _written(self, prompt: Mapping[str, Any], body: Mapping[str, Any], most: int) -> Answer:
        stop = body.get("stop") or []
        stops = tuple([stop] if isinstance(stop, str) else stop)
        if not all(isinstance(text, str) and text for text in stops):
            raise Refused(400, "stop must be a text or a list of texts")
        temperature = body.get("temperature", 1.0)
        is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
        if not is_number or not 0 <= temperature <= 2:
            raise Refused(400, "temperature must be a number from 0 to 2")
        seed = _whole(body, "seed", time.time_ns() % 2**31, 0, 2**63)
        answer = self.desk.ask(
            Generate(
                **prompt, temperature=float(temperature), max_tokens=most, stop=stops, seed=seed
            )
        )
        if answer.end == TOO_LONG:
            raise _unreadable(TOO_LONG)
        return answer

    def _scored(self, encoding: Encoding) -> Sequence[float]:
        """Of every token but the first, which has nothing before it."""
        if CausalTokens.kind not in self.backend.abilities.kinds:
            raise Refused(400, "this model gives no log-probabilities of a prompt")
        if len(encoding.ids) < 2:
            return []
        return self.desk.ask(CausalTokens(encoding.ids, 1)).column("logprob")

    def _reply(
        self, kind: str, choice: Mapping[str, Any], read: int, written: Answer | None
    ) -> dict[str, Any]:
        wrote = len(written.column("logprob")) if written and written.rows else 0
        usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
        return {
            "id": "stereometer",
            "object": kind,
            "created": int(time.time()),
            "model": self.name,
            "choices": [dict(choice)],
            "usage": usage,
        }


def _unreadable(reason: str) -> Refused:
    code = "context_length_exceeded" if reason == TOO_LONG else "invalid_request"
    return Refused(400, f"the prompt cannot be read: {reason}", code)


Listed = list[tuple[str, float | None, int]]
"""Token, log-probability, where it begins in the text."""


def _listed(text: str, encoding: Encoding, scores: Sequence[float]) -> Listed:
    """Every token of the text with its own stretch of it; special tokens are of no text."""
    real = set(scored_positions(encoding))
    listed: Listed = []
    at = 0
    for index, (_, end) in enumerate(encoding.offsets):
        stretch = text[at:end] if index in real and end > at else ""
        if index in real or index == 0:
            listed.append((stretch, None if index == 0 else scores[index - 1], at))
        at += len(stretch)
    return listed


def _columns(tokens: Listed) -> dict[str, Any]:
    return {
        "tokens": [token for token, _, _ in tokens],
        "token_logprobs": [value for _, value, _ in tokens],
        "text_offset": [at for _, _, at in tokens],
        "top_logprobs": None,
    }


def _whole(body: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Refused(400, f"{name} must be a whole number from {least} to {most}")
    return value


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and all(
        isinstance(turn.get(name), str) for name in ("role", "content")
    )


# -------------------------------------------------------------------------------------------- HTTP


class Handler(BaseHTTPRequestHandler):
    """One connection; several requests may come over it."""

    protocol_version = "HTTP/1.1"
    server: ModelServer
    timeout = 120

    def log_message(self, *args: Any) -> None:
        """Standard error is for people."""

    def do_GET(self) -> None:
        self._reply(lambda: self.server.get(self.path))

    def do_POST(self) -> None:
        self._reply(lambda: self.server.post(self.path, self._body()))

    def _body(self) -> Mapping[str, Any]:
        size = self.headers.get("Content-Length", "")
        if not size.isdigit() or int(size) > LARGEST:
            self.close_connection = True
            raise Refused(413, f"a request has a length of at most {LARGEST} bytes")
        try:
            body = json.loads(self.rfile.read(int(size)))
        except (ValueError, RecursionError):
            raise Refused(400, "the request is not JSON") from None
        if not isinstance(body, dict):
            raise Refused(400, "the request is not an object")
        return body

    def _reply(self, answer: Any) -> None:
        try:
            self.server.admit(self.headers.get("Authorization", ""))
            status, value = 200, answer()
        except (Refused, StereometerError) as error:
            refused = error if isinstance(error, Refused) else Refused(400, str(error))
            kind = "invalid_request_error"
            problem = {"message": str(refused), "type": kind, "code": refused.code}
            status, value = refused.status, {"error": problem}
        content = json.dumps(value).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class ModelServer(ThreadingHTTPServer):
    """Listens on the loopback unless told otherwise."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, backend: Backend, host: str = "127.0.0.1", port: int = 0) -> None:
        if Generate.kind not in backend.abilities.kinds:
            raise ModelError(
                f"{backend.card.name} writes no text. It answers {backend.abilities}. "
                "Serve a causal model."
            )
        self.protocol = Protocol(backend, Desk(backend))
        self._key = os.environ.get(KEY_VARIABLE, "").strip()
        try:
            super().__init__((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"{host}:{port} cannot be listened on: {error}. The port is taken or the address "
                "is not of this machine. Choose another --port."
            ) from None

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    def admit(self, authorization: str) -> None:
        """Where a key is set, only who has it is answered."""
        if self._key and not compare_digest(authorization.encode(), f"Bearer {self._key}".encode()):
            raise Refused(401, "the key is missing or wrong", "invalid_api_key")

    def get(self, path: str) -> dict[str, Any]:
        if path.rstrip("/") in ("/v1/models", "/models"):
            return self.protocol.models()
        raise Refused(404, f"there is no {path}", "not_found")

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        endpoints = {
            "/v1/completions": self.protocol.completions,
            "/v1/chat/completions": self.protocol.chat,
        }
        endpoint, model = endpoints.get(path.rstrip("/")), body.get("model")
        if endpoint is None:
            raise Refused(404, f"there is no {path}", "not_found")
        if model not in (None, self.protocol.name):
            known = f"there is no model {model!r}; this is {self.protocol.name}"
            raise Refused(404, known, "model_not_found")
        return endpoint(body)

    def __exit__(self, *error: Any) -> None:
        self.server_close()

    def server_close(self) -> None:
        super().server_close()
        self.protocol.desk.close()


def started(backend: Backend, host: str = "127.0.0.1", port: int = 0) -> ModelServer:
    """A server that answers in its own thread; `shutdown` and `server_close` end it."""
    server = ModelServer(backend, host, port)
    Thread(
        target=server.serve_forever, args=(0.05,), daemon=True, name="stereometer-server"
    ).start()
    return server
