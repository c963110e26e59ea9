"""A port of this machine on which nobody listens."""

from __future__ import annotations

import socket


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
    return port
