"""Opens the baselines by name (`fake`, `random`, `sentiment`), and any by its place."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from stereometer.backends.baselines.fake import Fake
from stereometer.backends.baselines.random import Random
from stereometer.backends.baselines.sentiment import Sentiment
from stereometer.errors import UnknownName
from stereometer.types import Backend, Memory

BASELINES: dict[str, type[Fake | Random | Sentiment]] = {
    "fake": Fake,
    "random": Random,
    "sentiment": Sentiment,
}


@dataclass(frozen=True)
class BaselineOptions:
    seed: int = 0


@dataclass(frozen=True)
class BaselineOpener:
    scheme: str = ""
    options: type[BaselineOptions] = BaselineOptions
    needs: tuple[str, ...] = ()
    extra: str = ""

    def open(self, spec: str, options: BaselineOptions, memory: Memory | None = None) -> Backend:
        if spec not in BASELINES:
            raise UnknownName("baseline", spec, BASELINES)
        return BASELINES[spec](options.seed)


BASELINE = BaselineOpener()


@dataclass(frozen=True)
class NamedOpener(BaselineOpener):
    """A backend that the catalog names, by where its class is: `module:object`."""

    def open(self, spec: str, options: BaselineOptions, memory: Memory | None = None) -> Backend:
        module, _, name = spec.partition(":")
        backend: Backend = getattr(import_module(module), name)(seed=options.seed)
        return backend


NAMED = NamedOpener()
