"""Correction for many tests, within families of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from stereometer.stats.intervals import Floats
from stereometer.stats.tests import holm

Row = TypeVar("Row")
"""A frozen dataclass with p and what the correction fills: p_adjusted, tests, verdict and
beyond_noise."""
Said = tuple[str | None, bool]
"""The words of a verdict, and whether they name an effect."""
Adjust = Callable[[Sequence[float]], Sequence[float] | Floats]


def corrected(
    rows: Iterable[Row],
    verdict: Callable[[Row, float], Said],
    family: Callable[[Row], Hashable] = lambda row: (),
    adjust: Callable[[Row], Adjust] = lambda row: holm,
    known: Callable[[Row], Row] = lambda row: row,
) -> list[Row]:
    """The rows with p adjusted within their family, and what that says.

    Rows without p, or whose family is None, stay as they are. `adjust` gives the correction of the
    family that a row is in, `known` what the size of its family changes in a row.
    """
    judged: list[Any] = list(rows)
    for places in _places([row.p for row in judged], map(family, judged)):
        together = adjust(judged[places[0]])([judged[at].p for at in places])
        for at, p in zip(places, map(float, together), strict=True):
            row: Any = known(replace(judged[at], p_adjusted=p, tests=len(places)))
            says, beyond = verdict(row, p)
            judged[at] = replace(row, verdict=says, beyond_noise=beyond)
    return judged


def adjusted(ps: Sequence[float | None], families: Iterable[Hashable]) -> list[float | None]:
    """Each p adjusted (Holm) within its family; where there is none, none."""
    after: list[float | None] = [None] * len(ps)
    for places in _places(ps, families):
        for at, p in zip(places, holm([ps[at] or 0.0 for at in places]), strict=True):
            after[at] = p
    return after


def _places(ps: Iterable[float | None], families: Iterable[Hashable]) -> Iterable[list[int]]:
    """Where the p-values stand that are corrected together."""
    places: dict[Hashable, list[int]] = {}
    for at, (p, family) in enumerate(zip(ps, families, strict=True)):
        if p is not None and family is not None:
            places.setdefault(family, []).append(at)
    return places.values()
