"""What a request must pass before anything reads its body: host, key and size."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from hmac import compare_digest
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stereometer.serving.replies import Refused, failure

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
        except Refused as error:
            await failure(error)(scope, receive, send)
        else:
            await self.app(scope, _Bounded(receive), send)

    def _admit(self, headers: Headers) -> None:
        if not self._is_own(headers.get("host", "")):
            raise Refused(421, "the Host header names another machine", "wrong_host")
        credentials = headers.get("authorization", "").encode()
        if self.key and not compare_digest(credentials, f"Bearer {self.key}".encode()):
            raise Refused(401, "the key is missing or wrong", "invalid_api_key")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > LARGEST:
            raise Refused(413, TOO_LARGE, "too_large")

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        own = {"localhost", self.host.lower(), socket.gethostname().lower()}
        return name in own or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@dataclass
class _Bounded:
    """Passes a body on as it comes, as long as it keeps to size and time."""

    receive: Receive
    size: int = 0
    whole: bool = False

    async def __call__(self) -> Message:
        if self.whole:
            return await self.receive()
        try:
            async with asyncio.timeout(SLOWEST):
                message: dict[str, Any] = dict(await self.receive())
        except TimeoutError:
            raise HTTPException(408, "the request did not come in time") from None
        self.size += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        if self.size > LARGEST:
            raise HTTPException(413, TOO_LARGE)
        return message
