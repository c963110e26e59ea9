"""A run without what would give hidden items away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stereometer import catalog
from stereometer.runs.stored import Run
from stereometer.types import Estimate, Result

WITHHELD = "Items are hidden, so rows of single terms are left out."


def shareable(run: Run) -> Run:
    """As it may be shown to others: the terms of hidden items name what is asked."""
    result = run.result
    if not result.data["hidden"]:
        return run
    told = (*result.notes, WITHHELD)
    return replace(run, result=replace(result, estimates=tuple(shown(result)), notes=told))


def shown(result: Result) -> Iterator[Estimate]:
    """The estimates of the first tables: not those of every single term."""
    shape = catalog.shape(result.kind)
    return (row for row in result.estimates if shape.headline_slice(row.slice))
