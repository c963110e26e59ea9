"""The report: stored runs as one HTML file; what a browser could not hold is in files beside it."""

from collections.abc import Sequence
from pathlib import Path

from stereometer.core.errors import UsageError
from stereometer.core.files import replacing
from stereometer.core.runs.store import HOME, RESULT, RUN, SCORES
from stereometer.core.runs.stored import Stored
from stereometer.core.types import Result
from stereometer.report.items import write_beside
from stereometer.report.load import groups_of
from stereometer.report.page import page
from stereometer.report.system_facts import read_facts, shipped_facts

__all__ = ["write_report"]


def write_report(
    runs: Sequence[Stored] | str | Path | Result = (HOME,),
    output: str | Path = "stereometer-report.html",
    facts: str | Path | None = None,
) -> Path:
    """Write one self-contained HTML page of stored runs; gives its path. Where there are more items
    or systems than a page can show, all of them are in CSV files in a folder beside it. `facts` is
    a table of sizes (system, parameters, corpus_gb) for systems whose cards do not say."""
    if isinstance(runs, (str, Path, Result)):
        runs = [runs]
    if not runs:
        raise UsageError(
            "No run is named. A report shows stored runs. Name the folders of runs, or a folder "
            "that holds them."
        )
    path = Path(output)
    if path.name in (RESULT, SCORES, RUN):
        raise UsageError(
            f"{path} is the name of a part of a run. A report must not take its place. "
            "Choose another name, such as report.html."
        )
    known = dict(shipped_facts()) | (read_facts(Path(facts)) if facts is not None else {})
    groups = groups_of(runs, known)
    html = page(groups, write_beside(path, [group for _, group in groups]))
    with replacing(path) as out:
        out.write(html)
    return path
