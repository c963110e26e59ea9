"""split: dev and test parts of a data set."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Benchmark, Data, Json, OwnFile


@command("Data", "split stereoset --out parts --share 0.25")
def split(
    *,
    name: Benchmark,
    out: Annotated[Path, typer.Option(help="Folder for the parts.")],
    data: Data = None,
    own: OwnFile,
    share: Annotated[
        float, "Share of the items in dev, in whole target terms; the rest is test."
    ] = 0.25,
    seed: Annotated[int, "Seed of every random draw."] = 0,
    hide: Annotated[bool, "Mark test as hidden: runs on it keep no texts."] = True,
    json: Json = False,
) -> None:
    """Split a data set into dev and test, so that no target term is in both."""
    from stereometer.curation import split as curation

    split_as = partial(curation.split, column=own.layout.columns, encoding=own.layout.encoding)
    document = split_as(name, out, data=data, share=share, seed=seed, hide=hide)
    if json:
        render.print_json(document)
    else:
        render.records(
            [
                {
                    "part": f"{part['part']}{' (hidden)' if part['hidden'] else ''}",
                    "items": part["items"],
                    "terms": "" if part["terms"] is None else part["terms"],
                    "connected groups": part["connected"],
                    "file": part["file"],
                }
                for part in document["parts"]
            ]
        )
    say(f"Written to {out}. Licence: {document['licence']}.")
