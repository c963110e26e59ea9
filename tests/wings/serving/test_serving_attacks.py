"""Our own server under attack: every request is answered, and none is another client's trouble."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from stereometer.core.types import Answer, Generate, Request
from stereometer.models.baselines.fake import Fake
from stereometer.wings.serving.desk import Desk
from stereometer.wings.serving.server import LARGEST, ModelServer
from tests.builders.served import running

ENDPOINTS = ("/completions", "/chat/completions")
ASKED: Mapping[str, dict[str, Any]] = {
    "/completions": {"prompt": "Well?"},
    "/chat/completions": {"messages": [{"role": "user", "content": "Well?"}]},
}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with running(Fake()) as server:
        yield server


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("STEREOMETER_SERVER_KEY", "sesame")
    with running(Fake()) as server:
        yield server


def post(server: ModelServer, path: str, content: Any, **headers: str) -> httpx2.Response:
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"Content-Type": "application/json"} | headers
    return httpx2.post(f"{server.url}{path}", content=content, headers=headers, timeout=60)


def raw(server: ModelServer, *requests: bytes) -> bytes:
    """Everything that comes back over one connection until the server closes it."""
    with socket.create_connection((server.host, server.port), timeout=60) as connection:
        # At once: what comes after the answer is reset, and the answer with it.
        connection.sendall(b"".join(requests))
        with suppress(OSError):  # closed already
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def head(server: ModelServer, *lines: str, path: str = "/v1/completions") -> bytes:
    fields = [f"POST {path} HTTP/1.1", f"Host: {server.host}", "Content-Type: application/json"]
    return "\r\n".join([*fields, *lines, "", ""]).encode()


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stop", 5),
        ("stop", [5]),
        ("stop", ""),
        ("stop", {"a": 1}),
        ("stop", ["a"] * 17),
        ("n", 2),
        ("n", 0),
        ("n", True),
        ("stream", True),
        ("stream", 1),
        ("top_p", 0.5),
        ("top_p", "1"),
        ("frequency_penalty", 1),
        ("presence_penalty", -1),
        ("logit_bias", {"50256": -100}),
        ("tools", []),
        ("top_k", 5),
        ("seed", -1),
        ("seed", 2**70),
        ("temperature", 1e999),
        ("max_tokens", 1.5),
        ("model", 7),
    ],
)
def test_a_parameter_is_honoured_or_refused_by_name(
    server: ModelServer, path: str, name: str, value: Any
) -> None:
    answer = post(server, path, ASKED[path] | {name: value})
    assert answer.status_code == 400
    assert name in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_parameters_that_ask_for_what_is_done_anyway_are_taken(
    server: ModelServer, path: str
) -> None:
    neutral = {"n": 1, "stream": False, "top_p": 1, "frequency_penalty": 0, "user": "me"}
    answer = post(server, path, ASKED[path] | neutral | {"stop": None, "seed": None})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "content",
    [
        b'{"prompt": "a\\ud800"}',
        b'{"prompt": "a", "\\ud800": 1}',
        b'{"prompt": "a", "stop": "\\udfff"}',
        b'{"prompt": "a", "model": "\\udfff"}',
        b'{"prompt": "\xed\xa0\x80"}',
        b'{"prompt": "\xff"}',
        b'{"prompt": ' + b"[" * 200_000,
        b'{"prompt": "a", "seed": ' + b"9" * 5000 + b"}",
        b'{"prompt": "a", "temperature": NaN}',
        b"",
        b"null",
        b'"prompt"',
    ],
)
def test_what_cannot_be_read_is_refused(server: ModelServer, content: bytes) -> None:
    answer = post(server, "/completions", content)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]["message"]
    assert len(answer.content) < 500


def test_one_bad_text_does_not_close_other_connections(server: ModelServer) -> None:
    bad, good = b'{"prompt": "a\\ud800"}', b'{"prompt": "Well?"}'
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda content: post(server, "/completions", content), [bad, good] * 16)
        )
    assert [answer.status_code for answer in answers] == [400, 200] * 16


@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("9" * 15, 413),
        ("9" * 19, 413),
        ("9" * 5000, 400),
        (str(LARGEST + 1), 413),
        ("-1", 400),
        ("0x10", 400),
        ("٣", 400),
        ("1, 2", 400),
    ],
)
def test_an_absurd_length_is_answered_and_ends_the_connection(
    server: ModelServer, length: str, status: int
) -> None:
    received = raw(server, head(server, f"Content-Length: {length}"), b'{"prompt": "a"}')
    assert received.startswith(f"HTTP/1.1 {status} ".encode()), received[:200]
    assert received.count(b"HTTP/1.1 ") == 1


def test_a_body_in_parts_is_bounded_too(server: ModelServer) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(LARGEST // 65536 + 1):
            yield b" " * 65536

    headers = {"Content-Type": "application/json"}
    answer = httpx2.post(f"{server.url}/completions", content=parts(), headers=headers, timeout=60)
    assert answer.status_code == 413


def test_the_body_after_a_401_is_not_the_next_request(locked: ModelServer) -> None:
    hidden = f"GET /v1/models HTTP/1.1\r\nHost: {locked.host}\r\n".encode()
    hidden += b"Authorization: Bearer sesame\r\n\r\n"
    received = raw(locked, head(locked, f"Content-Length: {len(hidden)}"), hidden)
    assert received.startswith(b"HTTP/1.1 401 ")
    assert received.count(b"HTTP/1.1 ") == 1
    assert b"owned_by" not in received


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:99", 200),
        ("localhost:8080", 200),
        ("[::1]:8080", 200),
        ("evil.example", 421),
        ("evil.example:80", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost@evil.example", 421),
        ("", 421),
        ("[", 421),
    ],
)
def test_only_this_machines_names_are_answered(server: ModelServer, host: str, status: int) -> None:
    answer = httpx2.get(f"{server.url}/models", headers={"Host": host})
    assert answer.status_code == status


def test_a_page_elsewhere_cannot_let_a_browser_ask(server: ModelServer) -> None:
    """A browser sends text/plain to another site without asking it first, but no JSON."""
    answer = post(server, "/completions", {"prompt": "a"}, **{"Content-Type": "text/plain"})
    assert answer.status_code == 400
    assert "access-control-allow-origin" not in answer.headers


class Slow(Fake):
    """Writes until nobody waits for the text."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.abandoned = Event(), Event()
        self.asked: list[str] = []

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for request in requests.values():
            assert isinstance(request, Generate)
            self.asked.append(request.prompt)
            if request.prompt == "slow":
                self.began.set()
                while not request.abandoned():
                    self.abandoned.wait(0.01)
                self.abandoned.set()
        return super().answer(requests)


def test_a_text_ends_when_its_client_leaves() -> None:
    slow = Slow()
    with running(slow) as server:
        body = b'{"prompt": "slow"}'
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(head(server, f"Content-Length: {len(body)}") + body)
            assert slow.began.wait(60)
        assert slow.abandoned.wait(60)
        assert post(server, "/completions", {"prompt": "Well?"}).status_code == 200


def test_what_waits_is_not_asked_when_its_client_has_left() -> None:
    slow = Slow()
    desk = Desk(slow)
    first = desk.ask(Generate("slow"))
    assert slow.began.wait(60)
    second, third = desk.ask(Generate("left")), desk.ask(Generate("stays"))
    second.cancel()
    first.cancel()
    assert third.result(60).text is not None
    desk.close()
    assert slow.asked == ["slow", "stays"]


def test_one_request_that_a_model_cannot_answer_fails_alone() -> None:
    class Stumbling(Fake):
        def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
            if any("bad" in str(request) for request in requests.values()):
                raise ZeroDivisionError
            return super().answer(requests)

    desk = Desk(Stumbling())
    texts = ("good", "bad", "fine")
    futures: list[Future[Answer]] = [desk.ask(Generate(text)) for text in texts]
    assert futures[0].result(60).text is not None
    assert isinstance(futures[1].exception(60), ZeroDivisionError)
    assert futures[2].result(60).text is not None
    desk.close()


def test_a_failure_of_the_model_is_told_without_its_text() -> None:
    class Failing(Fake):
        def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
            raise RuntimeError("a secret of the machine")

    with running(Failing()) as server:
        answer = post(server, "/completions", {"prompt": "Well?"})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["error"]["type"] == "server_error"


@pytest.mark.long
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_fuzzed_requests_are_answered_as_the_server_describes_itself(
    server: ModelServer, mode: str
) -> None:
    """Requests that the description allows, and requests that it does not."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    schema = schemathesis.openapi.from_url(server.url.replace("/v1", "/openapi.json"))
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) == 3
    for operation in operations:
        if operation.method == "post":
            fuzz(operation, schemathesis.GenerationMode[mode])


def fuzz(operation: Any, mode: Any) -> None:
    @given(operation.as_strategy(mode))
    @settings(
        max_examples=400,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def trial(case: Any) -> None:
        case.call_and_validate(timeout=60)

    trial()
