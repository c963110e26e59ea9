"""What the driver's loop needs of workers, whether they are local processes or Ray actors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from stereometer.types import Answer, Request


@dataclass(frozen=True)
class Hello:
    """A worker has opened the model: who answers."""

    identity: str
    """Of the model's card: weights, tokenizer, dtype, settings."""
    versions: Mapping[str, str]
    """Of the packages that decide an answer."""


@dataclass(frozen=True)
class Answers:
    """What a worker answered to the window it was sent first."""

    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Failed:
    """A worker lives and says that it cannot."""

    reason: str
    whose: str
    """`model`: every worker would say the same. `machine`: another worker may do better.
    `window`: something in what it was asked."""


@dataclass(frozen=True)
class Gone:
    """A worker is no more."""

    reason: str


Event: TypeAlias = Hello | Answers | Failed | Gone


class Crew(Protocol):
    """Starts and stops workers and passes messages; it decides nothing."""

    def size(self) -> int:
        """How many workers there should be; may change as machines come and go."""

    def start(self) -> int:
        """A new worker's number; it says Hello when it is ready."""

    def send(self, worker: int, requests: Mapping[str, Request]) -> None:
        """Never waits for the worker; windows are answered in the order sent."""

    def events(self, seconds: float) -> Iterable[tuple[int, Event]]:
        """What was heard, at the latest after so many seconds; nothing of workers stopped."""

    def stop(self, worker: int) -> None: ...

    def close(self) -> None: ...
