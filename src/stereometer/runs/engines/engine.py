"""Where requests are answered: what the runner asks of any engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from stereometer.types import Answer, Backend, Request

Windows = Iterator[Mapping[str, Request]]
"""Requests by key, a window at a time; a window is empty where nothing new is to be asked yet."""


class Engine(Protocol):
    """Answers requests with a model, wherever it runs."""

    @property
    def backend(self) -> Backend: ...

    @property
    def keep_every(self) -> int:
        """How many answers may wait before they are written to the cache."""

    @property
    def status(self) -> str:
        """How it goes, for the line that shows progress; empty where there is nothing to say."""

    @property
    def record(self) -> Mapping[str, Any]:
        """What happened, for run.json; empty where there is nothing to say."""

    def stream(self, windows: Windows) -> Iterator[Mapping[str, Answer]]:
        """Draws a window when there is room for it and gives answers in batches, in any order; at
        least one batch, which may be empty, for each window drawn."""
