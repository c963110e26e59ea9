"""Profiles of groups on a terminal: dimensions with intervals, and the traits that stand out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stereometer.benchmarks.abc.rows import counted
from stereometer.shapes.trait.metrics import NEITHER
from stereometer.shapes.trait.words import NOT_MORE, words_for
from stereometer.types import Estimate, Result

SHOWN = 3
"""Traits that are named, and reasons why values are missing."""


def is_profile(result: Result) -> bool:
    return any(one.name == "association" for one in result.estimates)


def print_profile(out: Console, result: Result) -> None:
    """A row a group; every group and trait is in result.json and in the report."""
    found = [one for one in result.estimates if one.name == "association"]
    dimensions = list(
        dict.fromkeys(one.slice["dimension"] for one in found if "dimension" in one.slice)
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("group", "n / asked", *dimensions, "tied most to", "tests beyond noise"):
        table.add_column(title, justify="right" if title == "n / asked" else "left")
    for group in dict.fromkeys(one.slice["group"] for one in found):
        table.add_row(
            *_row(group, [one for one in found if one.slice["group"] == group], dimensions)
        )
    out.print(table)
    out.print(f"[dim]{escape(_legend(result))}[/]")


def _row(group: str, found: Sequence[Estimate], dimensions: Sequence[str]) -> list[str]:
    traits = [one for one in found if "trait" in one.slice]
    by_dimension = {one.slice["dimension"]: one for one in found if "dimension" in one.slice}
    used = f"{sum(one.n for one in traits)} / {sum(one.asked for one in traits)}"
    cells = [number(by_dimension[name]) if name in by_dimension else "" for name in dimensions]
    beyond = sum(one.verdict not in (None, NEITHER) for one in traits)
    tested = sum(one.verdict is not None for one in traits)
    return [
        escape(group),
        used,
        *cells,
        escape(", ".join(_ends(traits))),
        f"{beyond} of {tested}" if tested else "",
    ]


def _ends(traits: Sequence[Estimate]) -> list[str]:
    """The poles with the largest associations, whichever side they are on."""
    known = sorted(
        (one for one in traits if one.value is not None), key=lambda one: -abs(one.value or 0.0)
    )
    return [f"{_pole(one)} {abs(one.value or 0.0):.2f}" for one in known[:SHOWN]]


def _pole(one: Estimate) -> str:
    left, _, right = one.slice["trait"].partition(" - ")
    return (right or left) if (one.value or 0.0) > 0 else left


def number(one: Estimate) -> str:
    """A value with its interval, on the scale of logarithms."""
    if one.value is None:
        return "none"
    return (
        f"{one.value:+.2f}"
        if one.low is None
        else f"{one.value:+.2f} \\[{one.low:+.2f}, {one.high:+.2f}]"
    )


def _legend(result: Result) -> str:
    spread = result.estimate("group_spread")
    level, words = float(result.settings["level"]), words_for(result.measure)
    value = "none" if spread.value is None else f"{spread.value:.3f}"
    return "\n".join(
        [
            *(
                f"{counted(count, 'cell')} skipped ({reason})."
                for reason, count in spread.skipped.items()
            ),
            *_absent(result),
            f"Positive: towards {_right_poles(result)} (the right pole). [low, high]: {words.interval}, {level:.0%}. Standard deviation between groups: {value}.",
            *([f"{words.caveat}."] if words.caveat else []),
            f"A score says {words.says}: {NOT_MORE}.",
        ]
    )


def _right_poles(result: Result) -> str:
    traits = list(
        dict.fromkeys(one.slice["trait"] for one in result.estimates if "trait" in one.slice)
    )
    return ", ".join(trait.rpartition(" - ")[2] for trait in traits[:SHOWN]) + (
        " ..." if len(traits) > SHOWN else ""
    )


def _absent(result: Result) -> list[str]:
    """Why values are missing, the usual reasons first."""
    reasons = Counter(one.why for one in result.estimates if one.why is not None)
    shown = [
        f"none: {why} ({count} of {counted(len(result.estimates), 'value')})."
        for why, count in reasons.most_common(SHOWN)
    ]
    left = reasons.total() - sum(count for _, count in reasons.most_common(SHOWN))
    return [
        *shown,
        *(
            [f"{counted(left, 'more value')} without a score: result.json says why for each."]
            if left
            else []
        ),
    ]
