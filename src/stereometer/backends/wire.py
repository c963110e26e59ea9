"""HTTP to a model server: patient with a server that limits or stumbles, clear about one that cannot be had.

The key comes from the environment. It is sent in a header to the server it is for, and appears nowhere else.
"""

from __future__ import annotations

import json
import logging
import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from threading import Event
from typing import Any
from urllib.parse import urlsplit
from weakref import finalize

import httpx2
import stamina

from stereometer.errors import ModelError, UsageError

KEY_VARIABLE = "STEREOMETER_SERVER_KEY"
OPENAI_VARIABLE, OPENAI_HOST = "OPENAI_API_KEY", "api.openai.com"
ATTEMPTS = 8
PATIENCE = 300.0
"""Seconds for all attempts at one request together."""
LONGEST_WAIT = 120.0
"""A server that asks for more than this is not waited for."""
LARGEST = 16 * 1024 * 1024
"""Bytes of an answer."""
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

logging.getLogger("stamina").addHandler(logging.NullHandler())  # retries are our business: without a handler each would be printed


class TooLong(Exception):
    """The prompt does not fit into the model's window."""


class Passing(Exception):
    """A failure that may not come again; `wait` is what the server asked for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Closed(Exception):
    """The run is ending: nothing more is sent."""


@dataclass
class Wire:
    """Posts JSON to one server."""

    base: str
    timeout: float = 60.0
    in_flight: int = 8
    wait_initial: float = 0.5
    closing: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.base = _checked(self.base)
        limits = httpx2.Limits(max_connections=self.in_flight + 1, max_keepalive_connections=self.in_flight + 1)
        self._client = httpx2.Client(timeout=self.timeout, limits=limits, headers=self._headers(), follow_redirects=False)
        finalize(self, self._client.close)

    def _headers(self) -> dict[str, str]:
        key = self._key
        return {"Authorization": f"Bearer {key}"} if key else {}

    @property
    def _key(self) -> str:
        """Ours for any server; OpenAI's own only for OpenAI."""
        own = os.environ.get(KEY_VARIABLE, "")
        return own or (os.environ.get(OPENAI_VARIABLE, "") if urlsplit(self.base).hostname == OPENAI_HOST else "")

    def close(self) -> None:
        self.closing.set()
        self._client.close()

    def get(self, path: str) -> Any:
        return self._asked("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._asked("POST", path, body)

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        """The parsed answer; passing failures are tried again, later each time, with jitter, or when the server says."""
        try:
            for attempt in stamina.retry_context(
                on=_again, attempts=ATTEMPTS, timeout=PATIENCE, wait_initial=self.wait_initial, wait_max=30.0, wait_jitter=self.wait_initial
            ):
                with attempt:
                    if self.closing.is_set():
                        raise Closed
                    return self._once(method, path, body)
        except Passing as error:
            raise ModelError(
                f"{self.base} did not answer: {self._without_key(str(error))}. It was asked {ATTEMPTS} times or for {PATIENCE:.0f} s. "
                "Check that it runs; answers so far are kept, and the same command goes on."
            ) from None
        raise AssertionError("an attempt returns or raises")

    def _once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        until = time.monotonic() + self.timeout
        try:
            with self._client.stream(method, f"{self.base}{path}", json=body) as response:
                content = bytearray()
                for part in response.iter_bytes():
                    content += part
                    if time.monotonic() > until:
                        raise Passing(f"no whole answer within {self.timeout:g} s")
                    if len(content) > LARGEST:
                        raise ModelError(f"{self.base} answered with more than {LARGEST} bytes. No answer is that long. Check the address.")
        except httpx2.ConnectError as error:
            raise Passing(f"no connection ({_short(error)})") from None
        except httpx2.TimeoutException:
            raise Passing(f"no answer within {self.timeout:g} s") from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Passing(f"the connection broke ({_short(error)})") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise UsageError(f"'{self.base}' is not the address of a server: {_short(error)}. It is http or https. Check it.") from None
        return self._read(response, bytes(content))

    def _read(self, response: httpx2.Response, content: bytes) -> Any:
        text = content.decode("utf-8", "replace")
        if response.status_code != 200:
            self._refused(response, text)
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            raise Passing(f"an answer that is not JSON: {text[:80]!r}") from None

    def _refused(self, response: httpx2.Response, text: str) -> None:
        code, said = response.status_code, self._without_key(_message(text))
        if code in (401, 403):
            raise ModelError(
                f"{self.base} refused the request ({code}). The key is missing, wrong or not for this model. Set {KEY_VARIABLE} to the right one."
            )
        if _means_too_long(code, text):
            raise TooLong
        if code == 404:
            raise NotThere(f"{self.base} has no such model or endpoint ({said}). The name after # or the path is wrong. Check both.")
        if code == 429 and "insufficient_quota" in text:
            raise ModelError(
                f"{self.base} says that the quota is spent ({said}). Nothing more is answered until it is raised. Answers so far are kept."
            )
        if code in RETRIED:
            wait = _retry_after(response.headers.get("retry-after"))
            if wait is not None and wait > LONGEST_WAIT:
                raise ModelError(
                    f"{self.base} asks to wait {wait:.0f} s ({code}). That is longer than we wait. Answers so far are kept; run the same command later."
                )
            raise Passing(f"status {code} ({said})", wait)
        raise ModelError(
            f"{self.base} refused the request ({code}): {said}. It does not take what was asked. Check the model and the options."
        )

    def _without_key(self, text: str) -> str:
        """A server may repeat what it was sent."""
        return text.replace(self._key, "(key)") if self._key else text


class NotThere(ModelError):
    """The server has no such model or endpoint."""


def _again(error: Exception) -> bool | float:
    if not isinstance(error, Passing):
        return False
    return True if error.wait is None else error.wait * random.uniform(1.0, 1.1)


def _checked(base: str) -> str:
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            f"'{base[:100]}' is not the address of a server. It is http or https, then # and the model. For instance server:http://127.0.0.1:8080/v1#name."
        )
    if parts.username or parts.password:
        raise UsageError(f"The address of {parts.hostname} holds a password. It would be in every result. Set {KEY_VARIABLE} instead.")
    return base.rstrip("/") if parts.path.strip("/") else f"{base.rstrip('/')}/v1"


def _retry_after(text: str | None) -> float | None:
    """Seconds, or until a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _message(text: str) -> str:
    """What an error says, in the layouts that servers use."""
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return " ".join(text.split())[:200]
    inner = found.get("error", found) if isinstance(found, dict) else found
    said = inner.get("message", inner) if isinstance(inner, dict) else inner
    return " ".join(str(said).split())[:200]


def _means_too_long(code: int, text: str) -> bool:
    plain = text.lower()
    named = "context_length_exceeded" in plain or "exceed_context_size" in plain
    told = "context" in plain and any(word in plain for word in ("exceed", "maximum", "too long", "longer"))
    return code in (400, 413, 422, 500) and (named or told)


def _short(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
