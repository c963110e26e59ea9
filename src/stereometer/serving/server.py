"""The application on a socket: listens on the loopback unless told otherwise."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn

from stereometer.backends.server.keys import KEY_VARIABLE
from stereometer.errors import ModelError, UsageError
from stereometer.serving.app import application
from stereometer.serving.desk import Desk
from stereometer.serving.door import Door
from stereometer.types import Backend, Generate

MOST_CONNECTIONS = 512


class ModelServer:
    """Bound as soon as it is made, so that its address is known."""

    def __init__(self, backend: Backend, host: str = "127.0.0.1", port: int = 0) -> None:
        if Generate.kind not in backend.abilities.kinds:
            raise ModelError(
                f"{backend.card.name} writes no text. It answers {backend.abilities}. "
                "Serve a causal model."
            )
        self._socket = _bound(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self._desk = Desk(backend)
        key = os.environ.get(KEY_VARIABLE, "").strip()
        self._server = uvicorn.Server(
            uvicorn.Config(
                Door(application(self._desk), key, host),
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=1,
            )
        )

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/v1"

    def serve(self) -> None:
        """Until the process is interrupted, or `stop` is called."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._desk.close()

    def stop(self) -> None:
        self._server.should_exit = True


def _bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"Cannot listen on {host}:{port}: {error}. The port is taken, or the address "
            "does not belong to this machine. Choose another --port."
        ) from None


@contextmanager
def running(backend: Backend, host: str = "127.0.0.1", port: int = 0) -> Iterator[ModelServer]:
    """A server that answers in a thread of its own."""
    server = ModelServer(backend, host, port)
    thread = Thread(target=server.serve, daemon=True, name="stereometer-server")
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
