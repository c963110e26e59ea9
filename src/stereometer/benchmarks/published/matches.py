"""A published value beside an estimate: only where data, method, variant and model agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from stereometer.benchmarks.published.models import system_of
from stereometer.benchmarks.published.tables import PAPER, Value, values
from stereometer.types import Estimate, Slice, Variant
from stereometer.types.names import WITHIN_WORD, MeasureName

REPLAYED = {"cat-replay": "cat-likelihood", "pair-replay": "pair-likelihood"}
"""Scores whose measure nobody named are held against those of the paper."""
Key = tuple[str, str, str]
"""Data, system and measure."""


@dataclass(frozen=True)
class Measured:
    """What must agree."""

    data: str
    """Digest of the items."""
    model: str
    measure: str
    variant: Variant
    settings: Mapping[str, Any] = field(default_factory=dict)
    claimed: bool = False
    """Whether only the user says what the items are: then the number asked must be known, too."""


@cache
def _known() -> dict[Key, tuple[Value, ...]]:
    by_key: dict[Key, tuple[Value, ...]] = {}
    for value in values():
        if value.table.data and value.measure:
            key = (value.table.data, value.system, value.measure)
            by_key[key] = (*by_key.get(key, ()), value)
    return by_key


def with_published(
    estimates: Iterable[Estimate],
    measured: Measured,
    place: Callable[[Slice], Slice] = lambda slice_: slice_,
) -> list[Estimate]:
    """The estimates with published values where there are any; `place` gives the slice as tables
    name it."""
    candidates = _candidates(measured)
    return [_beside(estimate, candidates, measured, place) for estimate in estimates]


def _candidates(measured: Measured) -> Sequence[Value]:
    """Values of the same data, model, method and settings."""
    measure = MeasureName.parse(measured.measure)
    if WITHIN_WORD in measure.options:  # another number, which no paper printed
        return ()
    name = measure.known_as
    keys = dict.fromkeys((name, REPLAYED.get(name, name)))
    if measured.variant != PAPER or not any(data == measured.data for data, _, _ in _known()):
        return ()
    system = system_of(measured.model)
    every = (_known().get((measured.data, system or "", key), ()) for key in keys)
    return [value for part in every for value in part if _asked_so(value, measured)]


def _asked_so(value: Value, measured: Measured) -> bool:
    """Of answers from elsewhere not every setting is known."""
    settings = measured.settings
    return all(
        _written(settings.get(name)) == required
        for name, required in value.requires.items()
        if name in settings or not measured.claimed
    )


def _written(setting: Any) -> str:
    return " ".join(sorted(setting)) if isinstance(setting, list | tuple) else str(setting)


def _beside(
    estimate: Estimate,
    candidates: Sequence[Value],
    measured: Measured,
    place: Callable[[Slice], Slice],
) -> Estimate:
    there = estimate.name, dict(place(estimate.slice))
    for value in candidates:
        counted = value.n == estimate.asked or (value.n is None and not measured.claimed)
        if counted and (value.name, dict(value.slice)) == there:
            return replace(estimate, published=value.published)
    return estimate
