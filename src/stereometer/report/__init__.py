"""The report: stored runs as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer.errors import UsageError
from stereometer.files import replacing
from stereometer.findings.relate import read_facts, shipped_facts
from stereometer.report.load import groups_of
from stereometer.report.page import page

__all__ = ["write_report"]


def write_report(
    runs: Sequence[str | Path],
    output: str | Path = "stereometer-report.html",
    facts: str | Path | None = None,
) -> Path:
    """Write one self-contained HTML page of stored runs; gives its path.

    - `runs`: folders, result.json files, or folders of runs.
    - `output`: the file to write.
    - `facts`: a table of sizes (system, parameters, corpus_gb) for systems whose cards do not say.
    """
    if isinstance(runs, (str, Path)):
        runs = [runs]
    if not runs:
        raise UsageError(
            "No run is named. A report shows stored runs. Name the folders of runs, or a folder "
            "that holds them."
        )
    path = Path(output)
    known = dict(shipped_facts()) | (read_facts(Path(facts)) if facts is not None else {})
    html = page(groups_of(runs, known))
    with replacing(path) as out:
        out.write(html)
    return path
