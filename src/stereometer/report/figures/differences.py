"""Systems two at a time on the same items: what differs beyond noise, as a picture and a table."""

from collections.abc import Iterator, Sequence

from stereometer.core.addendum import addenda
from stereometer.core.compare import Compared, pairs_among
from stereometer.core.errors import UsageError
from stereometer.core.runs.store import family_notes
from stereometer.core.shapes.differences import Difference
from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, Spec, sure
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report import tables
from stereometer.report.charts.forest import Axis, Block, Line, forest
from stereometer.report.charts.frame import outwards
from stereometer.report.systems import Group, System

FEW_SYSTEMS = 4
"""Up to this many, all pairs are shown; with more, each against the first."""
FOOT = (
    "Could be seen: the smallest true difference that the test finds with 80 % power after "
    "correction. Intervals are of one difference at a time."
)


def across(group: Group) -> Iterator[Figure]:
    """Systems two at a time, then what addenda say of all together."""
    yield differences(group)
    for each in addenda():
        yield from each.figures_across(group)


def differences(group: Group) -> Figure:
    """Empty for a single system, or where the items' scores are not at hand."""
    title = "Two systems on the same items"
    few = len(group.systems) <= FEW_SYSTEMS
    pairs = pairs_of(group, few)
    if not pairs:
        return Figure(f"{group.id}-differences", title)
    against = "" if few else f" Each system is compared with {group.systems[0].label}."
    said = [_summary(group, pair) for pair in pairs]
    lead = (
        "Second minus first on the items that both answered, in points, with the same resamples "
        f"for both: what the items have in common cancels.{against}",
        *family_notes([system.result for system in group.systems]),
        *said,
    )
    described = (
        f"Paired differences with intervals against 0. {' '.join(said)} "
        "The tables below hold every slice."
    )
    chart = Chart("", described, _chart(group, pairs))
    shown = tuple(_table(group, pair) for pair in pairs)
    return Figure(f"{group.id}-differences", title, lead, (chart,), shown, legend=group.legend)


def pairs_of(group: Group, every: bool, overall: bool = False) -> tuple[Compared, ...]:
    """Every two systems, or each with the first; none where scores are not at hand."""
    if len(group.systems) < 2 or len(group.sides) < len(group.systems):
        return ()
    try:
        return pairs_among(group.sides, group.settings, every, overall)
    except UsageError:  # a kind that is not compared, or systems with no item in common
        return ()


def _overall(pair: Compared) -> list[Difference]:
    return [row for row in pair.differences if not row.slice]


def _summary(group: Group, pair: Compared) -> str:
    changes = [
        f"{_change(group, row)}, {row.verdict} ({numbers.p_value(row.p_adjusted)})"
        for row in _overall(pair)
    ]
    flips = (
        f"; {numbers.count(len(pair.flips), 'item')} changed preference, "
        f"{pair.toward_stereotype:,} toward the stereotype and {pair.toward_anti:,} away from it"
        f"{pair.from_ties}"
        if group.shape.candidates
        else ""
    )
    said = "; ".join(changes) or "too few items were answered by both"
    return f"{pair.first} to {pair.second}: {said}{flips}."


def _change(group: Group, row: Difference) -> str:
    return f"{group.shape.metric(row.name).label} {_interval(group, row)}"


def _interval(group: Group, row: Difference) -> str:
    bounds = row.difference, row.low, row.high
    change, low, high = (numbers.signed(bound, group.digits(row.name)) for bound in bounds)
    return f"{change} [{low},{numbers.NO_BREAK}{high}]"


def _chart(group: Group, pairs: Sequence[Compared]) -> Spec:
    by_label = {system.label: system for system in group.systems}
    blocks = [
        Block(
            f"{pair.first} → {pair.second}",
            [_line(group, pair, by_label[pair.second], row) for row in _overall(pair)],
        )
        for pair in pairs
    ]
    overall = [row for pair in pairs for row in _overall(pair)]
    bounds = [abs(bound) for row in overall for bound in (row.low, row.high)]
    half = outwards(bounds, 2, 4) if max(bounds, default=1) >= 1 else outwards(bounds, 0.1, 0.1)
    sides = [(-half, "← the second is lower", "left"), (half, "the second is higher →", "right")]
    return forest(blocks, Axis("difference, points", (-half, half), [0.0], sides))


def _line(group: Group, pair: Compared, system: System, row: Difference) -> Line:
    change = row.difference, row.low, row.high
    estimate = Estimate(row.name, row.slice, *change, row.n, row.asked, 0, None)
    tip = (
        f"{pair.first} → {pair.second}\n{_change(group, row)}\n"
        f"{_verdict(pair, row)}, {numbers.p_value(row.p_adjusted)}"
    )
    note = f"n{numbers.NO_BREAK}{row.n:,}"
    label = group.shape.metric(row.name).label
    return Line(label, [(system, estimate)], note, sure(row.beyond_noise), tip)


def _table(group: Group, pair: Compared) -> Table:
    heads = ("#n", f"#{pair.first}", f"#{pair.second}", "#difference", "#could be seen")
    rows: list[tables.Row] = []
    for row in pair.differences:
        values = (row.first, row.second, row.detectable)
        first, second, seen = (numbers.number(v, group.digits(row.name)) for v in values)
        used = f"{row.n:,} of {row.asked:,}"
        over = numbers.tests(row.tests, row.correction)
        p = f"{numbers.p_value(row.p_adjusted)} ({over}; {row.test})"
        place = named(row.slice), group.shape.metric(row.name).label
        tested = _verdict(pair, row), p
        rows.append((*place, used, first, second, _interval(group, row), seen, *tested))
    missing = "".join(f" {named(row.slice)}: not compared, {row.why}." for row in pair.withheld)
    columns = ("Slice", "metric", *heads, *tables.TESTED)
    return tables.tabled(columns, rows, f"{pair.first} and {pair.second}, by slice", FOOT + missing)


def _verdict(pair: Compared, row: Difference) -> str:
    if not row.beyond_noise or row.closer == "neither":
        return row.verdict
    nearer = pair.first if row.closer == "first" else pair.second
    return f"{row.verdict}; {nearer} is closer to {row.ideal:g}"
