"""aggregate: one label from what many people said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json


@command(
    "People",
    "aggregate labels.csv --items items.json --rule stereoset --out judged",
    "aggregate labels.csv --items pairs.csv --rule crows-pairs --out judged",
)
def aggregate(
    *,
    labels: Annotated[Path, "A table of labels: one row per person and what they judged."],
    items: Annotated[str, typer.Option(help="The items they are about: a file or a benchmark.")],
    rule: Annotated[
        str, typer.Option(help="stereoset, crows-pairs, or majority (its second validation).")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the items that are kept.")],
    agree: Annotated[int, "How many must agree on each association, under stereoset."] = 3,
    judges: Annotated[int, "How many people must have judged an item for it to be kept."] = 5,
    json: Json = False,
) -> None:
    """Turn labels of many people into items with one label each, by a published rule."""
    from stereometer.curation.aggregate.aggregation import aggregate as aggregated

    document = aggregated(labels, items, rule, out, agree, judges)
    if json:
        render.print_json(document)
        return
    say(f"{document['kept']} of {document['judged']} items are kept, in {document['file']}.")
    for reason, count in document["left_out"].items():
        say(f"{count} left out: {reason}.")
