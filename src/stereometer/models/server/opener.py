"""Opens `server:URL#model`: a server's options, and its key. Imports no HTTP library."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from urllib.parse import urlsplit

from stereometer.core.errors import UsageError
from stereometer.core.types import Backend, Memory, Opener


@dataclass(frozen=True)
class ServerOptions:
    """How patiently a server is asked, and at what cost."""

    budget: str | None = None
    """`200k` tokens, or `$2.50` with a price."""
    price: str | None = None
    """Of a million tokens read and written: `0.15/0.60`."""
    in_flight: int = 8
    """Requests under way at once."""
    timeout: float = 60.0
    """Seconds for one answer."""
    wait_initial: float = 0.5
    """Seconds before a failed request is sent again; longer each time."""
    start_token: str = ""
    """The text of the token that a text of the model begins with, for a server that puts none
    first: then the first token of a text is scored too."""
    dry_run: bool = False
    """Whether it is only planned with: then nothing is sent, not even to see what it offers."""


class ServerOpener(Opener):
    def open(self, spec: str, options: ServerOptions, memory: Memory | None = None) -> Backend:
        """`memory` holds by which likelihoods a model was first known: see `identity`."""
        from stereometer.models.server.backend import open_server

        return open_server(spec, options, memory)


SERVER = ServerOpener("server", ServerOptions, ("httpx2", "stamina"), "server")


# --------------------------------------------------------------------------------------------- keys

KEY_VARIABLE = "STEREOMETER_SERVER_KEY"
OPENAI_VARIABLE, OPENAI_HOST = "OPENAI_API_KEY", "api.openai.com"
PIECE = 8
"""So many characters of a key in a row are shown in no message;"""
PIECE_OF_ANSWER = 16
"""and so many in no answer: answers are data, and a key may hold a word."""


def key_for(base: str) -> str:
    """Ours for any server; OpenAI's own only for OpenAI."""
    names = [KEY_VARIABLE]
    if urlsplit(base).hostname == OPENAI_HOST:
        names.append(OPENAI_VARIABLE)
    for name in names:
        key = os.environ.get(name, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                f"{name} is not a key. It contains a line break, or a character that an HTTP "
                "header cannot carry. Copy the key again."
            )
        if key:
            return key
    return ""


def shown(address: str) -> str:
    """An address as far as it may be shown: without what may hold a password or a key."""
    return "The address given" if "@" in address or "?" in address else f"'{address[:100]}'"


def masked(text: str, key: str, piece: int = PIECE) -> str:
    """A text without the key and without long pieces of it: a server may repeat what it was sent,
    whole or cut, plain or escaped."""
    length = min(piece, len(key))
    hidden = bytearray(len(text))
    quoted = json.dumps(key)[1:-1]
    # A key, and how JSON and Python write it.
    for form in {key, quoted, quoted.replace("/", "\\/"), repr(key)[1:-1]} - {""}:
        for start in range(len(form) - length + 1):
            for match in re.finditer(f"(?={re.escape(form[start : start + length])})", text):
                hidden[match.start() : match.start() + length] = b"\1" * length
    runs = groupby(zip(text, hidden, strict=True), itemgetter(1))
    return "".join(
        "(key)" if is_key else "".join(next(zip(*run, strict=True))) for is_key, run in runs
    )


def masked_answer(text: str, key: str) -> str:
    """An answer as it may be kept; a key that is shorter than a word hides nothing of it."""
    return masked(text, key, PIECE_OF_ANSWER) if len(key) >= PIECE else text
