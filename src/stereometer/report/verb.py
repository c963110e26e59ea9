"""The verb `report`: one self-contained page of stored runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from stereometer.core.options import Option, verb
from stereometer.core.runs.store import HOME
from stereometer.core.runs.stored import Stored
from stereometer.core.types.shown import Told
from stereometer.report import write_report
from stereometer.report.items import folder_of


@verb
def report(
    runs: Annotated[
        Sequence[Stored],
        Option(
            "Folders of runs, or a folder that holds them; by default stereometer-runs.",
            metavar="RUN",
            is_argument=True,
        ),
    ] = (),
    output: Annotated[str | Path, Option("The file to write.", flags=("--output", "-o"))] = Path(
        "stereometer-report.html"
    ),
) -> Told:
    """Write one self-contained HTML page."""
    written = write_report(list(runs) or [HOME], output)
    beside = folder_of(written)
    more = f" All items are in {beside}." if beside.exists() else ""
    return Told(
        f"Written to {written}.{more} Open it in any browser; it needs no network.",
        schema="report@1",
        file=str(written),
        bytes=written.stat().st_size,
    )
