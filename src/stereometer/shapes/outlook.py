"""What slices of few items or few terms could show at all, said before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from stereometer.show.numbers import count
from stereometer.stats.tests import detectable

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
