"""The most and least stereotyped terms of each domain for a run (Nadeem et al. 2021, Table 8), with what keeps them from being over-read."""

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
    """Domains in their order, each with its `ends` highest and lowest terms by ss; where there are fewer, one half each, the middle with the highest."""
    by_place = {(one.name, *sorted(one.slice.items())): one for one in result.estimates}
    rows: list[Term] = []
    for domain in sorted(
        {one.slice["domain"] for one in result.estimates if "domain" in one.slice}
    ):
        rows.append(_row(by_place, domain, "", "domain"))
        scored = [
            one
            for one in result.estimates
            if one.name == "ss"
            and set(one.slice) == {"domain", "target"}
            and one.slice["domain"] == domain
            and one.value is not None
        ]
        ranked = [
            one.slice["target"]
            for one in sorted(scored, key=lambda one: (-(one.value or 0.0), one.slice["target"]))
        ]
        upper = min(ends, -(-len(ranked) // 2))
        most, least = ranked[:upper], ranked[max(upper, len(ranked) - ends) :]
        rows += [_row(by_place, domain, target, "most") for target in most]
        rows += [_row(by_place, domain, target, "least") for target in least]
    return rows


def _row(by_place: Mapping[Any, Estimate], domain: str, target: str, end: str) -> Term:
    place = [("domain", domain), *([("target", target)] if target else [])]
    lms, ss, icat = (by_place[(name, *place)] for name in ("lms", "ss", "icat"))
    return Term(domain, target, end, lms, ss, icat)
