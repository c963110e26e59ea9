"""The verb `gate`: whether stored runs may be released."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stereometer.core import catalog
from stereometer.core.files import replacing
from stereometer.core.gate.gate import Gate, gate_of
from stereometer.core.options import Resamples, Seed, verb
from stereometer.core.runs.stored import Stored


@verb
def gate(
    *runs: Annotated[Stored, "Folders of runs, or a folder that holds them."],
    bars: Annotated[
        str | Path,
        "A TOML file of bars on intervals and on differences from a baseline.",
    ] = Path("bars.toml"),
    against: Annotated[Stored | None, "The baseline's run, or a folder of its runs."] = None,
    junit: Annotated[str | Path | None, "Also write the outcomes as JUnit XML."] = None,
    summary: Annotated[
        str | Path | None,
        "Also add the outcomes to this Markdown file, such as GITHUB_STEP_SUMMARY.",
    ] = None,
    openmetrics: Annotated[str | Path | None, "Also write the numbers as OpenMetrics text."] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Gate:
    """Hold stored runs against the bars of a file."""
    outcome = gate_of(runs, bars, against, seed, resamples)
    write(outcome, junit, summary, openmetrics)
    return outcome


def write(
    gate: Gate,
    junit: str | Path | None = None,
    summary: str | Path | None = None,
    openmetrics: str | Path | None = None,
) -> None:
    """Every file that is asked for; a summary goes behind what others wrote there."""
    for name, path in (("junit", junit), ("openmetrics", openmetrics)):
        if path is not None:
            with replacing(Path(path)) as file:
                file.write(catalog.find("outcome", name)(gate))
    if summary is not None:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(catalog.find("outcome", "summary")(gate))
