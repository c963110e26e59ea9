"""What happens where two groups meet, as a kind of result (Cao et al. 2022, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from stereometer.core.shapes.shape import NotCompared, Shape, metrics_beside
from stereometer.core.shapes.view import has, overall, used_cell
from stereometer.core.show import numbers
from stereometer.core.show.numbers import says, signed_interval, with_interval
from stereometer.core.show.table import Cell, Table, number, text
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
    sure: bool
    """Whether the difference is beyond noise."""


def domination(estimate: Estimate, level: float) -> Domination | None:
    """Which of two domains dominates, surely or not; None where neither does."""
    value = estimate.value or 0.0
    if abs(value) < DOMINATES:
        return None
    names = estimate.slice["domain"], estimate.slice["other_domain"]
    winner, loser = names if value > 0 else names[::-1]
    p = estimate.p_adjusted
    return Domination(winner, loser, p is not None and p < 1 - level)


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


def _dominance(result: Result) -> Table:
    estimates = [estimate for estimate in result.estimates if estimate.name == "dominance"]
    rows = [
        (
            text(f"{estimate.slice['domain']}, {estimate.slice['other_domain']}"),
            text(f"{estimate.n} / {estimate.asked}"),
            text(_value(estimate)),
            text(says(estimate)),
        )
        for estimate in sorted(estimates, key=lambda estimate: -abs(estimate.value or 0.0))
    ]
    titles = ("two domains", "pairs", "tau with the first less tau with the second", "says")
    caption = "Which domain dominates (a difference of 0.1 or more)"
    return Table(tuple(map(text, titles)), tuple(rows), caption)


def relations(result: Result) -> Table:
    """Which domains each dominates and is dominated by, as in the paper's Table A8."""
    level = float(result.settings["level"])
    rows = [row for row in result.estimates if row.name == "dominance"]
    dominations = [known for row in rows if (known := domination(row, level))]
    domains = dict.fromkeys(row.slice[at] for row in rows for at in ("domain", "other_domain"))

    def named(pairs: Iterable[tuple[str, bool]]) -> str:
        return ", ".join(name if sure else f"({name})" for name, sure in pairs)

    cells = [
        (
            domain,
            named((each.loser, each.sure) for each in dominations if each.winner == domain),
            named((each.winner, each.sure) for each in dominations if each.loser == domain),
        )
        for domain in domains
    ]
    titles, body = ("domain", "dominates", "dominated by"), (tuple(map(text, row)) for row in cells)
    caption = "Domains by domination (in brackets: within noise, or not tested)"
    return Table(tuple(map(text, titles)), tuple(body), caption)


def _emergent(result: Result, direction: str, side: str) -> Table:
    cells = result.estimate("emergent_cells", direction=direction)
    listed = [
        estimate
        for estimate in result.estimates
        if estimate.name == "emergence" and estimate.slice.get("direction") == direction
    ]
    count = (
        f"no verdicts: {cells.why}"
        if cells.value is None
        else f"{cells.value:.0f} of {cells.n} beyond noise (false-discovery rate 0.05)"
    )
    caption = f"Traits that emerge, {side}: {count}"
    titles = ("pair", "adjective", f"beyond both (the first {SHOWN})", "p", "adjusted", "says")
    rows = tuple(_emergence(estimate) for estimate in listed[:SHOWN])
    return Table(tuple(map(text, titles)), rows, caption)


def _emergence(estimate: Estimate) -> tuple[Cell, ...]:
    ps = (numbers.number(p, 4) for p in (estimate.p, estimate.p_adjusted))
    place = (estimate.slice.get(name, "") for name in ("group", "adjective"))
    size = signed_interval(estimate.value or 0.0, estimate.low, estimate.high, 3)
    return tuple(map(text, (*place, size, *ps, estimate.verdict or "")))


def _expected(result: Result) -> Iterator[str]:
    """How many of the traits that were expected to emerge are listed, beside chance."""
    estimates = overall(result)
    for name in ("expected_precision", "expected_recall"):
        estimate, chance = estimates.get(name), estimates.get(f"{name}_chance")
        if estimate is not None:
            beside = ""
            if chance is not None and chance.value is not None:
                beside = f", chance {chance.value:.2f}: {estimate.verdict}"
            used = f"{estimate.n} of {estimate.asked}"
            yield f"{name.replace('_', ' ')}: {_value(estimate)}, {used}{beside}"


def least_p(templates: int) -> float:
    """The smallest p that so many templates can give: few cannot stand out among many cells."""
    return 1 / 2**templates if templates <= ENUMERABLE else 1 / (FLIPS + 1)


def out_of_reach(templates: int, cells: int) -> str | None:
    """Why so few templates leave no verdict of any cell, if they do."""
    least = least_p(templates)
    needed = least * cells / FALSE_DISCOVERY
    if needed <= REACHABLE * cells:
        return None
    return (
        f"of {templates} templates the least p is {least:.2g}, which {needed:,.0f} of {cells:,} "
        f"cells would have to reach before one emerges; take {ENUMERABLE} templates or more"
    )


SHAPE = Intersection()
