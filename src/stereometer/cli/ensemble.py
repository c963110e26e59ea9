"""ensemble: several runs combined into one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stereometer.cli import render
from stereometer.cli.bars import check, rules
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Coverage, Drawing, Json, Out, Require


@command("Measure", "ensemble runs/bert runs/gpt2 --name both")
def ensemble(
    *,
    runs: Annotated[list[Path], "Folders of runs on the same items, measured alike."],
    variant: Annotated[
        str | None,
        "By default that of the runs: `sound` is a linear combination, "
        "`paper` the authors' pairwise winners.",
    ] = None,
    name: Annotated[str, "Name of the ensemble."] = "ensemble",
    weights: Annotated[
        list[str] | None,
        "Weights of a task in the order of the runs, such as 'intrasentence=1,2'; "
        "repeat for each task. By default fitted.",
    ] = None,
    folds: Annotated[
        int, "Parts of the target terms, each scored with weights fitted on the others."
    ] = 5,
    drawing: Drawing,
    coverage: Coverage = 0.90,
    out: Out = None,
    require: Require = None,
    json: Json = False,
) -> None:
    """Combine stored runs into a new one."""
    from stereometer.findings.ensemble.combine import combine, mean_weights

    wanted = rules(require)
    finished = combine(
        *runs,
        variant=variant,
        name=name,
        weights=weights or [],
        folds=folds,
        seed=drawing.seed,
        resamples=drawing.resamples,
        coverage=coverage,
        out=out,
    )
    render.result(finished.result, json)
    if not json:
        for task, by_member in mean_weights(finished.result).items():
            listed = ", ".join(f"{member} {weight:.4g}" for member, weight in by_member.items())
            render.line(f"weights, {task}: {listed}")
    say(f"Stored in {finished.folder}")
    check([finished], wanted)
