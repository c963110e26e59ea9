"""Servers that misbehave, and backends opened on them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

from stereometer.core.runs.open import open_model
from stereometer.core.types import Generate
from stereometer.models.server.backend import Server
from tests.models.server.conftest import Reply, Stub


def open_server(spec: str, seed: int = 0, options: Mapping[str, Any] | None = None) -> Server:
    server = open_model(spec, seed, options)
    assert isinstance(server, Server)
    return server


def opened(stub: Stub, **options: Any) -> Server:
    """With time enough that a busy machine never runs into it."""
    return open_server(
        f"server:{stub.url}#parrot",
        0,
        {"timeout": 30.0, "in_flight": 4, "wait_initial": 0.01, **options},
    )


def slowly(seconds: float) -> Reply:
    """The well-behaved answer, after a while."""

    def reply(handler: BaseHTTPRequestHandler, body: Mapping[str, Any]) -> bool:
        time.sleep(seconds)
        return False

    return reply


def some(count: int = 3, **fields: Any) -> dict[str, Generate]:
    found = [Generate(f"Question {at}", **fields) for at in range(count)]
    return {one.key: one for one in found}
