"""gate: whether stored runs may be released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.cli import render
from stereometer.cli.bars import raise_outcome
from stereometer.cli.command import command
from stereometer.cli.options import Drawing, Json
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.findings.gate.judge import Gate, Judged


@command(
    "Look",
    "gate runs/new --bars bars.toml",
    "gate runs/new --bars bars.toml --against runs/released --junit gate.xml",
)
def gate(
    *,
    runs: Annotated[list[Path], "Folders of runs, or a folder that holds them."],
    bars: Annotated[Path, "A TOML file of bars."] = Path("bars.toml"),
    against: Annotated[Path | None, "The baseline's run, or a folder of its runs."] = None,
    junit: Annotated[Path | None, "Also write the outcomes as JUnit XML."] = None,
    summary: Annotated[
        Path | None, "Also add the outcomes to this Markdown file, such as GITHUB_STEP_SUMMARY."
    ] = None,
    openmetrics: Annotated[Path | None, "Also write the numbers as OpenMetrics text."] = None,
    drawing: Drawing,
    json: Json = False,
) -> None:
    """Check stored runs against bars; exit code 0 if all are met, 5 if one is missed, 7 if one is
    undecided."""
    from stereometer.exports.outcomes import write
    from stereometer.findings.gate.gate import gate as held

    outcome = held(
        *runs, bars=bars, against=against, seed=drawing.seed, resamples=drawing.resamples
    )
    write(outcome, junit, summary, openmetrics)
    render.document_or(json, outcome, lambda: print_gate(outcome))
    raise_outcome(outcome)


def _cells(judged: Judged) -> tuple[Cell, ...]:
    used = number(f"{judged.n} of {judged.asked}", spare=1)
    return text(judged.outcome), text(judged.rule), text(judged.seen), used, text(judged.place)


def print_gate(gate: Gate) -> None:
    render.heading(f"{len(gate.judged)} bars", gate.outcome)
    columns = (text("outcome"), text("bar"), text("value"), number("n", spare=1), text("run"))
    render.table(Table(columns, tuple(map(_cells, gate.judged))))
