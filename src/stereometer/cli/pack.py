"""pack check: whether a folder is a pack, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.options import Data, Json
from stereometer.errors import DataError

if TYPE_CHECKING:
    from stereometer.benchmarks.packs.check import Checked


@command("Data", "pack check my-pack", "pack check my-pack --data crows_dutch.csv")
def check(
    *,
    folder: Annotated[Path, "A folder with pack.toml, or the name of a pack."],
    data: Data = None,
    json: Json = False,
) -> None:
    """Check a pack, and read its data if they are on this machine."""
    from stereometer import catalog
    from stereometer.benchmarks.packs.check import check as checked

    outcome = checked(catalog.pack(str(folder)), data)
    render.document_or(json, outcome, lambda: _print(outcome))
    if outcome.faults:
        raise DataError(
            f"{outcome.name} is not what its pack says: {'; '.join(outcome.faults)}. The file or "
            "the pack was changed. Fix pack.toml, or take the file it was made for."
        )


def _print(outcome: Checked) -> None:
    render.line(
        f" ({outcome.language}, {outcome.country}, {outcome.origin}, {outcome.licence})",
        bold=outcome.name,
    )
    if outcome.digest:
        render.line(f"read: {', '.join(outcome.files)}")
        render.line(f"types: {_counts(outcome.types)}")
        if outcome.skipped:
            render.line(f"cannot be scored: {_counts(outcome.skipped)}")
        render.line("what pack.toml may state:\n")
        render.line(_stated(outcome), soft_wrap=True)
    render.notes(outcome.notes)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _stated(outcome: Checked) -> str:
    """The lines to copy."""
    counts = ", ".join(f"{shape} = {count}" for shape, count in outcome.counts.items())
    files = [
        line
        for name, digest in zip(outcome.files, outcome.sha256, strict=False)
        for line in ("[[files]]", f'name = "{name}"', f'sha256 = "{digest}"', "")
    ]
    expect = ("[expect]", f"counts = {{ {counts} }}", f'digest = "{outcome.digest}"')
    return "\n".join((*files, *expect, "verified = true\n"))
