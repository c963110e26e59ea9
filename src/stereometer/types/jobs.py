"""A job: everything that decides one result, ready to be carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from stereometer.types.backend import Backend
from stereometer.types.items import Item, Score
from stereometer.types.method import Measure
from stereometer.types.results import Estimate, Result


@dataclass(frozen=True)
class Asking:
    """Items that a model is asked about."""

    items: Sequence[Item]
    measure: Measure
    backend: Backend


class Stopping(Protocol):
    """Asks items in an order of its own, until enough is known."""

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items, a few at a time; ends early where the scores so far are enough."""
        ...

    def add(self, score: Score) -> None:
        """Called with every score before the next block is drawn."""
        ...


@dataclass(frozen=True)
class Job:
    """One result to be: run, ask, replay, ensemble, align and intersect build these and nothing
    else."""

    plan: Mapping[str, Any]
    """What a run folder is bound to; also what names it."""
    kind: str
    """The shape of what is counted."""
    source: Asking | Callable[[], Iterable[Score]]
    """What gives the scores: a model that is asked, or something that needs no asking."""
    summarize: Callable[[Iterable[Score]], list[Estimate]]
    describe: Callable[[Sequence[Estimate]], Result]
    items: int = 0
    folder: str = ""
    """The name of its folder among those of other runs, where the plan's own names do not do."""
    hidden: Mapping[str, int] = field(default_factory=dict)
    """Items whose texts are left out of what is stored, and the number of their wording."""
    stopping: Stopping | None = None
    """What ends the asking before all items are asked, where something does."""
    series: Mapping[str, Any] = field(default_factory=dict)
    """The pattern that found its model and the step, for the result's settings."""

    @property
    def title(self) -> str:
        return f"{self.plan['model']} on {self.plan['benchmark']}, {self.plan['measure']}"
