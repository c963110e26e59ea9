"""Preferences, whether items are CATs or pairs: the habits of forced choice, what few items could
show at all, the first tables and what stands under them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import sqrt

from stereometer.core.shapes import view
from stereometer.core.shapes.shape import Contrast, Metric
from stereometer.core.shapes.verdicts import FAMILIES
from stereometer.core.show import numbers
from stereometer.core.show.numbers import count
from stereometer.core.show.view import View, aside
from stereometer.core.stats.tests import detectable
from stereometer.core.types import Result
from stereometer.core.types.results import MOST_MISSING

HABITS = (
    Metric(
        "first_position",
        "first option chosen",
        50.0,
        about="How often the first of two options was chosen, in percent.",
    ),
    Metric(
        "order_agreement",
        "orders agree",
        about="How many comparisons come out the same in both orders, in percent.",
    ),
    Metric(
        "position_effect",
        "log-odds of the first place",
        0.0,
        digits=2,
        about="How much the first place adds to the log-odds of an option, whatever stands there.",
    ),
    Metric(
        "option_mass",
        "held by the options",
        about="How much of the probability of what comes next the options hold, in percent.",
    ),
    Metric(
        "neutral_share",
        "neutral option",
        about="How often the neutral option was taken, or its share of what the options hold.",
    ),
    Metric(
        "decided",
        "ratings differ",
        about="How many comparisons of two ratings have a higher one, in percent.",
    ),
)
"""Of forced choice: whether the place of an option decides, and whether both orders agree."""
TOLD = (
    "the first option is chosen {value} % of the time: {row.verdict} ({p})",
    "both orders agree in {value} % of the comparisons",
    "the first place adds {value} to the log-odds of an option, which is taken off the preference: "
    "{row.verdict}",
    "the options hold {value} % of the probability",
    "the neutral option has {value} % of the answers",
    "ratings differ in {value} % of the comparisons",
)
"""What is said of each."""


FEW_TERMS = 2
"""So few terms say nothing of others."""
WIDEST = 50.0
"""No score is farther from 50."""
NAMED = 3


def small_slices(items: Iterable[tuple[str, str | None]], level: float) -> str | None:
    """From the slice and the term of each item, the term where items have one."""
    slices: dict[str, list[str | None]] = {}
    for name, term in items:
        slices.setdefault(name, []).append(term)
    outlooks = [_outlook(name, terms, level) for name, terms in sorted(slices.items())]
    small = [outlook for outlook in outlooks if outlook]
    if not small:
        return None
    more = f"; and {len(small) - NAMED} more" if small[NAMED:] else ""
    return f"Small slices: {'; '.join(small[:NAMED])}{more}."


def _outlook(name: str, terms: list[str | None], level: float) -> str | None:
    least = detectable(WIDEST / sqrt(len(terms)), level)
    distinct = {term for term in terms if term is not None}
    few = bool(distinct) and len(distinct) <= FEW_TERMS
    if least < WIDEST and not few:
        return None
    size = count(len(terms), "item") + (f" of {count(len(distinct), 'term')}" if distinct else "")
    if least >= WIDEST:
        return f"{name} ({size}) has too few items to show an effect"
    return f"{name} ({size}) could show {least:.0f} points from 50, for these terms alone"


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
        known = view.overall(result)
        for metric, words in zip(HABITS, TOLD, strict=True):
            row = known.get(metric.name)
            if row is not None and row.value is not None:
                value, p = numbers.with_interval(row, metric.digits), numbers.p_words(row.p)
                prefix = f"{result.model}: " if len(results) > 1 else ""
                yield prefix + words.format(value=value, row=row, p=p)


def first_tables(
    shape: Contrast,
    results: Sequence[Result],
    names: Sequence[str],
    cautions: Callable[[Sequence[view.Row]], Iterable[str]],
    fixed: str = "",
) -> View:
    """A row per slice or model with these metrics; `cautions` are what to beware of in the rows,
    `fixed` marks those that speak of their own few terms alone."""
    if not view.has(results, *names):
        return view.plain(shape, results)
    rows = [row for row in view.rows_of(shape, results) if set(names) <= row[1].keys()]
    metrics, lead = [shape.metric(name) for name in names], shape.metric(shape.preference)
    first = view.head(results, shape)
    table = view.metric_table(rows, metrics, lead, first, ties=True, fixed=fixed)
    notes = (*view.absences(results, rows, names), *cautions(rows), *legend(results))
    slices = view.by_slice(shape, results, lead)
    return View(parts=(table, *slices, *view.undeclared(shape, results), *aside(*notes)))
