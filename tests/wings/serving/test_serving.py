"""Our own server over real HTTP: the same likelihoods as here, and an answer for every bad
request."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import Asking, Generate
from stereometer.models.baselines.fake import Fake
from stereometer.testing import check_backend
from stereometer.wings.serving.server import ModelServer
from tests.builders.by_hand import bound
from tests.builders.commands import PROGRAM, call
from tests.builders.served import running
from tests.builders.servers import open_server


@pytest.fixture
def fake() -> Any:
    with running(Fake()) as server:
        yield server


def post(url: str, path: str, body: Any) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    return httpx2.post(f"{url}{path}", content=content, headers=headers, timeout=30)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/completions", b"{", 400),
        ("/completions", [1], 400),
        ("/completions", {"prompt": 7}, 400),
        ("/completions", {"prompt": "a", "max_tokens": -1}, 400),
        ("/completions", {"prompt": "a", "temperature": 9}, 400),
        ("/completions", {"prompt": "a", "stop": [3]}, 400),
        ("/completions", {"prompt": "a", "model": "other"}, 404),
        ("/chat/completions", {"messages": []}, 400),
        ("/chat/completions", {"messages": [{"role": "user"}]}, 400),
        ("/nowhere", {}, 404),
    ],
)
def test_bad_requests_are_answered(fake: ModelServer, path: str, body: Any, status: int) -> None:
    answer = post(fake.url, path, body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert post(fake.url, "/completions", {"prompt": "Well?"}).status_code == 200


def test_the_backend_keeps_the_contract(fake: ModelServer) -> None:
    """Order and company change nothing, though the server answers in batches."""
    check_backend(open_server(f"server:{fake.url}#fake"))


def test_a_key_is_asked_for_where_one_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEREOMETER_SERVER_KEY", "sesame")
    with running(Fake()) as server:
        assert post(server.url, "/completions", {"prompt": "a"}).status_code == 401
        assert open_server(f"server:{server.url}#fake").finding.completions
        monkeypatch.setenv("STEREOMETER_SERVER_KEY", "wrong")
        with pytest.raises(ModelError, match="key is missing, wrong"):
            open_model(f"server:{server.url}#fake")


def test_a_model_that_cannot_write_is_not_served(fake: ModelServer) -> None:
    assert call("serve-model", "--model", "random").code == 3
    assert call("serve-model", "--model", "ideal").code == 2
    with pytest.raises(UsageError, match="Cannot listen on"):
        ModelServer(Fake(), port=fake.port)


@pytest.mark.long
def test_the_command_serves_until_it_is_interrupted() -> None:
    running = subprocess.Popen(
        [PROGRAM, "serve-model", "--model", "fake", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    said = running.stderr.readline()
    url = re.search(r"http://[\d.:]+/v1", said)
    assert url, said
    assert httpx2.get(f"{url[0]}/models").json()["data"][0]["id"] == "fake"
    running.send_signal(signal.SIGINT)
    _, rest = running.communicate(timeout=120)
    assert running.returncode == 0, rest


@pytest.mark.long
def test_requests_that_wait_together_are_answered_together() -> None:
    sizes: list[int] = []

    class Counting(Fake):
        def answer(self, requests: Any) -> Any:
            sizes.append(len(requests))
            until = time.monotonic() + 60
            while len(sizes) == 1 and self.arrived(requests) < 16 and time.monotonic() < until:
                time.sleep(0.01)
            return super().answer(requests)

        def arrived(self, requests: Any) -> int:
            return len(requests) + server._desk._waiting.qsize()

    with running(Counting()) as server, ThreadPoolExecutor(16) as pool:
        bodies = [{"prompt": f"Question {at}"} for at in range(32)]
        answers = list(pool.map(lambda body: post(server.url, "/completions", body), bodies))
    assert [answer.status_code for answer in answers] == [200] * 32
    assert max(sizes) >= 8, sizes
    assert sum(sizes) == 32


# -------------------------------------------------------------------------------- with a real model


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "shape"), [("pair-sentence-likelihood", "pair"), ("cat-pseudo-likelihood", "cat")]
)
def test_likelihoods_through_the_server_equal_the_local_ones(
    local: Any, served: str, measure: str, shape: str
) -> None:
    remote = open_server(f"server:{served}#smollm2-135m")
    assert remote.finding.likelihood == "echo"
    items = open_benchmark("starter").items(shape)
    few = [*items[:4], *items[-4:]]
    for one, other in zip(_scored(local, measure, few), _scored(remote, measure, few), strict=True):
        assert one.values.keys() == other.values.keys()
        assert all(
            one.values[name] == pytest.approx(other.values[name], abs=1e-4) for name in one.values
        ), (one, other)


def _scored(model: Any, measure: str, items: Any) -> list[Any]:
    from stereometer.core.runs.cache import Cache

    with Cache() as cache:
        return list(
            computed(Asking(items, bound(measure, model), model), Serial(model), cache, Tally())
        )


@pytest.mark.long
def test_a_real_model_behind_the_server_keeps_the_contract(served: str) -> None:
    check_backend(open_server(f"server:{served}#smollm2-135m"), tolerance=1e-4)


@pytest.mark.long
def test_a_real_model_behind_the_server_is_the_same_when_it_is_opened_again(served: str) -> None:
    first, second = (open_server(f"server:{served}#smollm2-135m") for _ in range(2))
    assert len(first.finding.likelihoods) > 10
    assert first.card.identity == second.card.identity


@pytest.mark.long
def test_the_server_writes_what_the_model_writes(local: Any, served: str) -> None:
    """At temperature 0 there is nothing to draw."""
    remote = open_server(f"server:{served}#smollm2-135m")
    asked = [
        Generate(text, max_tokens=6) for text in ("The capital of France is", "Once upon a time")
    ]
    asked.append(Generate(messages=(("user", "What is the capital of France?"),), max_tokens=8))
    requests = {one.key: one for one in asked}
    here, there = dict(local.answer(requests)), dict(remote.answer(requests))
    assert {key: one.text for key, one in here.items()} == {
        key: one.text for key, one in there.items()
    }
    long = Generate("word " * 20_000)
    assert dict(remote.answer({long.key: long}))[long.key].end == "longer than the model's window"


@pytest.mark.long
def test_a_text_that_nobody_waits_for_is_not_written_to_its_end(local: Any) -> None:
    asked: list[int] = []

    def abandoned() -> bool:
        asked.append(len(asked))
        return len(asked) == 3

    request = Generate("Once upon a time", max_tokens=500, abandoned=abandoned)
    assert request.key == Generate("Once upon a time", max_tokens=500).key
    assert dict(local.answer({request.key: request}))[request.key].text == ""
    assert len(asked) == 3
