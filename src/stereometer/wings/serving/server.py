"""The application on a socket: listens on the loopback unless told otherwise; and what a request
must pass before anything reads its body: host, key and size."""

import os
import socket
from dataclasses import dataclass
from hmac import compare_digest
from ipaddress import ip_address
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types import Backend, Generate
from stereometer.models.server.opener import KEY_VARIABLE
from stereometer.wings.serving.app import application
from stereometer.wings.serving.desk import Desk
from stereometer.wings.serving.limits import BoundedBody
from stereometer.wings.serving.protocol import Refusal, failure

LARGEST = 4 * 1024 * 1024
"""Bytes of a request."""
SLOWEST = 60.0
"""Seconds in which a part of a request must come."""
TOO_LARGE = f"a request has at most {LARGEST} bytes"


@dataclass(frozen=True)
class Door:
    """A page elsewhere may point a name of its own at this machine and let a browser ask: only
    addresses, and names that are this machine's, are answered."""

    app: ASGIApp
    key: str = ""
    host: str = "127.0.0.1"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            self._admit(Headers(scope=scope))
        except Refusal as error:
            await failure(error)(scope, receive, send)
        else:
            await self.app(scope, BoundedBody(receive, LARGEST, TOO_LARGE, SLOWEST), send)

    def _admit(self, headers: Headers) -> None:
        if not self._is_own(headers.get("host", "")):
            raise Refusal(421, "the Host header names another machine", "wrong_host")
        credentials = headers.get("authorization", "").encode()
        if self.key and not compare_digest(credentials, f"Bearer {self.key}".encode()):
            raise Refusal(401, "the key is missing or wrong", "invalid_api_key")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > LARGEST:
            raise Refusal(413, TOO_LARGE, "too_large")

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        try:
            ip_address(name)
        except ValueError:
            return name in ("localhost", self.host.lower(), socket.gethostname().lower())
        return True


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
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"Cannot listen on {host}:{port}: {error}. The port is taken, or the address "
            "does not belong to this machine. Choose another --port."
        ) from None
