"""Where groups meet: profiles of pairs of groups beside those of their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stereometer.report.charts.domination import Arrow, domination
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System
from stereometer.report.tables import TESTED, Row, tabled, tested
from stereometer.shapes.intersection import domination as domination_of
from stereometer.shapes.intersection import relations
from stereometer.show import numbers
from stereometer.show.figure import Chart, Figure
from stereometer.show.table import Table
from stereometer.types import Estimate

PARTS = {
    "tau_first_part": "first part",
    "tau_second_part": "second part",
    "tau_closer_part": "closer part",
    "tau_reversed": "the other order",
}


class Meeting(Section):
    title = "Where groups meet"
    speaks = False  # there are three questions, and no number answers them all

    def lead(self, group: Group) -> Iterable[str]:
        yield (
            "Profiles of pairs of groups beside those of their parts. A trait emerges where the "
            "pair is beyond both parts. That is a fact about words in templates; whether people "
            "have such a stereotype of the pair is another question."
        )

    def figures(self, group: Group) -> Iterator[Figure]:
        for index, system in enumerate(group.systems):
            yield _domination(group, system, index)
            yield _emergent(group, system, index)


def _domination(group: Group, system: System, index: int) -> Figure:
    rows = [row for row in system.named("dominance") if row.value is not None]
    pairs = [(row.slice["domain"], row.slice["other_domain"]) for row in rows]
    domains = list(dict.fromkeys(name for pair in pairs for name in pair))
    arrows = [arrow for row in rows if (arrow := _arrow(row, group.settings.level))]
    order = "; ".join(
        f"{words} {numbers.both(row, 2)}"
        for name, words in PARTS.items()
        if (row := system.find(name, {}))
    )
    lead = (
        f"{system.label}. Mean tau of a pair's profile with that of its {order}.",
        "An arrow leads from the domain whose part a pair resembles more, by 0.1 or more in tau, "
        "to the one it resembles less; dashed where the difference is within noise after Holm's "
        "correction, or where a domain has too few groups to say.",
    )
    said = "; ".join(arrow.tip for arrow in arrows) or "no domain dominates another"
    described = f"Which domains dominate which for {system.label}: {said}."
    charts = (Chart(system.label, described, domination(domains, arrows)),)
    title = f"Which domain dominates, {system.label}"
    shown = charts if len(domains) > 1 else ()
    listed = relations(system.result), _dominance(rows)
    return Figure(f"{group.id}-domination-{index}", title, lead, shown, listed)


def _dominance(rows: Iterable[Estimate]) -> Table:
    heads = ("Two domains", "#difference of tau", "#interval", "#pairs", *TESTED)
    cells: list[Row] = []
    for row in rows:
        values = numbers.number(row.value, 2), numbers.interval(row, 2), numbers.used(row)
        domains = f"{row.slice['domain']}, {row.slice['other_domain']}"
        cells.append((domains, *values, *tested(row)))
    return tabled(heads, cells, "Dominance between domains")


def _arrow(row: Estimate, level: float) -> Arrow | None:
    """Where one of the two dominates, surely or not."""
    known = domination_of(row, level)
    if known is None:
        return None
    tip = f"{known.winner} over {known.loser} by {numbers.number(abs(row.value or 0), 2)}"
    return Arrow(known.winner, known.loser, known.sure, tip)


def _emergent(group: Group, system: System, index: int) -> Figure:
    heads = ("Pair", "Adjective", "Side", "#beyond both parts by", "#the nearer part", "#p")
    rows: list[Row] = []
    for score in system.scores:
        if score.skipped is None:
            place = (score.slices[name] for name in ("group", "adjective", "direction"))
            size = (numbers.number(v, 3) for v in (score.values["effect"], score.derived["part"]))
            p = (numbers.number(score.derived[name], 4) for name in ("p", "q"))
            rows.append((*place, *size, *p))
    counts = [
        f"{numbers.number(row.value, 0)} of {row.n:,} {row.slice['direction']}"
        for row in system.named("emergent_cells")
        if row.value is not None
    ]
    why = next((row.why for row in system.named("emergent_cells") if row.why), None)
    beyond = f"Beyond noise, with the false-discovery rate held at 0.05: {'; '.join(counts)}."
    lead = (
        "Pairs whose score for an adjective is above the larger, or below the smaller, of its "
        "parts', more than the pair's adjectives are on average. "
        f"{f'There are no verdicts: {why}.' if why else beyond}",
    )
    table = tabled((*heads, "#adjusted"), rows, f"The first of each side, {system.label}")
    title = f"Traits that emerge, {system.label}"
    return Figure(f"{group.id}-emergent-{index}", title, lead, (), (table,))


SECTION = Meeting()
