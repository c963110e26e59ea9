"""HTTP to a model server: patient where it limits or stumbles, clear where it is not there; and to
several servers of one model, over which load is spread, and one of which may die.

The key comes from the environment. It is sent in a header to the server it is for, and appears
nowhere else.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Timer
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import finalize

import httpx2
import stamina

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types.names import shown
from stereometer.models.server.budget import Budget, first_choice
from stereometer.models.server.opener import (
    KEY_VARIABLE,
    headers_for,
    key_for,
    masked,
    masked_answer,
)
from stereometer.models.server.refusals import (
    FILTER,
    Empty,
    Filtered,
    Late,
    NoAnswer,
    NoChoices,
    Passing,
    RefusedRequest,
    Unreached,
    Untaken,
    message,
    one_line,
    refusal,
    status_of,
)

LOG = logging.getLogger("stereometer")
ATTEMPTS = 8
FIRST_ATTEMPTS = 3
"""At the first contact, where nobody listens or nothing is answered: that rarely passes."""
PATIENCE = 300.0
"""Seconds for all attempts at one request together."""
QUIET = 5.0
"""Seconds of asking again before a warning, and between two warnings."""
LARGEST = 16 * 1024 * 1024
"""Bytes of an answer."""
LARGEST_TEXT = 500_000
"""Characters of a text that is written, thinking included: the log-probabilities of a prompt are
longer."""
TOKENIZER, TOKENIZE = "/tokenizer_info", "/tokenize"
BESIDE = (TOKENIZER, TOKENIZE)
"""Beside the protocol, not in it: their place is the server's root, and they cost nothing."""
LARGEST_ERROR = 10_000
"""Characters of an error that are read."""

# Retries are our business: without a handler each would be printed.
logging.getLogger("stamina").addHandler(logging.NullHandler())


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
    acquainted: Event = field(default_factory=Event)
    """Whether the server has been probed."""

    def __post_init__(self) -> None:
        self.base = _checked(self.base)
        self._key = key_for(self.base)
        self._trusted = httpx2.create_ssl_context()
        self._clients: list[httpx2.Client] = []
        self._idle: list[httpx2.Client] = []
        self._warned, self._warning = -QUIET, Lock()
        self._resumes = 0.0
        finalize(self, _close, self._clients)

    def close(self) -> None:
        self.closing.set()
        _close(self._clients)

    def get(self, path: str) -> Any:
        return self._asked("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The first choice of the answer."""
        choice = first_choice(self._asked("POST", path, body))
        assert choice is not None, "an answer without one is asked for again"
        return choice

    def ids(self, model: str, text: str) -> list[int]:
        """The tokens of a text, as vLLM tells them, with nothing put before it."""
        body = {"model": model, "prompt": text, "add_special_tokens": False}
        answer = self._asked("POST", TOKENIZE, body)
        ids = answer.get("tokens") if isinstance(answer, dict) else None
        if not isinstance(ids, list) or not all(type(one) is int for one in ids):
            raise RefusedRequest(
                f"{self.base} does not tell the tokens of a text. Without them its likelihood "
                "cannot be asked for. Check the server.",
                "no tokens of a text",
            )
        return ids

    def for_keeping(self, text: str) -> str:
        """A text of an answer, without the key where the server put it there."""
        if len(text) > LARGEST_TEXT:
            raise ModelError(
                f"{self.base} wrote {len(text)} characters. No answer is that long. Check the "
                "address and the model."
            )
        return masked_answer(text, self._key)

    # --------------------------------------------------------------------------------- patience

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        """The parsed answer; passing failures are tried again, later each time, with jitter, or
        when the server says."""
        tries = _Tries(self)
        attempts = stamina.retry_context(
            on=tries,
            attempts=ATTEMPTS,
            timeout=PATIENCE,
            wait_initial=self.wait_initial,
            wait_max=30.0,
            wait_jitter=self.wait_initial,
        )
        try:
            for attempt in attempts:
                with attempt:
                    if self.closing.wait(max(0.0, self._resumes - time.monotonic())):
                        raise Closed
                    answer = (
                        self._once(method, path, body)
                        if body is None or path in BESIDE
                        else self.budget.paid(body, lambda: self._once(method, path, body))
                    )
                    if path not in BESIDE and body is not None and first_choice(answer) is None:
                        if FILTER.search(json.dumps(answer)[:LARGEST_ERROR]):
                            raise Filtered
                        raise Empty(f"no choices in {one_line(self._without_key(str(answer)))}")
                    return answer
        except Empty as error:
            raise NoChoices(
                f"{self.base} answers without any choices: {error}. It was asked {tries}; it does "
                "not keep to the protocol, or is overloaded. Try again; answers so far are kept."
            ) from None
        except Passing as error:
            raise NoAnswer(
                f"{self.base} did not answer: {error}. It was asked {tries}. Check that it runs; "
                "answers so far are kept, and the same command continues."
            ) from None
        raise AssertionError("an attempt returns or raises")

    def pause(self, seconds: float) -> None:
        """Nobody asks while the server asks for rest, however many requests are in flight."""
        self._resumes = max(self._resumes, time.monotonic() + min(seconds, PATIENCE))

    def warn(self, reason: Exception, left: str) -> None:
        """Says why it takes long, and for how long; however many requests wait, one speaks for
        all."""
        with self._warning:
            if time.monotonic() - self._warned < QUIET:
                return
            self._warned = time.monotonic()
        LOG.warning("%s: %s. It is asked again, %s.", self.base, reason, left)

    # ------------------------------------------------------------------------------ one request

    def _once(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        base = self.base.removesuffix("/v1") if path in BESIDE else self.base
        try:
            with (
                self._client() as client,
                client.stream(method, f"{base}{path}", json=body) as response,
            ):
                content = bytearray()
                for part in response.iter_bytes():
                    content += part
                    if len(content) > LARGEST:
                        raise ModelError(
                            f"{self.base} answered with more than {LARGEST} bytes. No answer is "
                            "that long. Check the address."
                        )
        except httpx2.LocalProtocolError:  # its text may hold the headers
            raise ModelError(
                f"{self.base} was not asked: the request cannot be written as HTTP. The key or "
                "the address contains a character that HTTP does not allow. Check both."
            ) from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise UsageError(
                f"'{self.base}' is not the address of a server: {self._short(error)}. An address "
                "starts with http or https. Check it."
            ) from None
        except httpx2.ConnectError as error:
            raise Unreached(f"no connection ({self._short(error)})") from None
        except httpx2.TimeoutException:
            raise Late(f"no answer within {self.timeout:g} s") from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise Passing(f"the connection broke ({self._short(error)})") from None
        return self._read(response, bytes(content))

    @contextmanager
    def _client(self) -> Iterator[httpx2.Client]:
        """A client for one request, closed under it when the time is up: a time-out of each read
        alone never ends a drip."""
        client = self._free_client()
        late = Timer(self.timeout, client.close)
        late.daemon = True
        late.start()
        try:
            yield client
        except Exception:
            if not client.is_closed:
                raise
            if self.closing.is_set():
                raise Closed from None
            raise Late(f"no whole answer within {self.timeout:g} s") from None
        finally:
            late.cancel()
            (self._clients.remove if client.is_closed else self._idle.append)(client)

    def _free_client(self) -> httpx2.Client:
        """An idle one, or a new one."""
        with suppress(IndexError):
            return self._idle.pop()
        client = httpx2.Client(
            timeout=self.timeout,
            headers=headers_for(self.base, self._key),
            follow_redirects=False,
            verify=self._trusted,
        )
        self._clients.append(client)
        return client

    def _read(self, response: httpx2.Response, content: bytes) -> Any:
        text = content.decode("utf-8", "replace")
        if response.status_code != 200:
            raise self._refusal(response, response.status_code, text)
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):  # also a number of over 4,300 digits
            raise Passing(f"an answer that is not JSON: {self._without_key(text)[:80]!r}") from None
        code = status_of(answer)
        if code is not None:
            raise self._refusal(response, code, text)
        return answer

    def _refusal(self, response: httpx2.Response, code: int, text: str) -> Exception:
        text = text[:LARGEST_ERROR]
        reason = one_line(self._without_key(message(text)))
        return refusal(self.base, code, text, reason, response.headers.get("retry-after"))

    def _without_key(self, text: str) -> str:
        return masked(text[:LARGEST_ERROR], self._key)

    def _short(self, error: Exception) -> str:
        lines = self._without_key(str(error)).strip().splitlines()
        return (lines or [type(error).__name__])[0][:120]


class _Tries:
    """Counts the attempts at one question, and decides after each failure if there is another."""

    def __init__(self, wire: Wire) -> None:
        self.wire, self.began, self.count = wire, time.monotonic(), 0

    def __call__(self, error: Exception) -> bool | float:
        self.count += 1
        first = not self.wire.acquainted.is_set() and isinstance(error, Unreached | Empty)
        if not isinstance(error, Passing) or (first and self.count >= FIRST_ATTEMPTS):
            return False
        waited = time.monotonic() - self.began
        if waited + (error.wait or 0.0) > QUIET and self.count < ATTEMPTS:
            tries, seconds = ATTEMPTS - self.count, max(0.0, PATIENCE - waited)
            self.wire.warn(error, f"at most {tries} more times and for {seconds:.0f} s")
        if isinstance(error, Untaken) and error.wait:
            self.wire.pause(error.wait)
        return True if error.wait is None else error.wait * random.uniform(1.0, 1.1)

    def __str__(self) -> str:
        return f"{self.count} times in {time.monotonic() - self.began:.0f} s"


def _close(clients: list[httpx2.Client]) -> None:
    for client in list(clients):
        client.close()


def _checked(base: str) -> str:
    no_address = UsageError(
        f"{shown(base)} is not the address of a server. An address starts with http or https and "
        "ends with # and the model. For instance server:http://127.0.0.1:8080/v1#name."
    )
    try:
        parts = urlsplit(base)
    except ValueError:  # [::1
        raise no_address from None
    whole = parts.scheme in ("http", "https") and bool(parts.hostname)
    if "@" in parts.netloc + parts.query + parts.fragment or ("@" in base and not whole):
        raise UsageError(
            "The address of the server holds a password. It would be stored in every result. Set "
            f"{KEY_VARIABLE} instead."
        )
    if not whole:
        raise no_address
    if "?" in base or "#" in base:
        raise UsageError(
            f"The address of {parts.hostname} has a part after ? or a second #. It would be stored "
            f"in every result, and may be a key. Leave it out, and set {KEY_VARIABLE} to the key."
        )
    return base.rstrip("/") if parts.path.strip("/") else f"{base.rstrip('/')}/v1"


# --------------------------------------------------------------------- several servers of one model

Answered = TypeVar("Answered")


class Wires:
    """Asked like one server: each question goes to the server with the fewest under way, and to
    another where that one no longer answers."""

    def __init__(self, wires: Sequence[Wire]) -> None:
        self.wires = list(wires)
        self.base = ",".join(wire.base for wire in wires)
        self.budget = wires[0].budget
        self.closing, self.acquainted = wires[0].closing, wires[0].acquainted
        """One of each for all of them."""
        for wire in wires:
            wire.closing, wire.acquainted = self.closing, self.acquainted
        self.under_way = dict.fromkeys(range(len(wires)), 0)
        """Questions at each server that is still used."""
        self.lock = Lock()

    @property
    def in_flight(self) -> int:
        """What is allowed at each, together."""
        return sum(self.wires[at].in_flight for at in self.under_way)

    def close(self) -> None:
        for wire in self.wires:
            wire.close()

    def for_keeping(self, text: str) -> str:
        for wire in self.wires:
            text = wire.for_keeping(text)
        return text

    def get(self, path: str) -> Any:
        return self._asked(lambda wire: wire.get(path))

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._asked(lambda wire: wire.post(path, body))

    def ids(self, model: str, text: str) -> list[int]:
        return self._asked(lambda wire: wire.ids(model, text))

    def _asked(self, ask: Callable[[Wire], Answered]) -> Answered:
        while True:
            with self.lock:
                at = min(self.under_way, key=self.under_way.__getitem__)
                self.under_way[at] += 1
            try:
                return ask(self.wires[at])
            except NoAnswer as error:
                self._leave_out(at, error)
            finally:
                with self.lock:
                    if at in self.under_way:
                        self.under_way[at] -= 1

    def _leave_out(self, at: int, error: NoAnswer) -> None:
        """Raises where it was the last."""
        with self.lock:
            if at not in self.under_way:
                if self.under_way:
                    return
                raise error
            if len(self.under_way) == 1:
                raise error
            del self.under_way[at]
        LOG.warning("%s is no longer asked: %s", self.wires[at].base, error)
