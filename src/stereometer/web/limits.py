"""How large a request may be, and how often one may come."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_KEYS = 20_000


class TooLarge(Exception):
    pass


class BodyLimit:
    """Refuses a body above `most` bytes, whether it was announced or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _announced(scope) > self.most:
            await _refuse(send)
            return
        started = False
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most:
                raise TooLarge
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, counted, sending)
        except TooLarge:
            if not started:
                await _refuse(send)


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    try:
        return int(lengths[0][:20]) if lengths else 0
    except ValueError:
        return 0


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": b"The request is too large."})


@dataclass
class RateLimit:
    """A bucket a key, filled with `per_second` tokens up to `burst`; a request takes one."""

    per_second: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def allows(self, key: str) -> bool:
        now = self.clock()
        tokens, since = self.buckets.pop(key, (self.burst, now))
        tokens = min(self.burst, tokens + (now - since) * self.per_second)
        allowed = tokens >= 1
        self.buckets[key] = (tokens - 1 if allowed else tokens, now)
        if len(self.buckets) > MOST_KEYS:
            self.buckets.popitem(last=False)
        return allowed


class AddressLimit:
    """Turns away an address that sends too many requests, with what `refuse` answers."""

    def __init__(
        self, app: ASGIApp, rates: RateLimit, refuse: Callable[[Request], Response]
    ) -> None:
        self.app, self.rates, self.refuse = app, rates, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self.app
        if scope["type"] == "http" and not self.rates.allows(address(Request(scope))):
            app = self.refuse(Request(scope))
        await app(scope, receive, send)


def address(request: Request) -> str:
    return request.client.host if request.client else ""
