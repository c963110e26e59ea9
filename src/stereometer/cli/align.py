"""align: a model's associations beside people's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Drawing, Json, Out, OwnFile, Traits, names_in


@command(
    "People",
    "align runs/abc --ratings ratings.csv",
    "align runs/abc --ratings qualtrics.csv --scale 1-7",
    "align runs/abc --ratings r.csv --column group=target,trait=item,rating=answer",
    "align runs/abc --ratings r.json --pilot",
    "align runs/abc --ratings ratings.csv --by race",
)
def align(
    *,
    run: Annotated[Path, "Folder of a run of abc."],
    ratings: Annotated[
        Path,
        typer.Option(
            help="Ratings: a table of participant, group, trait, rating; a table with one column "
            "per question, as Qualtrics exports it; the released JSON; or a run of `ask survey`."
        ),
    ],
    scale: Annotated[
        str, "Lowest and highest answer, such as 1-7, or all answers in words, with commas."
    ] = "0-100",
    own: OwnFile,
    questions: Annotated[
        Path | None,
        "A table of column, group, trait: what columns ask whose texts do not say it.",
    ] = None,
    templates: Annotated[list[str] | None, "Use only these templates of the run."] = None,
    pilot: Annotated[
        bool, "Choose at most two templates on the pilot groups; test on the others."
    ] = False,
    pilot_groups: Annotated[
        list[str] | None, "By default Asian, Black, Hispanic, immigrant."
    ] = None,
    groups: Annotated[
        Path | None, "Your table of groups, if the ratings use other names than the run."
    ] = None,
    traits: Traits = None,
    raters: Annotated[
        list[str] | None, "Only these raters, such as gender=woman; several must all hold."
    ] = None,
    by: Annotated[
        list[str] | None,
        "Also break results down by raters' own answers, such as race, or race,gender.",
    ] = None,
    demographics: Annotated[
        Path | None, "Table of those answers; by default demographics.csv beside the ratings."
    ] = None,
    drawing: Drawing,
    out: Out = None,
    json: Json = False,
) -> None:
    """Compare a run on groups and traits with people's ratings."""
    from stereometer.benchmarks.abc.items import Choice
    from stereometer.findings.align import align as verb

    finished = verb.align(
        run,
        ratings=ratings,
        scale=scale,
        column=own.layout.columns,
        encoding=own.layout.encoding,
        questions=questions,
        templates=names_in(templates),
        pilot=pilot,
        pilot_groups=names_in(pilot_groups),
        choice=Choice((str(groups),) if groups else (), traits),
        raters=names_in(raters),
        by=names_in(by),
        demographics=demographics,
        seed=drawing.seed,
        resamples=drawing.resamples,
        out=out,
        announce=say,
    )
    render.result(finished.result, json)
    say(f"Stored in {finished.folder}")
