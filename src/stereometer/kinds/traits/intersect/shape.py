"""What happens where two groups meet, as a kind of result (Cao et al. 2022, section 5.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from stereometer.core.shapes.shape import NotCompared, Shape, metrics_beside
from stereometer.core.shapes.view import has, overall, used_cell
from stereometer.core.show import numbers
from stereometer.core.show.numbers import says, signed_interval, with_interval
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Estimate, Result, Score

ENUMERABLE = 11
"""Templates up to which all 2^k signs are tried: 2,048."""
FLIPS = 2000
"""Random ones, above."""
FALSE_DISCOVERY = 0.05
REACHABLE = 0.01
"""The share of all cells that may have to reach the least p before any of them emerges."""
DOMINATES = 0.1
"""The difference of tau from which a domain dominates, as in the paper."""
SHOWN = 10
"""Emergent traits in a first table; fifty are in the result."""
PROFILES = {
    "tau_first_part": "with its first part",
    "tau_second_part": "with its second part",
    "tau_closer_part": "with the closer part",
    "tau_reversed": "with the same the other way round",
}
SIDES = {"above": "above the larger part", "below": "below the smaller part"}
CAUTION = (
    "An emergent trait fits the pair better (or worse) than both parts; "
    "whether people think so is another question."
)


@dataclass(frozen=True)
class Domination:
    """A domain whose part pairs resemble more, by so much that it dominates the other."""

    winner: str
    loser: str
    by: float
    """The difference of tau."""
    sure: bool
    """Whether it is beyond noise."""


def domination(estimate: Estimate, level: float) -> Domination | None:
    """Which of two domains dominates, surely or not; None where neither does."""
    value = estimate.value or 0.0
    if abs(value) < DOMINATES:
        return None
    names = estimate.slice["domain"], estimate.slice["other_domain"]
    p = estimate.p_adjusted
    sure = p is not None and p < 1 - level
    return Domination(*(names if value > 0 else names[::-1]), abs(value), sure)


class Intersection(NotCompared, Shape):
    """A pair of groups beside its parts."""

    name = "intersection"
    places: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "dominance": ("domain", "other_domain"),
        "tau_with_domain": ("domain", "other_domain"),
    }
    slices = ("group", "adjective", "direction")
    noun = "emergent trait"
    of_runs = True
    fine = ("adjective",)
    metrics = metrics_beside(__file__)

    def is_whole(self, score: Score) -> bool:
        return "effect" in score.values and {"part", "p", "q"} <= score.derived.keys()

    def view(self, results: Sequence[Result]) -> View:
        if len(results) > 1 or not has(results, *PROFILES):
            return super().view(results)
        tables = [_profiles(results[0]), _dominance(results[0]), relations(results[0])]
        tables += [_emergent(results[0], *side) for side in SIDES.items()]
        legend = (*_expected(results[0]), CAUTION)
        return View("Where groups meet", parts=(*tables, *aside(*legend)))


def _profiles(result: Result) -> Table:
    estimates = overall(result)
    rows = [
        (text(label), used_cell(estimates[name]), text(_value(estimates[name])))
        for name, label in PROFILES.items()
    ]
    columns = (text("tau of a pair"), number("pairs"), text("mean over pairs"))
    return Table(columns, tuple(rows), "A pair's profile and its parts'")


def _value(estimate: Estimate) -> str:
    return f"none ({estimate.why})" if estimate.value is None else with_interval(estimate, 2)


def _dominances(result: Result) -> list[Estimate]:
    return [estimate for estimate in result.estimates if estimate.name == "dominance"]


def _dominance(result: Result) -> Table:
    rows = []
    for row in sorted(_dominances(result), key=lambda row: -abs(row.value or 0.0)):
        domains, used = f"{row.slice['domain']}, {row.slice['other_domain']}", used_cell(row).text
        rows.append(tuple(map(text, (domains, used, _value(row), says(row)))))
    titles = ("two domains", "pairs", "tau with the first less tau with the second", "says")
    caption = "Which domain dominates (a difference of 0.1 or more)"
    return Table(tuple(map(text, titles)), tuple(rows), caption)


def relations(result: Result) -> Table:
    """Which domains each dominates and is dominated by, as in the paper's Table A8."""
    level = float(result.settings["level"])
    pairs = _dominances(result)
    found = [known for row in pairs if (known := domination(row, level))]
    domains = dict.fromkeys(row.slice[at] for row in pairs for at in ("domain", "other_domain"))

    def named(pairs: Iterable[tuple[str, bool]]) -> str:
        return ", ".join(name if sure else f"({name})" for name, sure in pairs)

    rows = []
    for domain in domains:
        losers = named((each.loser, each.sure) for each in found if each.winner == domain)
        winners = named((each.winner, each.sure) for each in found if each.loser == domain)
        rows.append((text(domain), text(losers), text(winners)))
    titles = text("domain"), text("dominates"), text("dominated by")
    caption = "Domains by domination (in brackets: within noise, or not tested)"
    return Table(titles, tuple(rows), caption)


def _emergent(result: Result, direction: str, side: str) -> Table:
    cells = result.estimate("emergent_cells", direction=direction)
    count = f"no verdicts: {cells.why}"
    if cells.value is not None:
        count = f"{cells.value:.0f} of {cells.n} beyond noise (false-discovery rate 0.05)"
    rows = []
    for row in result.estimates:
        if row.name == "emergence" and row.slice.get("direction") == direction:
            ps = (numbers.number(p, 4) for p in (row.p, row.p_adjusted))
            size = signed_interval(row.value or 0.0, row.low, row.high, 3)
            place = row.slice.get("group", ""), row.slice.get("adjective", "")
            rows.append(tuple(map(text, (*place, size, *ps, row.verdict or ""))))
    caption = f"Traits that emerge, {side}: {count}"
    titles = ("pair", "adjective", f"beyond both (the first {SHOWN})", "p", "adjusted", "says")
    return Table(tuple(map(text, titles)), tuple(rows[:SHOWN]), caption)


def _expected(result: Result) -> Iterator[str]:
    """How many of the traits that were expected to emerge are listed, beside chance."""
    estimates = overall(result)
    for name in ("expected_precision", "expected_recall"):
        if estimate := estimates.get(name):
            chance = estimates.get(f"{name}_chance")
            beside = f", chance {chance.value:.2f}: {estimate.verdict}" if chance else ""
            used = f"{estimate.n} of {estimate.asked}"
            yield f"{name.replace('_', ' ')}: {_value(estimate)}, {used}{beside}"


def out_of_reach(templates: int, cells: int) -> str | None:
    """Why so few templates leave no verdict of any cell, if they do: their least p is too large to
    stand out among many."""
    least = 1 / 2**templates if templates <= ENUMERABLE else 1 / (FLIPS + 1)
    needed = least * cells / FALSE_DISCOVERY
    if needed <= REACHABLE * cells:
        return None
    return (
        f"of {templates} templates the least p is {least:.2g}, which {needed:,.0f} of {cells:,} "
        f"cells would have to reach before one emerges; take {ENUMERABLE} templates or more"
    )


SHAPE = Intersection()
