"""Backends without weights, baselines and testing aids; and what opens them, or any backend that
the catalog names, by where its class is."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from stereometer.core.types import Backend, Memory, Opener


@dataclass(frozen=True)
class BaselineOptions:
    seed: int = 0


class NamedOpener(Opener):
    """`module:object`."""

    def open(self, spec: str, options: BaselineOptions, memory: Memory | None = None) -> Backend:
        module, _, name = spec.partition(":")
        backend: Backend = getattr(import_module(module), name)(seed=options.seed)
        return backend


NAMED = NamedOpener("", BaselineOptions)
