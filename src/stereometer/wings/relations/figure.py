"""Across at least three systems: does ss rise with lms, and either with a model's size?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure, Spec
from stereometer.core.show.table import Table
from stereometer.report.charts.frame import DASHED, Row, layer, mark_of, points, quantity, spec
from stereometer.report.systems import Group, System
from stereometer.report.tables import TESTED, tabled
from stereometer.wings.relations.relate import Correlation, Relation, SystemPoint, related

SIZES = {"parameters": "size", "corpus_gb": "training text"}
LEAD = (
    "Each mark is a system; a larger mark is a larger model, one of unknown size has the smallest. "
    "rho is Spearman's rank correlation across the systems. Systems that share data or design are "
    "not independent, and a correlation is no cause."
)


def relation(group: Group) -> Figure:
    results = [system.result for system in group.systems]
    by_label = {system.label: system for system in group.systems}
    across = related(results, list(by_label), group.facts, group.settings)
    marks = [Mark(by_label[point.system], point) for point in across.points]
    known = [row for row in across.correlations if row.rho is not None]
    charts = []
    for row in known:
        title = f"{row.second} against {SIZES.get(row.first, row.first)}"
        charts.append(Chart(title, _summary(row), scatter(marks, row.first, row.second)))
    lead = (LEAD, *map(_summary, known[:1]))
    legend = tuple(system.key for system in group.systems)
    chooser = "Shown" if len(charts) > 1 else ""
    shown = (_table(across),) if known else ()
    about = f"{group.id}-relation", "Across systems", lead
    return Figure(*about, tuple(charts), shown, chooser, legend)


def _summary(row: Correlation) -> str:
    systems = numbers.span(row.low, row.high, 2)
    terms = numbers.span(row.low_terms, row.high_terms, 2)
    over = f" {systems} over systems" if systems else ""
    over += f", {terms} over {row.terms} target terms with the systems held fixed" if terms else ""
    count = numbers.count(row.n, "system")
    name = f"{row.second} with {SIZES.get(row.first, row.first)}"
    return f"{name}: rho {numbers.number(row.rho or 0.0, 2)}{over}, {count}: {row.verdict}."


def _table(across: Relation) -> Table:
    """Every correlation, and why one is missing; then the numbers they are of."""
    heads = ("Across systems", "#rho", "#over systems", "#over terms", "#systems")
    rows = []
    for row in across.correlations:
        rho = f"{row.first} with {row.second}", numbers.number(row.rho, 2)
        systems = numbers.span(row.low, row.high, 2) or row.interval
        terms = numbers.span(row.low_terms, row.high_terms, 2)
        said = row.why or row.verdict or "", numbers.p_value(row.p_adjusted)
        rows.append((*rho, systems, terms, str(row.n), *said))
    return tabled((*heads, *TESTED), rows, "Spearman's rho across systems", _sizes(across))


def _sizes(across: Relation) -> str:
    known = []
    for point in across.points:
        corpus = f", {point.corpus_gb:g} GB" if point.corpus_gb else ""
        source = f" ({point.source})" if point.source else ""
        known.append(f"{point.system} {_size(point)}{corpus}{source}")
    names = numbers.listed(list(across.left_out)) if across.left_out else ""
    left_out = f" Left out, without lms or ss: {names}." if names else ""
    return f"Sizes: {'; '.join(known)}.{left_out}"


def _size(point: SystemPoint) -> str:
    if not point.parameters:
        return "size not known"
    return f"{point.parameters / 1e6:,.0f} million parameters"


# ------------------------------------------------------------------------------------- the picture

HEIGHT = 330
SMALLEST, LARGEST = 60, 520
"""Areas of marks in square pixels; a system of unknown size has the smallest."""
TITLES = {
    "lms": "lms, % (ideal 100)",
    "ss": "ss, % (ideal 50)",
    "parameters": "parameters, millions",
    "corpus_gb": "training text, GB",
}
LOGARITHMIC = ("parameters", "corpus_gb")


@dataclass(frozen=True)
class Mark:
    system: System
    point: SystemPoint

    def value(self, name: str) -> float | None:
        value: float | None = getattr(self.point, name)
        return value / 1e6 if value is not None and name == "parameters" else value


def scatter(marks: Sequence[Mark], across: str, up: str) -> Spec:
    known = [mark for mark in marks if None not in (mark.value(across), mark.value(up))]
    sizes = _areas(known)
    rows = [_row(mark, across, up, sizes[mark.system.label]) for mark in known]
    x, y = _axis("x", across, known), _axis("y", up, known)
    reference = [{"y": 50.0}] if up == "ss" and _domain(up, known)[0] <= 50 else []
    area = {"field": "area", "type": "quantitative", "scale": None, "legend": None}
    return spec([layer(reference, DASHED, y=y), *points(rows, x, y, size=area)], HEIGHT)


def _areas(marks: Sequence[Mark]) -> dict[str, float]:
    """Larger models have larger marks, by the logarithm of their parameters."""
    sizes = {mark.system.label: mark.point.parameters for mark in marks}
    logs = {label: log10(size) for label, size in sizes.items() if size}
    low, high = min(logs.values(), default=0.0), max(logs.values(), default=0.0)
    shares = {label: (log - low) / (high - low or 1) for label, log in logs.items()}
    if low == high:
        shares = dict.fromkeys(logs, 0.5)
    return {label: SMALLEST + (LARGEST - SMALLEST) * shares.get(label, 0.0) for label in sizes}


def _row(mark: Mark, across: str, up: str, area: float) -> Row:
    point = mark.point
    tip = [mark.system.label, f"lms {point.lms:.1f}, ss {point.ss:.1f}", _size(point)]
    tip += [f"{point.corpus_gb:g} GB of training text"] if point.corpus_gb is not None else []
    place = {"x": mark.value(across), "y": mark.value(up), "area": area}
    return {**place, **mark_of(mark.system, "pale"), "tip": "\n".join(tip)}


def _axis(field: str, name: str, marks: Sequence[Mark]) -> Spec:
    axis: Spec = {"title": TITLES[name], "grid": field == "y", "tickCount": 6}
    if name not in LOGARITHMIC:
        return quantity(field, _domain(name, marks), axis)
    scale = {"type": "log", "domain": list(_domain(name, marks)), "nice": False}
    return quantity(field, (0, 1), axis | {"format": ",~g"}) | {"scale": scale}


def _domain(name: str, marks: Sequence[Mark]) -> tuple[float, float]:
    """Room on both sides: whole fives for percentages, a part of a decade for sizes."""
    values = [value for mark in marks if (value := mark.value(name)) is not None]
    low, high = min(values), max(values)
    if name in LOGARITHMIC:
        return low / 1.6, high * 1.6
    return max(0.0, 5.0 * floor((low - 1) / 5)), min(100.0, 5.0 * ceil((high + 1) / 5))
