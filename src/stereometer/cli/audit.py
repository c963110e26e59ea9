"""audit: known faults of items, and what they do to the numbers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.cli import render
from stereometer.cli.analyze import print_shifts, shift_words
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Benchmark, Data, Drawing, Json, Runs
from stereometer.show import numbers

if TYPE_CHECKING:
    from stereometer.curation.audit.audits import Audit, Flagged, RunAudit, ShapeAudit

WARNING = " the examples state stereotypes about people, many of them offensive."
LEGEND = "Intervals are of one shift at a time, without correction for the number of shifts shown."


@command("Data", "audit crows-pairs --run runs/mine", "audit my-pairs.csv --write clean")
def audit(
    *,
    name: Benchmark,
    data: Data = None,
    run: Runs = None,
    flag: Annotated[
        list[str] | None, "Only these flags make an item unclean; by default all."
    ] = None,
    ignore: Annotated[list[str] | None, "Flags that do not make an item unclean."] = None,
    agreement: Annotated[
        float, "Share of validators who must have given an item's own label."
    ] = 0.6,
    errata: Annotated[
        Path | None, "A list of items to drop, keep or correct: docs/howto/audit.md."
    ] = None,
    examples: Annotated[int, "Examples of each flag."] = 3,
    show_texts: Annotated[bool, "Show the texts of examples, many of them offensive."] = False,
    write: Annotated[Path | None, "Write the clean items to this folder, to run on."] = None,
    drawing: Drawing,
    json: Json = False,
) -> None:
    """Check items for known faults, and what those do to the numbers of runs."""
    from stereometer.curation import verbs

    audited = verbs.audit(
        name,
        data=data,
        run=run or (),
        flag=flag or (),
        ignore=ignore or (),
        agreement=agreement,
        errata=errata,
        examples=examples,
        show_texts=show_texts,
        write=write,
        **asdict(drawing),
    )
    render.document_or(json, audited, lambda: print_audit(audited, show_texts))
    for folder in run or []:
        say(f"Stored beside {folder}; `stereometer report` shows it.")
    if write is not None:
        say(f"Clean items are in {write}.")


def print_audit(audited: Audit, show_texts: bool = False) -> None:
    if show_texts:
        render.line(WARNING, bold="Content warning:")
    for shape in audited.shapes:
        items = f"{numbers.count(shape.items, 'item')} of shape {shape.shape}"
        counts = f"{items}: {shape.clean} clean, {shape.flagged} not"
        render.heading(f"{audited.benchmark} · {counts}")
        if audited.errata:
            render.line(
                f"errata {audited.errata}: {shape.dropped} dropped, "
                f"{shape.kept} kept whatever the flags say, {shape.corrected} corrected"
            )
        render.records([_row(flag, flag.name in audited.counting) for flag in shape.flags])
        _print_examples(shape)
        for run in shape.runs:
            _print_run(run, shape.shape)


def _row(flag: Flagged, counts: bool) -> dict[str, str]:
    return {
        "flag": flag.name,
        "items": "" if flag.count is None else str(flag.count),
        "": flag.why or ("" if counts else "does not count"),
    }


def _print_examples(shape: ShapeAudit) -> None:
    for flag in shape.flags:
        render.line(f": {flag.definition}", bold=flag.name, soft_wrap=True)
        for example in flag.examples:
            reason = f": {example.found}" if example.found else ""
            texts = "".join(f"\n      {key}: {text}" for key, text in example.texts.items())
            render.line(f"    {example.id}{reason}{texts}", soft_wrap=True)


def _print_run(run: RunAudit, kind: str) -> None:
    from stereometer import catalog

    metric = catalog.shape(kind).metric
    render.heading(f"all and clean items · {run.model} · {run.measure} · variant {run.variant}")
    print_shifts(run.shifts, "clean", kind)
    render.heading("overall, leaving out only the items of one flag")
    render.records(
        [
            {
                "flag": name,
                "metric": shift.name,
                "left": shift.n_kept,
                "shift": shift_words(shift, metric(shift.name).digits),
                "verdict": shift.verdict or "",
            }
            for name, shifts in run.by_flag.items()
            for shift in shifts
        ]
    )
    render.aside(LEGEND)
