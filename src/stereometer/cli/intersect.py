"""intersect: groups where they meet."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Cells, Counting, Json, Loading, Model, Out, names_in, opening


@dataclass(frozen=True)
class FewDraws(Counting):
    """Fewer resamples: there are many pairs of groups."""

    resamples: Annotated[int, "Bootstrap resamples."] = 2_000


@command("People", "intersect -m minilm-mlm --groups teenager,Asian,doctor,woman")
def intersect(
    *,
    model: Model,
    cells: Cells,
    measure: Annotated[str | None, "A measure of abc; by default SeT."] = None,
    rules: Annotated[
        Path | None,
        "A table `one, other` of groups or domains that do not combine, "
        "besides those excluded by default.",
    ] = None,
    expected: Annotated[
        Path | None,
        "A table `group, adjective`, or `group, dimension, side`, of what is expected to emerge.",
    ] = None,
    counting: FewDraws,
    out: Out = None,
    loading: Loading,
    json: Json = False,
) -> None:
    """Measure pairs of groups: which part dominates, and which traits emerge."""
    from stereometer.findings.intersect import intersect as verb

    finished = verb.intersect(
        model,
        groups=names_in(cells.groups),
        traits=cells.traits,
        templates=names_in(cells.templates) or verb.PAIR_TEMPLATES,
        measure=measure,
        rules=rules,
        expected=expected,
        out=out,
        **asdict(counting),
        **opening(loading),
    )
    render.result(finished.result, json)
    say(f"Stored in {finished.scores} (scores) and {finished.folder}")
