"""Systems two at a time on the same items: what differs beyond noise, as a picture and a table."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.errors import UsageError
from stereometer.findings.compare import NO_DIFFERENCE, Compared, Difference, compared, kinds
from stereometer.report import numbers
from stereometer.report.charts import forest
from stereometer.report.charts.forest import Axis, Block, Line
from stereometer.report.charts.frame import Spec, outwards
from stereometer.report.figure import Chart, Figure
from stereometer.report.sections import Section, System
from stereometer.report.slices import named
from stereometer.report.tables import Table, figure, text
from stereometer.types import Estimate, Settings

FEW_SYSTEMS = 4
"""Up to this many, all pairs are shown; with more, each against the first."""


def differences(section: Section) -> Figure:
    """Nothing for a single system, or where the items' scores are not at hand."""
    try:
        pairs = _pairs(section)
    except UsageError:  # no item that both answered
        pairs = ()
    shown = tuple(_table(pair) for pair in pairs)
    against = (
        ""
        if len(section.systems) <= FEW_SYSTEMS
        else f" Each system is held against {section.systems[0].label}."
    )
    lead = (
        "Second minus first on the items that both answered, in points, with the same resamples for both: what the items have in common cancels. "
        f"A filled mark is a difference beyond noise after Holm over all pairs shown, a hollow one is not.{against}",
        *kinds([system.result for system in section.systems]),
        *map(_told, pairs),
    )
    charts = (Chart("", _described(pairs), _chart(section, pairs)),) if pairs else ()
    return Figure(f"{section.id}-differences", "Two systems on the same items", lead, charts, shown)


def _pairs(section: Section) -> tuple[Compared, ...]:
    scores = [system.run.scores for system in section.systems if system.run.scores is not None]
    if len(scores) < max(2, len(section.systems)):
        return ()
    kept = [system.result.settings for system in section.systems]
    settings = Settings(
        variant=section.variant,
        seed=int(kept[0].get("seed", 0)),
        resamples=int(kept[0].get("resamples", 10_000)),
        level=float(kept[0].get("level", 0.95)),
        coverage=min(float(one.get("coverage", 0.90)) for one in kept),
    )
    return compared(
        [system.label for system in section.systems], scores, settings, len(scores) <= FEW_SYSTEMS
    )


def _overall(pair: Compared) -> list[Difference]:
    return [one for one in pair.differences if not one.slice]


def _told(pair: Compared) -> str:
    said = [
        f"{one.name} {_change(one)}, {one.verdict} ({numbers.p_value(one.p_adjusted)})"
        for one in _overall(pair)
    ]
    flips = f"{numbers.count(len(pair.flips), 'item')} changed preference, {pair.toward_stereotype:,} toward the stereotype and {pair.toward_anti:,} away from it"
    return f"{pair.first} to {pair.second}: {'; '.join(said) or 'too few items were answered by both'}; {flips}."


def _change(one: Difference) -> str:
    return f"{_signed(one.difference)} [{_signed(one.low)},{numbers.NO_BREAK}{_signed(one.high)}]"


def _signed(value: float) -> str:
    shown = numbers.number(value)
    return shown if value <= 0 or shown == numbers.number(0.0) else f"+{shown}"


def _described(pairs: Sequence[Compared]) -> str:
    return f"Paired differences with intervals against 0. {' '.join(map(_told, pairs))} The tables below hold every slice."


def _chart(section: Section, pairs: Sequence[Compared]) -> Spec:
    by_label = {system.label: system for system in section.systems}
    blocks = [
        Block(
            f"{pair.first} → {pair.second}",
            [_line(pair, by_label[pair.second], one) for one in _overall(pair)],
        )
        for pair in pairs
    ]
    bounds = [
        abs(bound) for pair in pairs for one in _overall(pair) for bound in (one.low, one.high)
    ]
    half = outwards(bounds, 2, 4)
    axis = Axis(
        "difference, points",
        (-half, half),
        [0.0],
        [(-half, "← the second is lower", "left"), (half, "the second is higher →", "right")],
    )
    return forest.forest(blocks, axis)


def _line(pair: Compared, system: System, one: Difference) -> Line:
    estimate = Estimate(
        one.name, one.slice, one.difference, one.low, one.high, one.n, one.asked, 0, None,
        p=one.p, p_adjusted=one.p_adjusted, tests=one.tests, verdict=one.verdict,
    )  # fmt: skip
    tip = f"{pair.first} → {pair.second}\n{one.name} {_change(one)}\n{_verdict(pair, one)}, {numbers.p_value(one.p_adjusted)}"
    return Line(
        one.name,
        [(system, estimate)],
        f"n{numbers.NO_BREAK}{one.n:,}",
        one.verdict != NO_DIFFERENCE,
        tip,
    )


def _table(pair: Compared) -> Table:
    columns = (
        text("Slice"),
        text("metric"),
        *map(figure, ("n", pair.first, pair.second, "difference", "could be seen")),
        text("verdict"),
        text("p, adjusted"),
    )
    rows = [
        (
            text(named(one.slice)),
            text(one.name),
            figure(f"{one.n:,} of {one.asked:,}"),
            figure(numbers.number(one.first)),
            figure(numbers.number(one.second)),
            figure(_change(one)),
            figure(numbers.number(one.detectable)),
            text(_verdict(pair, one)),
            text(
                f"{numbers.p_value(one.p_adjusted)} ({'one test' if one.tests == 1 else f'Holm over {one.tests}'}; {one.test})"
            ),
        )
        for one in pair.differences
    ]
    foot = "Could be seen: the smallest true difference that one test, before correction, finds with 80 % power. Intervals are of one difference at a time."
    missing = "".join(f" {named(one.slice)}: not compared, {one.why}." for one in pair.withheld)
    return Table(f"{pair.first} and {pair.second}, by slice", columns, tuple(rows), foot + missing)


def _verdict(pair: Compared, one: Difference) -> str:
    if one.verdict == NO_DIFFERENCE:
        return one.verdict
    nearer = {
        "first": f"; {pair.first} is closer to {one.ideal:g}",
        "second": f"; {pair.second} is closer to {one.ideal:g}",
    }
    return one.verdict + nearer.get(one.closer, "")
