"""Where requests are answered: in this process, or as another room of the catalog does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from stereometer.core import catalog
from stereometer.core.options import ModelOptions
from stereometer.core.runs.runner import Engine, Serial
from stereometer.core.types import Backend, Item, Job, ModelSpec
from stereometer.core.types.opener import Record
from stereometer.core.types.results import Results


class Engines(ExitStack):
    """Gives each model the engine that answers for it: the model itself, in this process. When it
    is closed, a model in memory is left as it was."""

    elsewhere = False
    """Whether models are opened in other processes."""
    place = ""
    """Which machines those are on; empty for this one."""

    def loading(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return dict(options)

    def seen(self, spec: ModelSpec) -> Record:
        """A model, as the other processes found it."""
        raise TypeError("there are no other processes")

    def remember(self, backend: Backend, spec: ModelSpec) -> None:
        """What opens the same model in another process."""

    def __call__(self, backend: Backend) -> Engine:
        return Serial(backend)

    def workers(self, backend: Backend) -> int:
        """How many there would be; 0 where this process answers itself."""
        return 0


class PartOfRun(Protocol):
    """One part of a run that machines share which do not know each other."""

    def items(self, items: Sequence[Item]) -> Sequence[Item]:
        """What this part asks about; all parts together ask about every item once."""

    def ask(self, jobs: Iterable[Job], out: Path | None, engines: Engines) -> Results:
        """Asks the part of every job; gives no result, but says what was kept."""


def engines_of(options: ModelOptions) -> Engines:
    if options.get("workers") is None and options.get("gpus_per_worker") is None:
        return Engines()
    found: Engines = catalog.find("engine", "workers")(options)
    return found
