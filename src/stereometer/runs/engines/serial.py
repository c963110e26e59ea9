"""One backend, one process: each window of requests in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stereometer.errors import ModelError
from stereometer.runs.engines.engine import Windows
from stereometer.types import Answer, Backend, Request


class Serial:
    """Asks the backend and checks that every request came back once."""

    status = ""
    record: Mapping[str, Any] = {}

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    @property
    def keep_every(self) -> int:
        return self.backend.abilities.keep_every

    def stream(self, windows: Windows) -> Iterator[Mapping[str, Answer]]:
        for window in windows:
            yield from ({key: answer} for key, answer in self.answer(window))
            yield {}

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        open_keys = set(requests)
        for key, answer in self.backend.answer(requests):
            if key not in open_keys:
                raise ModelError(
                    f"{self.backend.card.name} answered a request twice or one it was not asked. "
                    "That is a fault of the backend. Report it."
                )
            open_keys.discard(key)
            yield key, answer
        if open_keys:
            raise ModelError(
                f"{self.backend.card.name} left {len(open_keys)} of {len(requests)} requests "
                "without an answer. That is a fault of the backend. Report it."
            )
