"""The verb `gate`: whether stored runs may be released."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stereometer.exports.outcomes import write
from stereometer.findings.gate.gate import gate_of
from stereometer.findings.gate.judge import Gate
from stereometer.options import Option, Resamples, Seed, verb
from stereometer.runs.stored import Stored


@verb
def gate(
    *runs: Annotated[
        Stored, Option("Folders of runs, or a folder that holds them.", words=list[Path])
    ],
    bars: Annotated[
        str | Path,
        Option("A TOML file of bars on intervals and on differences from a baseline.", words=Path),
    ] = Path("bars.toml"),
    against: Annotated[
        Stored | None, Option("The baseline's run, or a folder of its runs.", words=Path)
    ] = None,
    junit: Annotated[
        str | Path | None, Option("Also write the outcomes as JUnit XML.", words=Path)
    ] = None,
    summary: Annotated[
        str | Path | None,
        Option(
            "Also add the outcomes to this Markdown file, such as GITHUB_STEP_SUMMARY.", words=Path
        ),
    ] = None,
    openmetrics: Annotated[
        str | Path | None, Option("Also write the numbers as OpenMetrics text.", words=Path)
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Gate:
    """Hold stored runs against the bars of a file."""
    outcome = gate_of(runs, bars, against, seed, resamples)
    write(outcome, junit, summary, openmetrics)
    return outcome
