"""Several servers of one model behind one spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from stereometer.core.errors import ModelError
from stereometer.models.server.backend import Server
from tests.builders.servers import open_server, some
from tests.models.server.conftest import Stub

Stubs = Callable[..., Stub]
PATIENT = {"timeout": 30.0, "in_flight": 2, "wait_initial": 0.01}


def opened(*stubs: Stub) -> Server:
    return open_server(f"server:{','.join(stub.url for stub in stubs)}#parrot", 0, PATIENT)


def hang_up(handler: BaseHTTPRequestHandler, body: Mapping[str, Any]) -> bool:
    handler.close_connection = True
    return True


def test_requests_are_spread_over_all_servers(stub: Stubs) -> None:
    servers = [stub() for _ in range(3)]
    model = opened(*servers)
    requests = some(60)
    assert dict(model.answer(requests)).keys() == requests.keys()
    counts = [len(server.asked()) for server in servers]
    assert sum(counts) >= 60
    assert min(counts) >= 5
    assert model.card.settings["url"] == ",".join(server.url for server in servers)


def test_a_server_that_dies_is_left_out_and_nothing_is_lost(
    stub: Stubs, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = stub(), stub()
    model = opened(good, bad)
    bad.always = hang_up
    requests = some(40)
    assert dict(model.answer(requests)).keys() == requests.keys()
    assert "is no longer asked" in caplog.text
    before = len(bad.seen)
    more = some(20, repeat=1)
    assert dict(model.answer(more)).keys() == more.keys()
    assert len(bad.seen) == before


def test_when_the_last_server_dies_the_run_ends(stub: Stubs) -> None:
    servers = [stub(), stub()]
    model = opened(*servers)
    for server in servers:
        server.always = hang_up
    with pytest.raises(ModelError, match="did not answer"):
        dict(model.answer(some(10)))


def test_servers_of_different_models_are_refused(stub: Stubs) -> None:
    def no_chat(handler: BaseHTTPRequestHandler, body: Mapping[str, Any]) -> bool:
        if "messages" not in body:
            return False
        handler.send_response(404)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return True

    one, other = stub(), stub()
    other.scoring = no_chat
    with pytest.raises(ModelError, match="give different answers"):
        opened(one, other)
