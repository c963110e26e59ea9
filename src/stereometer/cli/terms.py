"""terms: target terms from an export of Wikidata."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json, OwnFile

if TYPE_CHECKING:
    from stereometer.curation.terms import Terms

SHOWN = 20


@command("Data", "terms query.csv --property P106 --out professions.csv")
def terms(
    *,
    file: Annotated[Path, "What the Wikidata query service exported: CSV, TSV or JSON."],
    property_: Annotated[
        str | None,
        typer.Option("--property", help="P106 (profession), P172 (race) or P140 (religion)."),
    ] = None,
    domain: Annotated[str | None, "The domain of the terms, in place of --property."] = None,
    language: Annotated[str, "Language whose word frequencies are taken."] = "en",
    column: Annotated[list[str] | None, "The column of labels: label=NAME."] = None,
    out: Annotated[Path | None, "Write the table to this CSV file."] = None,
    json: Json = False,
) -> None:
    """Turn an export of Wikidata into a table of target terms; rare and nested ones are flagged."""
    from stereometer.curation import terms as curation

    name = OwnFile(column).layout.columns.get("label")
    of = curation.domain_of(property_, domain)
    listed = curation.terms(file, of, curation.zipf_in(language), name)
    if out is not None:
        curation.write(out, listed.rows)
    render.document_or(json, listed, lambda: _print(listed))
    if out is not None:
        say(f"Written to {out}.")


def _print(listed: Terms) -> None:
    render.records(
        [
            {
                "term": row.target,
                "people": row.people,
                "frequency (Zipf)": row.zipf,
                "rare": "rare" if row.rare else "",
                "contains": row.contains,
            }
            for row in listed.rows[:SHOWN]
        ]
    )
    rare = sum(row.rare for row in listed.rows)
    nested = sum(bool(row.contains) for row in listed.rows)
    more = f" The first {SHOWN} are shown." if len(listed.rows) > SHOWN else ""
    render.line(
        f"{len(listed.rows)} terms: {rare} rare, {nested} with another term inside; "
        f"{listed.unlabelled} rows without a label left out.{more}"
    )
