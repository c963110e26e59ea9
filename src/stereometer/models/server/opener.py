"""Opens `server:URL#model` and the short forms of known services: a server's options, and its key.
Imports no HTTP library."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any
from urllib.parse import SplitResult, urlsplit

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
    room: int = 0
    """Tokens beside an answer's own in which a model may think."""
    thinking: bool = True
    """Whether it may think, where it can be told not to."""
    dry_run: bool = False
    """Whether it is only planned with: then nothing is sent, not even to see what it offers."""


@dataclass(frozen=True)
class Provider:
    """A service whose models are written `SCHEME:NAME`, short for `server:ADDRESS#NAME`."""

    address: str
    variable: str = ""
    """Where its key is by habit; empty where it needs none."""


PROVIDERS = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": Provider("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "gemini": Provider("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": Provider("http://localhost:11434/v1"),
}


class ServerOpener(Opener):
    def open(self, spec: str, options: ServerOptions, memory: Memory | None = None) -> Backend:
        """`memory` holds by which likelihoods a model was first known: see `identity`."""
        from stereometer.models.server.backend import open_server

        return open_server(self.whole(spec), options, memory)

    def ready(self, spec: str, options: ServerOptions) -> None:
        """A price for a budget in money, and a key."""
        from stereometer.models.server.budget import budget_of

        urls, _, model = self.whole(spec).rpartition("#")
        budget_of(options.budget, options.price, model, is_free(urls))
        for base in urls.split(",") if not options.dry_run else ():
            check_key(base)

    def whole(self, spec: str) -> str:
        """With the address, where the scheme stands for one."""
        known = PROVIDERS.get(self.scheme)
        return f"{known.address}#{spec}" if known else spec

    def check(self, spec: str) -> None:
        if not spec:
            raise UsageError(
                f"'{self.scheme}:' names no model. The model's name follows the colon. For "
                f"instance {self.scheme}:{'NAME' if self.scheme in PROVIDERS else 'URL#NAME'}."
            )

    def check_options(self, options: Mapping[str, Any]) -> None:
        """A budget that is misspelt is refused, also for a model that costs nothing."""
        from stereometer.models.server.budget import budget_of

        budget_of(options.get("budget"), options.get("price"))


SERVER, OPENAI, ANTHROPIC, GEMINI, OPENROUTER, OLLAMA = (
    ServerOpener(scheme, ServerOptions, ("httpx2", "stamina"), "server")
    for scheme in ("server", *PROVIDERS)
)


# --------------------------------------------------------------------------------------------- keys

KEY_VARIABLE = "STEREOMETER_SERVER_KEY"
"""For any server that has no variable of its own."""
AZURE_VARIABLE, AZURE_HEADER = "AZURE_OPENAI_API_KEY", "api-key"
AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
PIECE = 8
"""So many characters of a key in a row are shown in no message;"""
PIECE_OF_ANSWER = 16
"""and so many in no answer: answers are data, and a key may hold a word."""


def variable_for(base: str) -> str:
    """The variable that holds the key of this very host; empty where it has none."""
    if is_azure(base):
        return AZURE_VARIABLE
    own = (each.variable for each in PROVIDERS.values() if _host(each.address) == _host(base))
    return next(own, "")


def is_free(base: str) -> bool:
    """Whether it is a service of this machine, which takes no money."""
    return any(
        not each.variable and _host(each.address) == _host(base) for each in PROVIDERS.values()
    )


def is_azure(base: str) -> bool:
    return (_split(base).hostname or "").endswith(AZURE_HOSTS)


def _split(address: str) -> SplitResult:
    """Empty for what is no address, such as `[::1`: it is refused where it is asked."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _host(address: str) -> tuple[str, str]:
    """With how it is reached: a key is not sent in the clear to a host that takes it encrypted."""
    parts = _split(address)
    return parts.scheme, parts.netloc.lower().removesuffix(":443")


def key_for(base: str) -> str:
    """That of the host itself, or of all servers that are no known service: each goes to nobody
    else."""
    name = variable_for(base) or KEY_VARIABLE
    key = os.environ.get(name, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"{name} is not a key. It contains a line break, or a character that an HTTP header "
            "cannot carry. Copy the key again."
        )
    return key


def headers_for(base: str, key: str) -> dict[str, str]:
    if not key:
        return {}
    return {AZURE_HEADER: key} if is_azure(base) else {"Authorization": f"Bearer {key}"}


def check_key(base: str) -> None:
    """Raises where a service that answers nobody without a key would be asked without."""
    own = variable_for(base)
    if own and not key_for(base):
        raise UsageError(f"{base} answers nobody without a key: set {own} to yours.")


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
