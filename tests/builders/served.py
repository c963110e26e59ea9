"""A model behind this package's own server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from stereometer.core.types import Backend
from stereometer.wings.serving.server import ModelServer


@contextmanager
def running(backend: Backend) -> Iterator[ModelServer]:
    """A server that answers in a thread of its own."""
    server = ModelServer(backend)
    thread = Thread(target=server.serve, daemon=True, name="stereometer-server")
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
