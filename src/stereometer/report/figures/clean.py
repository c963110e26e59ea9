"""The shift from all items to those without a flag, for the systems whose runs were audited."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.core.shapes.differences import Shift
from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report.audited import Audited
from stereometer.report.charts.forest import AxisOf, Block, Line, forest
from stereometer.report.systems import Group, System
from stereometer.report.tables import Row, tabled

Audits = Sequence[tuple[System, Audited]]
ONE_AT_A_TIME = (
    "Intervals are of one shift at a time, without correction for the number of shifts shown."
)
LEAD = (
    "An audit flags items for what is known to go wrong in such sets. Each system is shown on all "
    "items and on those without a flag. Both share items, so what counts is the interval of the "
    "shift in the table, not whether the two bars overlap."
)


def clean(group: Group, axes: dict[str, AxisOf]) -> Figure:
    """Empty where no run was audited; `axes` are of the metrics shown."""
    id_, title = f"{group.id}-clean", "All items and clean items"
    audits = [(system, system.audit) for system in group.systems if system.audit]
    if not audits:
        return Figure(id_, title)
    charts = tuple(_chart(audits, name, axis) for name, axis in axes.items())
    counts = dict.fromkeys(f"{audit.clean:,} of {audit.items:,}" for _, audit in audits)
    errata = dict.fromkeys(f"errata {audit.errata}" for _, audit in audits if audit.errata)
    flags = dict.fromkeys(
        name for _, audit in audits for name in audit.counting if name in audit.flags
    )
    corrected = f", {numbers.listed(list(errata))}" if errata else ""
    silent = [system.label for system in group.systems if system.audit is None]
    lead = (
        LEAD,
        f"Clean: {numbers.listed(list(counts))} items{corrected}. "
        f"Flags that count: {', '.join(flags)}.",
        *([f"Not audited: {numbers.listed(silent)}."] if silent else []),
    )
    chooser = "Metric" if len(charts) > 1 else ""
    shown = _shifts(audits), _by_flag(audits)
    return Figure(id_, title, lead, charts, shown, chooser, group.legend)


def _chart(audits: Audits, name: str, axis: AxisOf) -> Chart:
    pairs = [
        (system, whole, kept)
        for system, audit in audits
        if (whole := system.find(name, {})) and (kept := _overall(audit, name))
    ]
    blocks = [
        Block(system.label, [_line("all items", system, whole), _line("clean items", system, kept)])
        for system, whole, kept in pairs
    ]
    said = "; ".join(
        f"{system.label} {numbers.spoken(whole)} on all items, {numbers.spoken(kept)} on clean ones"
        for system, whole, kept in pairs
    )
    scale = axis(name, [row for _, whole, kept in pairs for row in (whole, kept)])
    described = f"{name} on all items and on clean items, with intervals. {said}."
    return Chart(name, described, forest(blocks, scale))


def _line(label: str, system: System, estimate: Estimate) -> Line:
    return Line(label, [(system, estimate)], f"n{numbers.NO_BREAK}{estimate.n:,}")


def _overall(audit: Audited, name: str) -> Estimate | None:
    return next((row for row in audit.estimates if row.name == name and not row.slice), None)


def _shifts(audits: Audits) -> Table:
    """Every metric on all items and on clean ones, and the shift with its interval."""
    heads = ("#all items", "#n", "#clean items", "#n", "#shift", "#interval")
    rows: list[Row] = [
        (named(shift.slice), system.cell, shift.name, *_counted(shift), *_moved(shift))
        for system, audit in audits
        for shift in audit.shifts
    ]
    columns = ("Slice", "System", "metric", *heads)
    return tabled(columns, rows, "From all items to clean items", ONE_AT_A_TIME)


def _counted(shift: Shift) -> tuple[str, ...]:
    value, kept = numbers.number(shift.value), numbers.number(shift.kept)
    return value, f"{shift.n:,}", kept, f"{shift.n_kept:,}"


def _moved(shift: Shift) -> tuple[str, str]:
    if shift.difference is None:
        return "none", shift.why or ""
    return numbers.number(shift.difference), numbers.span(shift.low, shift.high)


def _by_flag(audits: Audits) -> Table:
    """Each flag: what it means, how many items it marks, and the shift without those items."""
    flags = {name: flag for _, audit in audits for name, flag in audit.flags.items()}
    columns = ("Flag", "#items", "System", "metric", "#shift", "#interval", "definition")
    rows: list[Row] = []
    for name, flag in flags.items():
        count = "not checked" if flag["count"] is None else f"{flag['count']:,}"
        moved: list[Row] = [
            (system.cell, shift.name, *_moved(shift))
            for system, audit in audits
            for shift in audit.by_flag.get(name, ())
        ]
        for index, cells in enumerate(moved or [("",) * 4]):
            definition = str(flag["definition"]) if index == 0 else ""
            rows.append((name, count, *cells, definition))
    caption = "Flags, and the overall shift when only the items of one are left out"
    return tabled(columns, rows, caption, ONE_AT_A_TIME)
