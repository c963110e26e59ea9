"""Servers on the loopback: one over our own model, one that misbehaves to order, and one that
nobody here wrote."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Lock, Thread
from typing import Any

import pytest

collect_ignore_glob = (
    [] if all(map(find_spec, ("httpx2", "stamina", "fastapi", "uvicorn"))) else ["test_*.py"]
)
"""Servers are an optional part of the package."""
if not collect_ignore_glob:
    import httpx2


Reply = Callable[[BaseHTTPRequestHandler, Mapping[str, Any]], bool]
"""Answers a request in its own way; False leaves it to the well-behaved answer."""


class Stub(ThreadingHTTPServer):
    """A server that says yes, and whatever else it is told to do first."""

    daemon_threads = True

    def __init__(self, *faults: Reply) -> None:
        self.faults = list(faults)
        self.seen: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.lock = Lock()
        self.running = self.most = 0
        self.always: Reply | None = None
        self.scoring: Reply | None = None
        """Answers requests for the log-probabilities of a prompt."""
        self.tokenizer: dict[str, Any] = {}
        """What it tells of its tokenizer, as vLLM does where it was told to."""
        self.behind = ""
        """The server that well-behaved answers come from, where this one only stands in between."""
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def asked(self, path: str = "/v1/completions") -> list[dict[str, Any]]:
        return [
            body
            for where, body, _ in self.seen
            if where == path and "echo" not in body and "prompt_logprobs" not in body
        ]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Stub

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        told = self.server.tokenizer
        send(self, told if self.path == "/tokenizer_info" else {"data": [{"id": "parrot"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.seen.append((self.path, body, dict(self.headers)))
            probing = "echo" in body or "prompt_logprobs" in body or body.get("max_tokens") == 3
            fault = (
                self.server.scoring
                if probing
                else self.server.faults.pop(0)
                if self.server.faults
                else self.server.always
            )
            self.server.running += 1
            self.server.most = max(self.server.most, self.server.running)
        try:
            if fault is None or not fault(self, body):
                if self.server.behind:
                    found = httpx2.post(
                        f"{self.server.behind}{self.path.removeprefix('/v1')}",
                        json=body,
                        timeout=30,
                    )
                    send(self, found.content, found.status_code)
                else:
                    send(self, said(body))
        finally:
            with self.server.lock:
                self.server.running -= 1


def said(body: Mapping[str, Any], text: str = " yes") -> dict[str, Any]:
    inner = (
        {"message": {"role": "assistant", "content": text}}
        if "messages" in body
        else {"text": text}
    )
    return {
        "choices": [{"index": 0, "finish_reason": "stop", **inner}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }


def send(
    handler: BaseHTTPRequestHandler,
    value: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> bool:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    for name, one in (headers or {}).items():
        handler.send_header(name, one)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
    return True


LATE: dict[str, Callable[[], None]] = {}
"""What ends the request of a client, by the client's mark."""
MARKS = itertools.count()


class Told:
    """Stands in for the timer of a request: the time is up when the server says so."""

    daemon = False

    def __init__(self, interval: float, close: Any) -> None:
        self.mark = str(next(MARKS))
        close.__self__.headers["X-Mark"] = self.mark
        LATE[self.mark] = close

    def start(self) -> None:
        pass

    def cancel(self) -> None:
        LATE.pop(self.mark, None)


@pytest.fixture
def told_when_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is late because the machine is busy."""
    from stereometer.models.server import wire

    monkeypatch.setattr(wire, "Timer", Told)


def run_out(handler: BaseHTTPRequestHandler) -> bool:
    """Lets the time of a request be up, where it is for the server to say."""
    end = LATE.get(handler.headers.get("X-Mark", ""))
    if end is not None:
        end()
    return end is not None


@pytest.fixture
def stub() -> Iterator[Callable[..., Stub]]:
    running: list[Stub] = []

    def start(*faults: Reply) -> Stub:
        server = Stub(*faults)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()
