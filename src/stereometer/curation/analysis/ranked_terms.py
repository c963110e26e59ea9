"""The most and least stereotyped terms of each domain for a run (Nadeem et al. 2021, Table 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stereometer.types import Estimate, Result

ENDS = 3


@dataclass(frozen=True)
class Term:
    """One row: a domain, or a term at one of its ends."""

    domain: str
    target: str
    """Empty in the row of the whole domain."""
    end: str
    """`domain`, `most` or `least`."""
    lms: Estimate
    ss: Estimate
    icat: Estimate


def table(result: Result, ends: int = ENDS) -> list[Term]:
    """Domains in their order, each with its `ends` highest and lowest terms by ss; where there are
    fewer, one half each, the middle with the highest."""
    by_place = {
        (estimate.name, *sorted(estimate.slice.items())): estimate for estimate in result.estimates
    }
    domains: dict[str, list[Estimate]] = {}
    for estimate in result.estimates:
        if "domain" in estimate.slice:
            scored = domains.setdefault(estimate.slice["domain"], [])
            is_term = estimate.name == "ss" and set(estimate.slice) == {"domain", "target"}
            if is_term and estimate.value is not None:
                scored.append(estimate)
    rows: list[Term] = []
    for domain, scored in sorted(domains.items()):
        scored.sort(key=lambda estimate: (-(estimate.value or 0.0), estimate.slice["target"]))
        ranked = [estimate.slice["target"] for estimate in scored]
        upper = min(ends, -(-len(ranked) // 2))
        least = ranked[max(upper, len(ranked) - ends) :]
        rows.append(_row(by_place, domain, "", "domain"))
        rows += [_row(by_place, domain, target, "most") for target in ranked[:upper]]
        rows += [_row(by_place, domain, target, "least") for target in least]
    return rows


def _row(by_place: Mapping[Any, Estimate], domain: str, target: str, end: str) -> Term:
    place = [("domain", domain), *([("target", target)] if target else [])]
    lms, ss, icat = (by_place[(name, *place)] for name in ("lms", "ss", "icat"))
    return Term(domain, target, end, lms, ss, icat)
