"""A result without what would give hidden items away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stereometer import catalog
from stereometer.types import Estimate, Result

WITHHELD = "Items are hidden, so rows of single terms are left out."


def shareable(result: Result) -> Result:
    """As it may be shown to others: the terms of hidden items name what is asked."""
    if not result.data["hidden"]:
        return result
    return replace(result, estimates=tuple(shown(result)), notes=(*result.notes, WITHHELD))


def shown(result: Result) -> Iterator[Estimate]:
    """The estimates of the first tables: not those of every single term."""
    shape = catalog.shape(result.kind)
    return (row for row in result.estimates if shape.headline_slice(row.slice))
