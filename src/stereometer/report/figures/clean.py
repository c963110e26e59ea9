"""What an audit says of a run's numbers, as it is kept beside the run: the shift from all items to
those without a flag."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.core.errors import DataError
from stereometer.core.files import read_json
from stereometer.core.runs.stored import Run
from stereometer.core.shapes.differences import Shift
from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report.charts.forest import AxisOf, Block, Line, forest
from stereometer.report.systems import Group, System
from stereometer.report.tables import Row, tabled

AUDIT, AUDIT_SCHEMA = "audit.json", "audit-of-run@1"
ONE_AT_A_TIME = (
    "Intervals are of one shift at a time, without correction for the number of shifts shown."
)
LEAD = (
    "An audit flags items for what is known to go wrong in such sets. Each system is shown on all "
    "items and on those without a flag. Both share items, so what counts is the interval of the "
    "shift in the table, not whether the two bars overlap."
)


@dataclass(frozen=True)
class Audited:
    """What `audit.json` beside a run holds."""

    items: int
    clean: int
    counting: Sequence[str]
    """The flags that make an item unclean."""
    errata: str | None
    flags: Mapping[str, Mapping[str, Any]]
    estimates: Sequence[Estimate]
    """Of the clean items."""
    shifts: Sequence[Shift]
    by_flag: Mapping[str, Sequence[Shift]]


Audits = Sequence[tuple[System, Audited]]


def load_audit(run: Run) -> Audited | None:
    """The audit of a run, where there is one; raises where it is of other items or damaged."""
    file = run.folder / AUDIT
    if not file.exists():
        return None
    value = read_json(file)
    if (
        not isinstance(value, dict)
        or value.get("schema") != AUDIT_SCHEMA
        or value.get("digest") != run.result.data.get("digest")
    ):
        raise DataError(
            f"{file} is not an audit of this run. It is of other items or another version. Run "
            "`stereometer audit` again."
        )
    try:
        return Audited(
            items=value["items"],
            clean=value["clean"],
            counting=value["counting"],
            errata=value["errata"],
            flags=value["flags"],
            estimates=[Estimate.from_json(row) for row in value["estimates"]],
            shifts=[Shift.from_json(row) for row in value["shifts"]],
            by_flag={
                flag: list(map(Shift.from_json, rows)) for flag, rows in value["by_flag"].items()
            },
        )
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is damaged: {error}. It was edited or cut off. Run `stereometer audit` again."
        ) from None


def clean(group: Group, axes: dict[str, AxisOf]) -> Figure:
    """Empty where no run was audited; `axes` are of the metrics shown."""
    id_, title = f"{group.id}-clean", "All items and clean items"
    audits = [(each, audit) for each in group.systems if (audit := load_audit(each.run))]
    if not audits:
        return Figure(id_, title)
    charts = tuple(_chart(audits, name, axis) for name, axis in axes.items())
    counts = dict.fromkeys(f"{audit.clean:,} of {audit.items:,}" for _, audit in audits)
    errata = dict.fromkeys(f"errata {audit.errata}" for _, audit in audits if audit.errata)
    flags = dict.fromkeys(
        name for _, audit in audits for name in audit.counting if name in audit.flags
    )
    corrected = f", {numbers.listed(list(errata))}" if errata else ""
    audited = {system.label for system, _ in audits}
    silent = [system.label for system in group.systems if system.label not in audited]
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
        for kept in audit.estimates
        if kept.name == name and not kept.slice and (whole := system.find(name, {}))
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


def _shifts(audits: Audits) -> Table:
    """Every metric on all items and on clean ones, and the shift with its interval."""
    heads = ("#all items", "#n", "#clean items", "#n", "#shift", "#interval")
    rows: list[Row] = [
        (
            *(named(shift.slice), system.cell, shift.name),
            *(numbers.number(shift.value), f"{shift.n:,}"),
            *(numbers.number(shift.kept), f"{shift.n_kept:,}"),
            *_moved(shift),
        )
        for system, audit in audits
        for shift in audit.shifts
    ]
    columns = ("Slice", "System", "metric", *heads)
    return tabled(columns, rows, "From all items to clean items", ONE_AT_A_TIME)


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
