"""Target terms from an export of Wikidata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.curation.terms import Terms

SHOWN = 20


def print_terms(listed: Terms) -> None:
    render.records(
        [
            {
                "term": row.target,
                "people": row.people,
                "frequency (Zipf)": row.zipf,
                "rare": "rare" if row.rare else "",
                "contains": row.contains,
            }
            for row in listed.terms[:SHOWN]
        ]
    )
    rare = sum(row.rare for row in listed.terms)
    nested = sum(bool(row.contains) for row in listed.terms)
    more = f" The first {SHOWN} are shown." if len(listed.terms) > SHOWN else ""
    render.line(
        f"{len(listed.terms)} terms: {rare} rare, {nested} with another term inside; "
        f"{listed.unlabelled} rows without a label left out.{more}"
    )
