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
from urllib.parse import SplitResult, urlsplit
from weakref import finalize

import httpx2
import stamina

from stereometer.backends.budget import Budget
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
    """Posts JSON to one server, within a budget."""

    base: str
    timeout: float = 60.0
    in_flight: int = 8
    wait_initial: float = 0.5
    budget: Budget = field(default_factory=Budget)
    closing: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.base = _checked(self.base)
        self._key = _key_for(self.base)
        limits = httpx2.Limits(max_connections=self.in_flight + 1, max_keepalive_connections=self.in_flight + 1)
        self._client = httpx2.Client(timeout=self.timeout, limits=limits, headers=self._headers(), follow_redirects=False)
        finalize(self, self._client.close)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def close(self) -> None:
        self.closing.set()
        self._client.close()

    def get(self, path: str) -> Any:
        return self._asked("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self.budget.paid(body, lambda: self._asked("POST", path, body))

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
                f"{self.base} did not answer: {error}. It was asked {ATTEMPTS} times or for {PATIENCE:.0f} s. "
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
        except httpx2.LocalProtocolError:  # its text may hold the headers
            raise ModelError(
                f"{self.base} was not asked: the request cannot be written as HTTP. The key or the address holds what a header cannot. Check both."
            ) from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise UsageError(
                f"'{self.base}' is not the address of a server: {self._short(error)}. It is http or https. Check it."
            ) from None
        except httpx2.ConnectError as error:
            raise Passing(f"no connection ({self._short(error)})") from None
        except httpx2.TimeoutException:
            raise Passing(f"no answer within {self.timeout:g} s") from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Passing(f"the connection broke ({self._short(error)})") from None
        return self._read(response, bytes(content))

    def _read(self, response: httpx2.Response, content: bytes) -> Any:
        text = content.decode("utf-8", "replace")
        if response.status_code != 200:
            self._refused(response, text)
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            raise Passing(f"an answer that is not JSON: {self._without_key(text)[:80]!r}") from None

    def _refused(self, response: httpx2.Response, text: str) -> None:
        code, said = response.status_code, _one_line(self._without_key(_message(text)))
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
        """A server may repeat what it was sent, as it is or escaped. Called on a whole text: half a key would not be found."""
        for form in _forms(self._key):
            text = text.replace(form, "(key)")
        return text

    def _short(self, error: Exception) -> str:
        return (self._without_key(str(error)).strip().splitlines() or [type(error).__name__])[0][:120]


class NotThere(ModelError):
    """The server has no such model or endpoint."""


def _again(error: Exception) -> bool | float:
    if not isinstance(error, Passing):
        return False
    return True if error.wait is None else error.wait * random.uniform(1.0, 1.1)


def _key_for(base: str) -> str:
    """Ours for any server; OpenAI's own only for OpenAI."""
    for name in (KEY_VARIABLE, *([OPENAI_VARIABLE] if urlsplit(base).hostname == OPENAI_HOST else [])):
        key = os.environ.get(name, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{name} is no key. It holds a line break or a character that no header can carry. Copy the key again.")
        if key:
            return key
    return ""


def _forms(key: str) -> list[str]:
    """A key and how JSON and Python write it, the longest first."""
    quoted = json.dumps(key)[1:-1]
    found = {key, quoted, quoted.replace("/", "\\/"), repr(key)[1:-1]} - {""}
    return sorted(found, key=len, reverse=True)


def shown(address: str) -> str:
    """An address as far as it may be told: what may hold a password or a key is not."""
    return "The address given" if "@" in address or "?" in address else f"'{address[:100]}'"


def _checked(base: str) -> str:
    parts = _parts(base)
    whole = parts.scheme in ("http", "https") and bool(parts.hostname)
    if "@" in parts.netloc + parts.query + parts.fragment or ("@" in base and not whole):
        raise UsageError(f"The address of the server holds a password. It would be in every result. Set {KEY_VARIABLE} instead.")
    if not whole:
        raise UsageError(_no_address(base))
    if "?" in base or "#" in base:
        raise UsageError(
            f"The address of {parts.hostname} has a part after ? or a second #. It would be in every result, and may be a key. Leave it out, and set {KEY_VARIABLE} to the key."
        )
    return base.rstrip("/") if parts.path.strip("/") else f"{base.rstrip('/')}/v1"


def _parts(base: str) -> SplitResult:
    try:
        return urlsplit(base)
    except ValueError:  # [::1
        raise UsageError(_no_address(base)) from None


def _no_address(base: str) -> str:
    return f"{shown(base)} is not the address of a server. It is http or https, then # and the model. For instance server:http://127.0.0.1:8080/v1#name."


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
        return text
    inner = found.get("error", found) if isinstance(found, dict) else found
    said = inner.get("message", inner) if isinstance(inner, dict) else inner
    return str(said)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _means_too_long(code: int, text: str) -> bool:
    """Kept for good, so only what names the window counts: Go calls a time-out `context deadline exceeded`, often with status 500."""
    plain = text.lower()
    named = "context_length_exceeded" in plain or "exceed_context_size" in plain
    window = any(words in plain for words in ("context length", "context window", "context size"))
    told = window and "deadline" not in plain and any(word in plain for word in ("exceed", "maximum", "too long", "longer"))
    return code in (400, 413, 422, 500) and (named or (told and code != 500))
