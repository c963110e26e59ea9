"""Opens `server:URL#model`. Imports no HTTP library."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.types import Backend, Memory, Opener


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
        from stereometer.backends.server.backend import open_server

        return open_server(spec, options, memory)


SERVER = ServerOpener("server", ServerOptions, ("httpx2", "stamina"), "server")
