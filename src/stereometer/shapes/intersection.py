"""What happens where two groups meet, as a kind of result (Cao et al. 2022, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.shapes.metric import Metric
from stereometer.shapes.overview import Overview, has, overall, used_cell
from stereometer.shapes.shape import NotCompared, Shape
from stereometer.show import numbers
from stereometer.show.numbers import says, with_interval
from stereometer.show.table import Cell, Table, number, text
from stereometer.types import Estimate, Result, Score

ENUMERABLE = 11
"""Templates up to which all 2^k signs are tried: 2,048."""
FLIPS = 2000
"""Random ones, above."""
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


class Intersection(NotCompared, Shape):
    """A pair of groups beside its parts."""

    name = "intersection"
    slices = ("group", "adjective", "direction")
    noun = "emergent trait"
    fine = ("adjective",)
    metrics = (
        Metric(
            "tau_first_part",
            "tau with the first part",
            digits=3,
            headline=True,
            about="Mean tau of a pair's profile with that of its first group.",
        ),
        Metric(
            "tau_second_part",
            "tau with the second part",
            digits=3,
            headline=True,
            about="Mean tau of a pair's profile with that of its second group.",
        ),
        Metric(
            "tau_closer_part",
            "tau with the closer part",
            digits=3,
            headline=True,
            about="Mean tau of a pair's profile with the closer of its groups.",
        ),
        Metric(
            "tau_reversed",
            "tau with the reversed pair",
            digits=3,
            headline=True,
            about="Mean tau of a pair's profile with that of the same groups in the other order.",
        ),
        Metric(
            "tau_with_domain",
            "tau with the domain",
            digits=3,
            about="Mean tau of the pairs of two domains with the part of one of them.",
        ),
        Metric(
            "dominance",
            "dominance",
            0.0,
            digits=3,
            about="How much closer pairs of two domains are to the part of one than of the other.",
        ),
        Metric(
            "emergent_cells",
            "emergent cells",
            digits=0,
            about="Pairs and adjectives whose association is beyond that of either part.",
        ),
        Metric(
            "emergence",
            "emergence",
            0.0,
            digits=2,
            about="How far a pair's association goes beyond that of either part.",
        ),
        Metric(
            "expected_precision",
            "precision",
            1.0,
            digits=2,
            about="Of the emergent traits of the pairs named, the share that was expected.",
        ),
        Metric(
            "expected_recall",
            "recall",
            1.0,
            digits=2,
            about="Of the expected traits, the share that emerges.",
        ),
        Metric(
            "expected_precision_chance",
            "precision by chance",
            digits=2,
            about="What a random list of the same length would get.",
        ),
        Metric(
            "expected_recall_chance",
            "recall by chance",
            digits=2,
            about="What a random list of the same length would get.",
        ),
    )

    def is_whole(self, score: Score) -> bool:
        return "effect" in score.values and {"part", "p", "q"} <= score.derived.keys()

    def overview(self, results: Sequence[Result]) -> Overview:
        if len(results) > 1 or not has(results, *PROFILES):
            return super().overview(results)
        tables = [_profiles(results[0]), _dominance(results[0])]
        tables += [_emergent(results[0], *side) for side in SIDES.items()]
        return Overview(tuple(tables), (*_expected(results[0]), CAUTION), "Where groups meet")


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


def _emergent(result: Result, direction: str, side: str) -> Table:
    cells = result.estimate("emergent_cells", direction=direction)
    listed = [
        estimate
        for estimate in result.estimates
        if estimate.name == "emergence" and estimate.slice.get("direction") == direction
    ]
    least = ""
    if listed:
        templates = listed[0].n
        least = f"; of {templates} templates the least p is {least_p(templates):.2g}"
    caption = (
        f"Traits that emerge, {side}: {numbers.number(cells.value, 0)} of {cells.n} beyond noise "
        f"(false-discovery rate 0.05{least})"
    )
    beyond = f"beyond both (the {SHOWN} largest)"
    titles = ("pair", "adjective", beyond, "p", "adjusted", "says")
    rows = tuple(_emergence(estimate) for estimate in listed[:SHOWN])
    return Table(tuple(map(text, titles)), rows, caption)


def _emergence(estimate: Estimate) -> tuple[Cell, ...]:
    ps = (numbers.number(p, 4) for p in (estimate.p, estimate.p_adjusted))
    place = (estimate.slice.get(name, "") for name in ("group", "adjective"))
    size = "none" if estimate.value is None else f"{estimate.value:+.3f}"
    return tuple(map(text, (*place, size, *ps, str(estimate.verdict))))


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


SHAPE = Intersection()
