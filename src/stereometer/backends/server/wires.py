"""Several servers of one model behind one spec: load is spread, and one may die."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, TypeVar

from stereometer.backends.server.refusals import NoAnswer
from stereometer.backends.server.wire import Wire

LOG = logging.getLogger("stereometer")
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
