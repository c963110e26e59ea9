"""run: measure models on benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.bars import check, rules, stopping
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.jobs import carry_out
from stereometer.cli.options import (
    Choosing,
    Head,
    Holding,
    Json,
    Judging,
    Loading,
    NegativeLabel,
    OwnFile,
    Running,
    Serving,
    Slices,
    Spreading,
    opening,
)
from stereometer.errors import UsageError
from stereometer.types import Backend, Finished, Job, System


def _without_option(name: str | None) -> None:
    """`replay` has the option, so people try it here."""
    if name is not None:
        raise typer.BadParameter(
            f"`run` takes benchmarks without an option. Write `stereometer run {name} -m MODEL`."
        )


@command(
    "Measure",
    "run starter --model smollm2-135m",
    "run stereoset crows-pairs -m gpt2 -m ./my-model --out runs",
    "run stereoset -m bert-base-cased --like-paper",
    "run stereoset -m ./my-model --require 'icat>=70' --json",
    "run stereoset -m ./my-model --require '|ss-50|<=5' --until-decided",
    "run stereoset -m 'checkpoints/step*' --out runs --workers 4",
)
def run(
    *,
    benchmarks: Annotated[list[str], "Names (see `stereometer list`) or files of your own."],
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            help="A model or baseline, or a pattern for several, such as 'checkpoints/step*'; "
            "may be repeated.",
        ),
    ],
    name: Annotated[
        list[str] | None, "Name of the model in results; give one for each --model."
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(hidden=True, is_eager=True, callback=_without_option)
    ] = None,
    measure: Annotated[list[str] | None, "Measures; by default the benchmark's own."] = None,
    like_paper: Annotated[
        bool, "The measure of each benchmark's paper, as the authors computed it."
    ] = False,
    counting: Judging,
    running: Running,
    spreading: Spreading,
    within_word: Annotated[
        bool, "Pseudo-likelihood that also hides the later pieces of a word.", "Statistics"
    ] = False,
    loading: Loading,
    head: Head = None,
    negative_label: NegativeLabel = None,
    choosing: Choosing,
    own_file: OwnFile,
    serving: Serving,
    holding: Holding,
    slices: Slices = False,
    json: Json = False,
) -> None:
    """Measure one or more models on one or more benchmarks."""
    from stereometer.findings.gate.bearing import bearing
    from stereometer.runs.measure import by_benchmark, jobs_for, warned
    from stereometer.runs.models import open_for
    from stereometer.runs.open import check_names
    from stereometer.runs.series import members

    wanted, measures = rules(holding.require, holding.bars), measure or []
    settings = counting.settings
    stop = stopping(holding, wanted, running, spreading)
    settings = replace(settings, variant="paper") if like_paper else settings
    models = [member for spec in model for member in members(spec)]
    check_names([member.spec for member in models], measures)
    options = opening(
        loading,
        serving,
        head=str(head or ""),
        negative_label=negative_label,
        dry_run=running.dry_run,
    )
    asked = {"within_word": True} if within_word else {}
    choice = choosing.choice(counting.seed)
    called = _names(name or [], [member.spec for member in models])
    how = (settings, running.data, running.limit, asked, choice)
    parts = by_benchmark(benchmarks, measures, like_paper)

    def jobs_of(opened: Backend | System, label: str | None) -> list[Job]:
        rest = (*how, label, own_file.layout)
        return [job for part in parts for job in jobs_for(part[0], opened, part[1], *rest)]

    with spreading.engines() as engines:
        jobs = (
            member.job(job)
            for member, label in zip(models, called, strict=True)
            for opened in [open_for(engines, member.spec, counting.seed, options)]
            for job in map(stop, bearing(jobs_of(opened, label), wanted))
        )
        show = partial(_show, json=json, slices=slices)
        finished = carry_out(
            warned(jobs, say) if models[1:] else jobs, running, spreading, engines, json, show
        )
    if finished:
        check(finished, wanted)


def _names(names: Sequence[str], models: Sequence[str]) -> Sequence[str | None]:
    """What each model is called; None for its own name."""
    from stereometer.runs.series import names_for

    if names and len(names) != len(models):
        raise UsageError(
            f"--name is given {len(names)} times for {len(models)} models. It is not clear which "
            "model is meant. Give each --model its --name, or none."
        )
    return names or names_for(models)


def _show(finished: Sequence[Finished], json: bool, slices: bool) -> None:
    render.several([each.result for each in finished], json, slices)
    for each in finished:
        measure = f" ({each.result.measure})" if len(finished) > 1 else ""
        if each.result.stopped:
            say(each.result.notes[0].partition(". ")[0])
        say(f"Stored in {each.folder}{measure}")
