"""What guards web pages: headers, how large a request may be, and how often one may come."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, receive, sending)


MOST_KEYS = 20_000
TOO_LARGE = "The request is too large."


@dataclass
class BoundedBody:
    """Passes a body on as it comes, as long as it keeps to size and time."""

    receive: Receive
    most: int
    refusal: str = TOO_LARGE
    seconds: float | None = None
    """In which each part must come."""
    size: int = 0
    whole: bool = False

    async def __call__(self) -> Message:
        try:
            async with asyncio.timeout(None if self.whole else self.seconds):
                message = await self.receive()
        except TimeoutError:
            raise HTTPException(408, "the request did not come in time") from None
        self.size += len(message.get("body", b""))
        self.whole = not message.get("more_body", False)
        if self.size > self.most:
            raise HTTPException(413, self.refusal)
        return message


class BodyLimit:
    """Refuses a body above `most` bytes, whether it was announced or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        length = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        if length.isascii() and length.isdigit() and int(length[:20]) > self.most:
            app = PlainTextResponse(TOO_LARGE, 413, {"connection": "close"})
        await app(scope, BoundedBody(receive, self.most), send)


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
