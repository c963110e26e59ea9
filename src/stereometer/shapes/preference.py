"""What stands under tables of preferences, whether items are CATs or pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.shapes.overview import overall
from stereometer.shapes.verdicts import THESE
from stereometer.show import numbers
from stereometer.types import Result


def legend(results: Sequence[Result]) -> Iterator[str]:
    """How to read the numbers."""
    level = float(results[0].settings["level"])
    if any(result.stopped for result in results):
        yield f"[low, high]: {level:.0%} intervals that hold at every look."
    else:
        apart = "; slices with fixed terms apart" if _any_fixed(results) else ""
        yield f"[low, high]: {level:.0%} intervals. p: against 50, Holm over these slices{apart}."
    if any(row.ties and row.least is not None for result in results for row in result.estimates):
        yield "ties: how many, and the score if all of them were lost, or won."
    yield "A score near 50 does not show that a model is free of bias."
    for result in results:
        yield from _position(result, f"{result.model}: " if len(results) > 1 else "")


def _any_fixed(results: Sequence[Result]) -> bool:
    return any(row.scope == THESE for result in results for row in result.estimates)


def _position(result: Result, prefix: str) -> Iterator[str]:
    """Forced choice: whether the place of an option decides, and whether both orders agree."""
    estimates = overall(result)
    first, agree = estimates.get("first_position"), estimates.get("order_agreement")
    if first is not None and first.value is not None:
        yield (
            f"{prefix}the first option is chosen {numbers.with_interval(first)} % of the time: "
            f"{first.verdict} ({numbers.p_words(first.p)})"
        )
    if agree is not None and agree.value is not None:
        yield f"{prefix}both orders agree in {numbers.with_interval(agree)} % of the comparisons"
