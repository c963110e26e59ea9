"""One set of items under many readings: specification curves, and what the choices do."""

from collections.abc import Iterable, Iterator, Sequence

from stereometer.core import catalog
from stereometer.core.files import read_json
from stereometer.core.runs import store
from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, Chart, Figure, Spec
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate, Result
from stereometer.report.charts import frame
from stereometer.report.charts.forest import Axis, preference_axis
from stereometer.report.sections.section import Section, drawn_from
from stereometer.report.systems import Group, System
from stereometer.report.tables import TESTED, Row, tabled, tested
from stereometer.wings.sweep import shape as sweep
from stereometer.wings.sweep import worded
from stereometer.wings.sweep.curve import orders

ABOUT = (
    "Each mark is one reading of the same items, with its interval; the dots under it say what was "
    "chosen. p is corrected by the largest t of the curve."
)
ORDERED = (
    "Which model is nearer to 50, reading by reading. Surely: beyond noise after Holm over the "
    "readings. The order changes where some readings say one thing and some the other."
)


class Swept(Section):
    speaks = False  # a curve speaks for itself, and there are several
    citation = (
        "Simonsohn, Simmons, Nelson (2020). Specification curve analysis. Nature Human Behaviour "
        "4. doi:10.1038/s41562-020-0912-z",
        "Joint test over readings",
    )

    def alike(self, result: Result) -> tuple[object, ...]:
        return (*super().alike(result), result.settings["shape"])

    def within(self, run: Run) -> Iterable[str]:
        """Dozens of wordings of one question would hide what they say together."""
        stored = run.folder / store.RUN
        worded = sweep.named(run.result, sweep.OVER) and stored.exists()
        return read_json(stored)["plan"]["runs"].values() if worded else ()

    def heading(self, group: Group) -> str:
        noun = catalog.shape(str(group.first.settings["shape"])).noun
        return f"{group.title}: {noun}s under every reading"

    def subtitle(self, group: Group) -> str:
        return f"{drawn_from(group)}{group.first.measure}"

    def lead(self, group: Group) -> Iterator[str]:
        for system in group.systems:
            for joint, rows in sweep.curves(system.result):
                first = sweep.closing(joint, rows).splitlines()[0]
                yield f"{system.label}, {sweep.headed(joint)}: {first}"

    def figures(self, group: Group) -> Iterator[Figure]:
        questions = {
            sweep.headed(joint): sweep.asks(system.result, joint)
            for system in group.systems
            for joint, _ in sweep.curves(system.result)
        }
        for number, (where, question) in enumerate(questions.items()):
            yield _curve(group, f"{group.id}-curve-{number}", where, question)
        yield _across(group)
        yield _orders(group)


def _curve(group: Group, id_: str, where: str, question: str) -> Figure:
    """One question: a chart for each system that has scores, and the numbers behind them."""
    charts: list[Chart] = []
    said: list[str] = []
    shown: list[Table] = []
    about = ABOUT
    for system in group.systems:
        for joint, every in sweep.curves(system.result):
            if sweep.headed(joint) == where:
                ways = sweep.ways_of(system.result, joint)
                rows = [row for row in every if row.value is not None]
                if any(row.value is not None for row in ways):
                    charts.append(worded.ways_chart(system, joint))
                elif rows:
                    charts.append(_chart(system, where, rows))
                lines = sweep.closing(joint, ways or every).splitlines()
                said += [f"{system.label}: {line}" for line in lines]
                readings, choices = _readings(system, every), _choices(system, joint, bool(ways))
                over = [worded.ways_table(system, joint), choices, readings]
                shown += over if ways else [readings, choices]
                about = worded.ABOUT if ways else ABOUT
    title = f"{where[:1].upper()}{where[1:]}: {question}"
    chooser = "System" if len(charts) > 1 else ""
    lead = (about, *said)
    return Figure(id_, title, lead, tuple(charts), tuple(shown), chooser, FILLS)


def _chart(system: System, where: str, rows: Sequence[Estimate]) -> Chart:
    spoken = "; ".join(f"{_named(row)}: {numbers.spoken(row)}" for row in rows)
    described = f"Preference under {len(rows)} readings of {where}, {system.label}. {spoken}."
    return Chart(system.label, described, specification(system, rows))


def _named(row: Estimate) -> str:
    """A reading by its measure and what was chosen."""
    chosen = [row.slice[name] for name in sweep.CHOICES if name in row.slice]
    return ", ".join((row.slice["measure"], *chosen))


def _readings(system: System, rows: Sequence[Estimate]) -> Table:
    heads = ("Reading", "#preference", "#interval", *TESTED, "#p alone", "#used of asked", "#ties")
    cells: list[Row] = []
    for row in rows:
        value = numbers.value(row), numbers.interval(row)
        counts = numbers.used(row), f"{row.ties:,}"
        cells.append((_named(row), *value, *tested(row), numbers.p_value(row.p), *counts))
    share, foot = system.find(sweep.SHARE, {key: rows[0].slice[key] for key in sweep.QUESTION}), ""
    if share is not None:
        percent = f"{numbers.number(share.value, 0)}{numbers.NO_BREAK}% of {share.n}"
        foot = f"Significant alone on one side: {percent}, joint {numbers.p_value(share.p)}."
    return tabled(heads, cells, f"Readings, {system.label}", foot)


SHIFTS = (
    "Between readings that differ in this choice alone, in points; the interval is of one shift at "
    "a time. A conclusion may change because there are fewer items, not because values move."
)
SHIFTS_OVER_WORDINGS = (
    "Between ways of asking that differ in this choice alone, in points, over items and wordings; "
    "least and most are of single pairs of ways."
)


def _choices(system: System, joint: Estimate, over_wordings: bool) -> Table:
    """Shifts over wordings are tested; of others it is said how often they change conclusions."""
    cells: list[Row] = []
    for row in sweep.within(system.result, joint, sweep.SHIFT):
        place = tuple(row.slice[name] for name in ("choice", "from", "to"))
        mean, least, most = (numbers.signed(v or 0) for v in (row.value, row.least, row.most))
        p = [numbers.p_value(row.p_adjusted)] if over_wordings else []
        changed = sweep.beside(system.result, row, sweep.CHANGES)
        share = [f"{numbers.number(changed.value, 0)}{numbers.NO_BREAK}%"] if changed else []
        cells.append((*place, mean, numbers.interval(row), *p, least, most, str(row.n), *share))
    p_head, share_head = (["#p, adjusted"], []) if over_wordings else ([], ["#conclusions changed"])
    moved = ("Choice", "from", "to", "#shift", "#interval")
    heads = (*moved, *p_head, "#least", "#most", "#pairs", *share_head)
    foot = SHIFTS_OVER_WORDINGS if over_wordings else SHIFTS
    return tabled(heads, cells, f"What the choices do, {system.label}", foot)


def _across(group: Group) -> Figure:
    """Different questions about the same items, with no test."""
    heads = ("System", "Question", "other", "#difference", "#interval", "#agree", "#used of asked")
    cells: list[Row] = []
    for system in group.systems:
        for row in sweep.named(system.result, sweep.DIFFERENCE):
            agree = system.find(sweep.AGREEMENT, row.slice)
            value = numbers.signed(row.value) if row.value is not None else row.why or ""
            same = "" if agree is None else numbers.both(agree)
            place = system.cell, sweep.headed(row), row.slice["other"]
            cells.append((*place, value, numbers.interval(row), same, numbers.used(row)))
    foot = (
        "The first way of asking each question, all items. The other less the first, in points, "
        "and the share of items on which both prefer the same side. Different questions have "
        "different answers: nothing is tested here."
    )
    shown = (tabled(heads, cells, "Different questions, one model", foot),) if cells else ()
    return Figure(f"{group.id}-across", "Across questions", tables=(*shown, *_others(group)))


def _others(group: Group) -> Iterator[Table]:
    """lms and icat under each way of asking, as its own run has them."""
    cells: list[Row] = []
    for system in group.systems:
        for row in (*sweep.named(system.result, "lms"), *sweep.named(system.result, "icat")):
            way = system.cell, sweep.headed(row), _named(row), row.name
            cells.append((*way, numbers.value(row), numbers.interval(row), numbers.used(row)))
    heads = ("System", "Question", "way", "metric", "#value", "#interval", "#used of asked")
    if cells:
        yield tabled(heads, cells, "lms and icat under each way of asking, all items by term")


def _orders(group: Group) -> Figure:
    """Every two systems, reading by reading."""
    swept = [system.run for system in group.systems if system.scores]
    labels = {system.result.model: system.cell for system in group.systems}
    heads = ("First", "Second", "Question", "#readings", "#first nearer", "#surely")
    cells: list[Row] = []
    for each in orders(swept, group.settings):
        place = labels[each.first], labels[each.second], each.where, str(each.readings)
        nearer = each.first_nearer, each.first_surely, each.second_nearer, each.second_surely
        cells.append((*place, *map(str, nearer), numbers.share(each.changes / each.readings)))
    columns = (*heads, "#second nearer", "#surely", "#order changes in")
    shown = (tabled(columns, cells, "Two systems under the same readings"),) if cells else ()
    return Figure(f"{group.id}-orders", "Does the order of systems hold?", (ORDERED,), tables=shown)


# ---------------------------------------------------------------------------- the chart of a curve

CURVE, STEP, GAP = 220, 19, 14
"""Pixels: of the curve, of a row of the dashboard, and between its choices."""
TICK = 10.0


def specification(system: System, readings: Sequence[Estimate]) -> Spec:
    """Readings with values, in the order in which they are drawn."""
    axis = preference_axis("preference", readings)
    low, high = axis.domain
    pixel = (high - low) / CURVE
    labels, dots, depth = _dashboard(readings, low, pixel)
    steps = range(int(-(-low // TICK)), int(high // TICK) + 1)
    ticks = {"title": None, "values": [TICK * step for step in steps], "grid": True}
    x = frame.quantity("place", (0.4, len(readings) + 0.6), None)
    y = frame.quantity("value", (low - depth * pixel, high), ticks)
    rows = [_mark(system, row, place) for place, row in enumerate(readings, 1)]
    ends = {"y": y | {"field": "low"}, "y2": {"field": "high"}}
    bar = {"type": "rule", "strokeWidth": 2, "opacity": 0.75}
    label = {"type": "text", "align": "right", "dx": -9, "color": frame.INK}
    side = {"type": "text", "align": "left", "dx": 4, "color": frame.MUTED}
    dot: Spec = {"type": "point", "filled": True, "opacity": 1}
    size = frame.plain("size") | {"type": "quantitative"}
    look = {"color": frame.plain("colour"), "tooltip": frame.TOOLTIP}
    layers = [
        frame.layer([{"value": value} for value in axis.lines], frame.DASHED, y=y),
        frame.layer(_sides(axis, pixel), side, x={"value": 0}, y=y, text=frame.words()),
        frame.layer(rows, bar, x=x, **ends, **look),
        *frame.points(rows, x, y),
        frame.layer(labels, label, x={"value": 0}, y=y, text=frame.words()),
        frame.layer(dots, dot, x=x, y=y, size=size, **look),
    ]
    return frame.spec(layers, CURVE + depth)


def _mark(system: System, row: Estimate, place: int) -> frame.Row:
    where = {"place": place, "value": row.value, "low": row.low, "high": row.high}
    tip = frame.tip(system, row, row.slice["measure"])
    return {**where, **frame.mark_of(system, row), "tip": tip}


def _sides(axis: Axis, pixel: float) -> list[frame.Row]:
    """What is measured and what the two ends of the scale mean, inside them."""
    (low, below, _), (high, above, _) = axis.words
    return [
        {"value": high - 8 * pixel, "label": f"{axis.title}: {above.replace('→', '↑')}"},
        {"value": low + 8 * pixel, "label": below.replace("←", "↓")},
    ]


DOTS = ({"size": 14, "colour": frame.LINE}, {"size": 62, "colour": frame.INK})
"""Of what was not chosen, and of what was."""


def _dashboard(
    readings: Sequence[Estimate], low: float, pixel: float
) -> tuple[list[frame.Row], list[frame.Row], int]:
    """Labels and dots, a row for each value of a choice that varies, and their pixels."""
    labels: list[frame.Row] = []
    dots: list[frame.Row] = []
    depth = 0
    for choice in sweep.varied(readings):
        depth += GAP
        for value in dict.fromkeys(row.slice.get(choice, "") for row in readings):
            depth += STEP
            at = low - (depth - STEP / 2) * pixel
            labels.append({"value": at, "label": f"{choice}: {value}"})
            for place, row in enumerate(readings, 1):
                look = DOTS[row.slice.get(choice, "") == value]
                dots.append({"place": place, "value": at, "tip": row.slice["measure"], **look})
    return labels, dots, depth + GAP


SECTION = Swept()
