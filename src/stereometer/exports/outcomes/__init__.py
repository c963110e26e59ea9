"""What a gate says, for the programs that watch a build: one file per format."""

from __future__ import annotations

from pathlib import Path

from stereometer.exports.outcomes.junit import junit
from stereometer.exports.outcomes.openmetrics import openmetrics
from stereometer.exports.outcomes.summary import summary
from stereometer.files import replacing
from stereometer.findings.gate.gate import Gate


def write(
    gate: Gate,
    junit_file: str | Path | None = None,
    summary_file: str | Path | None = None,
    openmetrics_file: str | Path | None = None,
) -> None:
    """Every file that is asked for; a summary goes behind what others wrote there."""
    for path, text in ((junit_file, junit), (openmetrics_file, openmetrics)):
        if path is not None:
            with replacing(Path(path)) as file:
                file.write(text(gate))
    if summary_file is not None:
        with Path(summary_file).open("a", encoding="utf-8") as file:
            file.write(summary(gate))
