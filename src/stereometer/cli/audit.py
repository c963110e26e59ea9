"""Known faults of items, and what they do to the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.cli.analyze import print_shifts, shift_words
from stereometer.show import numbers

if TYPE_CHECKING:
    from stereometer.curation.audit import Audit, Flagged, RunAudit, ShapeAudit

WARNING = " the examples state stereotypes about people, many of them offensive."
LEGEND = "Intervals are of one shift at a time, without correction for the number of shifts shown."


def print_audit(audited: Audit) -> None:
    flags = [flag for shape in audited.shapes for flag in shape.flags]
    if any(example.texts for flag in flags for example in flag.examples):
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
