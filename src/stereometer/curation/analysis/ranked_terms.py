"""The most and least stereotyped terms of each domain for a run (Nadeem et al. 2021, Table 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stereometer import catalog
from stereometer.types import Estimate, Result
from stereometer.types.document import Document

ENDS = 3


@dataclass(frozen=True)
class Term(Document):
    """One row: a domain, or a term at one of its ends."""

    domain: str
    target: str
    """Empty in the row of the whole domain."""
    end: str
    """`domain`, `most` or `least`."""
    estimates: Mapping[str, Estimate]
    """By metric, those of a first table that the result has."""
    ranked_by: str
    """The metric that leads the result."""

    @property
    def leading(self) -> Estimate | None:
        return self.estimates.get(self.ranked_by)

    def as_json(self) -> dict[str, Any]:
        value = super().as_json()
        estimates: dict[str, Any] = value.pop("estimates")
        del value["ranked_by"]
        return value | estimates


def table(result: Result, ends: int = ENDS) -> list[Term]:
    """Domains in their order, each with its `ends` highest and lowest terms by the leading metric;
    where there are fewer, one half each, the middle with the highest. Empty for shapes that do not
    count by term."""
    shape = catalog.shape(result.kind)
    if not shape.term_name:
        return []
    places: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in result.estimates:
        if set(row.slice) in ({shape.domains}, set(shape.term_by)):
            place = row.slice[shape.domains], row.slice.get(shape.term_name, "")
            places.setdefault(place, {})[row.name] = row
    headline = [metric.name for metric in shape.metrics_of(result) if metric.headline]
    by = shape.leading(result).name

    def term(domain: str, target: str, end: str) -> Term:
        here = places.get((domain, target), {})
        return Term(
            domain, target, end, {name: here[name] for name in headline if name in here}, by
        )

    rows: list[Term] = []
    for domain in sorted({domain for domain, _ in places}):
        ranked = _ranked({of: here for (place, of), here in places.items() if place == domain}, by)
        upper = min(ends, -(-len(ranked) // 2))
        rows.append(term(domain, "", "domain"))
        rows += [term(domain, target, "most") for target in ranked[:upper]]
        rows += [
            term(domain, target, "least") for target in ranked[max(upper, len(ranked) - ends) :]
        ]
    return rows


def _ranked(terms: Mapping[str, Mapping[str, Estimate]], by: str) -> list[str]:
    """Terms with a value, the highest first."""
    values = {
        target: here[by].value
        for target, here in terms.items()
        if target and by in here and here[by].value is not None
    }
    return sorted(values, key=lambda target: (-(values[target] or 0.0), target))
