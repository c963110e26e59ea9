"""Tables: the numbers behind every picture, each with its denominator, interval, ideal and verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stereometer.findings.relate import Relation
from stereometer.findings.shift import Audited, Shift
from stereometer.report import numbers
from stereometer.report.sections import Section, System
from stereometer.report.slices import named
from stereometer.types import Estimate, Slice


@dataclass(frozen=True)
class Cell:
    text: str
    numeric: bool = False
    lines: tuple[str, ...] = ()
    """Smaller, below."""
    system: System | None = None
    """Whose mark stands before the text."""


@dataclass(frozen=True)
class Table:
    caption: str
    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """The first cell heads its row."""
    foot: str = ""


def text(value: str) -> Cell:
    return Cell(value)


def figure(value: str) -> Cell:
    return Cell(value, numeric=True)


def headline(section: Section) -> Table:
    """One row a system, one column a metric."""
    names = (
        ("ss", "lms", "icat")
        if section.shape == "cat"
        else ("pair_preference", "confidence_median_difference")
    )
    return _overall(section, names, f"Overall, {_level(section)} intervals in brackets")


def other_averages(section: Section) -> Table | None:
    """Averages that others print under the same words, here each under its own name."""
    names = tuple(
        name
        for name in ("ss_micro", "lms_micro", "icat_micro", "icat_term_mean")
        if section.slices(name)
    )
    return _overall(section, names, "Other averages over items and terms") if names else None


def _overall(section: Section, names: Sequence[str], caption: str) -> Table:
    present = [name for name in names if section.slices(name)]
    columns = (text("System"), *(_metric(section, name) for name in present))
    rows = tuple(
        (_system(system), *(_summary(system.find(name, {})) for name in present))
        for system in section.systems
    )
    return Table(caption, columns, rows)


def _metric(section: Section, name: str) -> Cell:
    one = next(found for system in section.systems if (found := system.find(name, {})))
    return Cell(LABELS.get(name, name), numeric=True, lines=(f"ideal {numbers.ideal(one)}",))


LABELS = {
    "confidence_median_difference": "confidence, difference of medians",
    "pair_preference": "pair preference, %",
}


def _system(system: System) -> Cell:
    return Cell(system.label, system=system)


def _summary(one: Estimate | None) -> Cell:
    """A value with all that is needed to read it, in one cell."""
    if one is None:
        return figure("not measured")
    if one.value is None:
        return Cell("no score", numeric=True, lines=(one.why or "", f"{numbers.used(one)} used"))
    tested = f", {numbers.p_value(one.p_adjusted)}" if one.p_adjusted is not None else ""
    published = (
        (f"published {numbers.number(one.published.value, numbers.places(one))}",)
        if one.published
        else ()
    )
    lines = (f"{numbers.verdict(one)}{tested}", _away(one), f"{numbers.used(one)} used", *published)
    return Cell(f"{numbers.value(one)} {numbers.interval(one)}", numeric=True, lines=lines)


def _away(one: Estimate) -> str:
    away = numbers.distance(one)
    return (
        f"{away} {numbers.ideal(one)}" if away.endswith(("above", "below")) else away or "no ideal"
    )


# --------------------------------------------------------------------------------- estimates in a list


def estimates(section: Section, name: str, slices: Iterable[Slice], caption: str) -> Table:
    """Every estimate of one metric, a row each."""
    found = [
        (system, slice_, one)
        for slice_ in slices
        for system in section.systems
        if (one := system.find(name, slice_))
    ]
    several, optional = len(section.systems) > 1, _optional([one for _, _, one in found])
    columns = [text("Slice"), *([text("System")] if several else []), *_columns(name, optional)]
    rows = [
        (text(named(slice_)), *([_system(system)] if several else []), *_fields(one, optional))
        for system, slice_, one in found
    ]
    sources = dict.fromkeys(one.published.source for _, _, one in found if one.published)
    foot = f"Published values: {numbers.listed(list(sources))}." if sources else ""
    return Table(caption, tuple(columns), tuple(rows), foot)


def _optional(found: Sequence[Estimate]) -> list[str]:
    """The columns that only some metrics have something for."""
    there = {
        "terms": any(one.terms is not None for one in found),
        "published": any(one.published for one in found),
    }
    return [name for name, known in there.items() if known]


def _columns(name: str, optional: Sequence[str]) -> list[Cell]:
    values = [figure(one) for one in (name, "interval", "ideal", "from ideal")]
    counts = [figure(one) for one in ("used of asked", "ties", *optional)]
    return [*values, text("verdict"), text("p, adjusted"), *counts]


def _fields(one: Estimate, optional: Sequence[str]) -> list[Cell]:
    """The cells under `_columns`."""
    published = numbers.number(one.published.value, numbers.places(one)) if one.published else ""
    more = {"terms": "" if one.terms is None else str(one.terms), "published": published}
    values = [
        figure(cell)
        for cell in (
            numbers.value(one),
            numbers.interval(one),
            numbers.ideal(one),
            numbers.distance(one),
        )
    ]
    counts = [
        figure(cell)
        for cell in (numbers.used(one), f"{one.ties:,}", *(more[name] for name in optional))
    ]
    return [*values, text(numbers.verdict(one)), text(numbers.adjusted(one)), *counts]


def correlations(found: Relation) -> Table:
    """Every correlation, and why one is missing; then the numbers they are of."""
    columns = (
        text("Across systems"),
        *map(figure, ("rho", "over systems", "over terms", "systems")),
        text("verdict"),
        text("p, adjusted"),
    )
    rows = [
        (
            text(f"{one.first} with {one.second}"),
            figure("none" if one.rho is None else numbers.number(one.rho, 2)),
            figure(_span(one.low, one.high) or one.interval),
            figure(_span(one.low_terms, one.high_terms)),
            figure(str(one.n)),
            text(one.why or one.verdict or ""),
            text("" if one.p_adjusted is None else numbers.p_value(one.p_adjusted)),
        )
        for one in found.correlations
    ]
    return Table("Spearman's rho across systems", columns, tuple(rows), _sizes(found))


def _span(low: float | None, high: float | None) -> str:
    return (
        ""
        if low is None or high is None
        else f"[{numbers.number(low, 2)},{numbers.NO_BREAK}{numbers.number(high, 2)}]"
    )


def _sizes(found: Relation) -> str:
    known = [
        f"{point.system} {f'{point.parameters / 1e6:,.0f} million parameters' if point.parameters else 'size not known'}"
        f"{f', {point.corpus_gb:g} GB' if point.corpus_gb else ''}{f' ({point.source})' if point.source else ''}"
        for point in found.points
    ]
    left = (
        f" Left out, for want of lms or ss: {numbers.listed(list(found.left_out))}."
        if found.left_out
        else ""
    )
    return f"Sizes: {'; '.join(known)}.{left}"


def shifts(found: Sequence[tuple[System, Audited]]) -> Table:
    """Every metric on all items and on clean ones, and the shift with its interval."""
    columns = (
        text("Slice"),
        text("System"),
        text("metric"),
        *map(figure, ("all items", "n", "clean items", "n", "shift", "interval")),
    )
    rows = [
        (
            text(named(one.slice)),
            _system(system),
            text(one.name),
            figure("none" if one.value is None else numbers.number(one.value)),
            figure(f"{one.n:,}"),
            figure("none" if one.kept is None else numbers.number(one.kept)),
            figure(f"{one.n_kept:,}"),
            *_moved(one),
        )
        for system, audit in found
        for one in audit.shifts
    ]
    return Table("From all items to clean items", columns, tuple(rows), ONE_AT_A_TIME)


ONE_AT_A_TIME = (
    "Intervals are of one shift at a time, without correction for the number of shifts shown."
)


def _moved(one: Shift) -> tuple[Cell, Cell]:
    if one.difference is None:
        return figure("none"), figure(one.why or "")
    span = (
        ""
        if one.low is None or one.high is None
        else f"[{numbers.number(one.low)},{numbers.NO_BREAK}{numbers.number(one.high)}]"
    )
    return figure(numbers.number(one.difference)), figure(span)


def shifts_by_flag(found: Sequence[tuple[System, Audited]]) -> Table:
    """Each flag: what it means, how many items it marks, and the overall shift without those items."""
    flags = {name: told for _, audit in found for name, told in audit.flags.items()}
    columns = (
        text("Flag"),
        figure("items"),
        text("System"),
        text("metric"),
        figure("shift"),
        figure("interval"),
        text("definition"),
    )
    rows = []
    for name, told in flags.items():
        head = text(name), figure("not checked" if told["count"] is None else f"{told['count']:,}")
        moved = [
            (_system(system), text(one.name), *_moved(one))
            for system, audit in found
            for one in audit.by_flag.get(name, ())
        ]
        for index, cells in enumerate(moved or [(text(""), text(""), figure(""), figure(""))]):
            rows.append((*head, *cells, text(str(told["definition"]) if index == 0 else "")))
    return Table(
        "Flags, and the overall shift when only the items of one are left out",
        columns,
        tuple(rows),
        ONE_AT_A_TIME,
    )


def terms(system: System, slices: Iterable[Slice], caption: str) -> Table:
    """Every target term of one system, most stereotyped first within its domain."""
    found = [one for slice_ in slices if (one := system.find("ss", slice_))]
    found.sort(key=lambda one: (one.slice["domain"], one.value is None, -(one.value or 0)))
    rows = [
        (text(one.slice["target"]), text(one.slice["domain"]), *_fields(one, [])) for one in found
    ]
    return Table(caption, (text("Term"), text("Domain"), *_columns("ss", [])), tuple(rows))


def _level(section: Section) -> str:
    return f"{float(section.first.settings.get('level', 0.95)):.0%}".replace(
        "%", f"{numbers.NO_BREAK}%"
    )
