"""replay: measure from scores, or read answers, that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.ask import print_asked
from stereometer.cli.bars import check, rules
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Comments, Data, Json, Judging, Out, Require, Slices


@command(
    "Measure",
    "replay predictions.json --benchmark stereoset",
    "replay samples_stereometer.jsonl --format lm-eval --benchmark starter",
    "replay answers.csv --benchmark ethos --setting zero-shot --column answer=reply",
)
def replay(
    *,
    file: Annotated[
        Path,
        "StereoSet predictions, the CSV of the CrowS-Pairs script, or JSONL of "
        "log-probabilities; with --setting, a table of answers.",
    ],
    benchmark: Annotated[str, typer.Option(help="The benchmark that was measured.")],
    data: Data = None,
    name: Annotated[str | None, "Name of the system; by default from the file's name."] = None,
    measure: Annotated[
        str | None, "The measure the scores are of, so that runs of it can be compared."
    ] = None,
    setting: Annotated[
        str | None, "Read the file as answers to this setting: zero-shot, one-shot ..."
    ] = None,
    harness: Annotated[
        str | None,
        typer.Option("--format", help="Whose per-item file it is: lm-eval, inspect or eee."),
    ] = None,
    comments: Comments,
    counting: Judging,
    out: Out = None,
    require: Require = None,
    slices: Slices = False,
    json: Json = False,
) -> None:
    """Measure from scores, or read answers, that were made elsewhere."""
    from stereometer.findings.gate.bearing import bearing
    from stereometer.runs.execute import execute
    from stereometer.runs.replay import answers_job, replay_job
    from stereometer.runs.store import place_of
    from stereometer.shapes.comment.settings import setting_of
    from stereometer.systems.answers import answer_columns

    wanted, settings, layout = rules(require), counting.settings, comments.layout
    if setting:
        columns, words = answer_columns(comments.pairs, layout.encoding), comments.words or None
        asked = setting_of(setting)
        job = answers_job(file, asked, settings, columns, benchmark, words, name, comments.neither)
    else:
        job = replay_job(file, benchmark, data, settings, name, measure, harness, layout)
    bearing([job], wanted)
    finished = execute(job, place_of(job, out))
    if setting:
        print_asked([finished], json, slices=slices)
    else:
        render.result(finished.result, json, slices)
        say(f"Stored in {finished.folder}")
    check([finished], wanted)
