"""The seam: what writes stored runs in one format, and the verb that finds it by name.

The catalog names exporters under `exporter`; other packages add theirs as entry points in the group
`stereometer.exporters`. An exporter is a function of runs and a folder: it writes into the folder,
made where it is missing, and returns the files written. One that takes `items` can also write those
whose texts the run holds.

Runs are results, their folders and their scores, read one by one (`run.read()`). Texts of hidden
items are in none of them, their terms not in the results: an exporter must not read them from
anywhere else. It says what `metadata.measured` says, items used and asked, and the notes of the
result.
"""

from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from typing import Annotated

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.options import Option, verb
from stereometer.core.runs.stored import runs_of, shareable
from stereometer.core.types.shown import Told

FEW = 8
"""More files than these are counted, not named; --json names all."""


@verb
def export(
    exporter: Annotated[str, "The format, such as `csv`."],
    *runs: Annotated[str | Path, "Folders of runs, or a folder that holds them."],
    output: Annotated[
        str | Path, Option("The folder to write to.", flags=("--output", "-o"))
    ] = Path("stereometer-export"),
    items: Annotated[bool, "Also the items, where a format has a place for them."] = False,
) -> Told:
    """Write the numbers of stored runs for another program."""
    files = [str(file) for file in export_runs(exporter, runs, output, items=items)]
    few = len(files) <= FEW
    return Told(
        f"Written to {', '.join(files)}." if few else f"{len(files)} files in {output}.",
        schema="export@1",
        exporter=exporter,
        files=files,
    )


def export_runs(
    name: str, paths: Sequence[str | Path], folder: str | Path, *, items: bool = False
) -> list[Path]:
    """Stored runs, or folders of them, written by the exporter of this name."""
    exporter: Callable[..., list[Path]] = catalog.find("exporter", name)
    if items and "items" not in signature(exporter).parameters:
        raise UsageError(
            f"{name} holds no items. Only formats with a place for them do. Leave out --items."
        )
    runs = [shareable(run) for run in runs_of(paths)]
    return exporter(runs, Path(folder), **({"items": True} if items else {}))
