"""What other programs may sort: never a value whose ideal lies within its scale."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer import catalog
from stereometer.findings.gate.bars import distances
from stereometer.types import Estimate, Result

TOPS = (100.0, 1.0)
"""Ideals that are the upper end of their scale: percent, shares and correlations."""


@dataclass(frozen=True)
class Ranked:
    """A number with a best end."""

    name: str
    value: float
    low: float | None
    high: float | None
    lower_is_better: bool


def ranked(estimate: Estimate) -> Ranked | None:
    """The value itself where its ideal is the top; otherwise how far it is from its ideal; None
    where there is no value or no ideal."""
    value, ideal = estimate.value, estimate.ideal
    if value is None or ideal is None:
        return None
    if ideal in TOPS:
        return Ranked(estimate.name, value, estimate.low, estimate.high, False)
    low, high = estimate.low, estimate.high
    if low is not None and high is not None:
        low, high = distances(low, high, ideal)
    return Ranked(f"|{estimate.name} - {ideal:g}|", abs(value - ideal), low, high, True)


def headline(result: Result) -> Estimate | None:
    """The overall value that stands for a result where there is room for one number."""
    shape = catalog.shape(result.kind)
    name = shape.summary_metric or shape.leading(result).name
    return next((row for row in result.estimates if row.name == name and not row.slice), None)
