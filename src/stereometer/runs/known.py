"""Models known by their files: what a plan needs of them is there before they are loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

from stereometer.errors import ModelError, StereometerError
from stereometer.runs.cache import Cache
from stereometer.types import (
    Abilities,
    Answer,
    Backend,
    Encoding,
    Memory,
    ModelCard,
    ModelSpec,
    Request,
    System,
    WritesTokens,
)
from stereometer.types.document import typed


@dataclass(frozen=True)
class Record:
    """What was seen of a model when it was loaded."""

    card: ModelCard
    abilities: Abilities
    writes: bool
    """Whether it turns tokens back into text."""


class Known:
    """A model that is loaded when it is first asked."""

    def __init__(self, spec: ModelSpec, record: Record, forget: Callable[[], None]) -> None:
        self._spec, self.card, self.abilities = spec, record.card, record.abilities
        self._forget = forget

    @cached_property
    def _loaded(self) -> Any:
        """Raises where the files became others since they were looked at, or another version
        recorded something else of them; the next run looks again."""
        model = self._spec.open()
        if model.card.identity != self.card.identity:
            self._forget()
            raise ModelError(
                f"{self.card.name} is not the model it was when it was last looked at. Its files "
                "were changed while it was loaded, or stereometer was. Run it again."
            )
        return model

    def encode(self, text: str, second: str | None = None) -> Encoding:
        encoding: Encoding = self._loaded.encode(text, second)
        return encoding

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        # Nothing to ask is no reason to load a model.
        yield from self._loaded.answer(requests) if requests else ()


class KnownWriter(Known):
    """One that turns tokens back into text."""

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._loaded.decode(ids))


def open_known(spec: ModelSpec, memory: Memory) -> Backend | System:
    """The model as it was recorded, or loaded and recorded."""
    fingerprint = spec.fingerprint()
    if fingerprint is None:
        return spec.open(memory)
    record = _recorded(fingerprint, memory)
    if record is not None:
        forget = partial(_forget, fingerprint)
        return (KnownWriter if record.writes else Known)(spec, record, forget)
    model = spec.open(memory)
    if isinstance(model, Backend):
        _keep(fingerprint, model, memory)
    return model


def _recorded(fingerprint: str, memory: Memory) -> Record | None:
    try:
        record = memory.record("models", fingerprint)
        return None if record is None else typed(Record, json.loads(record))
    except (StereometerError, ValueError):
        return None


def _forget(fingerprint: str) -> None:
    with suppress(StereometerError), Cache() as memory:
        memory.forget("models", fingerprint)


def _keep(fingerprint: str, model: Backend, memory: Memory) -> None:
    """A cache that cannot be used is no reason not to ask."""
    record = Record(model.card, model.abilities, isinstance(model, WritesTokens))
    with suppress(StereometerError):
        memory.keep("models", fingerprint, json.dumps(asdict(record), default=sorted))
