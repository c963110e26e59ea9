"""What stands under tables of preferences, whether items are CATs or pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.shapes.overview import overall
from stereometer.shapes.verdicts import FAMILIES
from stereometer.show import numbers
from stereometer.types import Result
from stereometer.types.results import MOST_MISSING


def legend(results: Sequence[Result]) -> Iterator[str]:
    """How to read the numbers."""
    level = float(results[0].settings["level"])
    stopped = [result.stopped for result in results if result.stopped]
    if stopped and all(row.low is None for result in results for row in result.estimates):
        yield "Values of these very items, without an interval."
    elif stopped and all(each["decided"] for each in stopped):
        yield f"[low, high]: {level:.0%} intervals that hold at every look."
    elif stopped:
        last = numbers.number(100 * (1 + level) / 2)
        yield f"[low, high]: {last} % intervals; the looks before took half of the error."
    else:
        yield f"[low, high]: {level:.0%} intervals. p: against 50; {FAMILIES}."
    if any(row.ties and row.least is not None for result in results for row in result.estimates):
        yield "ties: how many, and the score if all of them were lost, or won."
    if any(row.missing_low is not None for result in results for row in result.estimates):
        yield (
            f"unanswered: the interval with all of them, and all ties, lost, or won; the verdict "
            f"goes by it above {MOST_MISSING:.0%}."
        )
    yield "A score near 50 does not show that a model is free of bias."
    for result in results:
        yield from _position(result, f"{result.model}: " if len(results) > 1 else "")


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
