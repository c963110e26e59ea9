"""`python -m tests.simulations.figures [SETS]`: the figures of docs/uncertainty.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from stereometer.shapes.verdicts import FIXED, HEADLINE
from tests.simulations import cats, early, families, pairs, readings
from tests.simulations.cats import Truth, same_icat

SETS = 4000
LIKE = Truth(lms=80.0)
Line = tuple[str, str, str]
"""The procedure, what was drawn, and what came out."""


def icats(sets: int) -> Iterator[Line]:
    for terms, items in ((79, 53), (30, 53), (24, 6), (10, 53)):
        share = cats.icat_coverage(terms, items, sets)
        yield "1 icat", f"ss 50, {terms} terms of {items} items: coverage", f"{share:.3f}"
    for terms, items in ((1, 53), (3, 26), (8, 12)):
        share = cats.fixed_icat_coverage(terms, items, sets // 2)
        yield "1 icat", f"ss 50, {terms} fixed terms of {items} items: coverage", f"{share:.3f}"


def equivalence(sets: int) -> Iterator[Line]:
    for terms in (79, 30, 10):
        share = cats.shown_equivalent(55, terms, 2 * sets)
        yield "3 verdict", f"ss 55, {terms} terms: called within 5 points", f"{share:.3f}"
    for terms in (79, 36, 30, 10):
        share = cats.shown_equivalent(50, terms, sets)
        yield "3 verdict", f"ss 50, {terms} terms: called within 5 points", f"{share:.3f}"
    for won, of in ((0.55, 1508), (0.5, 1508), (0.5, 516), (0.5, 262)):
        share = pairs.shown_equivalent(won, of, 2 * sets)
        yield "3 verdict", f"{100 * won:g} %, {of:,} pairs: within 5 points", f"{share:.3f}"


def comparisons(sets: int) -> Iterator[Line]:
    for first, second in ((48, 52), (50, 53)):
        share = cats.claimed_closer(first, second, sets)
        yield "4 compare", f"ss {first} and {second}, 79 terms: one called closer", f"{share:.3f}"
    for tied in (0.0, 0.25, 0.5):
        share = pairs.rejected(tied, sets)
        yield "4 compare", f"equal pairs, {tied:.0%} ties on one side: size", f"{share:.3f}"
    share = pairs.rejected(0.25, sets, 30)
    yield "4 compare", "the same, 25% ties, 30 terms that vary: size", f"{share:.3f}"
    for terms in (10, 30, 79):
        share = cats.power_at_detectable(terms, sets)
        yield "4 compare", f"the detectable difference, {terms} terms: power", f"{share:.3f}"
    for terms in (10, 30, 79):
        for shared in (0.0, 0.9):
            for left, right in ((LIKE, same_icat(53, LIKE)), (Truth(ss=48), Truth(ss=52))):
                share = cats.icat_size(left, right, terms, sets // 2, shared)
                drawn = f"same icat, ss {left.ss:g} and {right.ss:g}, {terms} terms"
                yield "4 compare", f"{drawn}, {shared:.0%} of effects shared: size", f"{share:.3f}"


def intervals(sets: int) -> Iterator[Line]:
    for name in ("ss", "lms"):
        share = cats.t_coverage(name, 10, sets)
        yield "5 t intervals", f"{name}, 10 terms: coverage", f"{share:.3f}"
    for name in ("ss", "lms", "icat"):
        share = cats.difference_coverage(name, Truth(), Truth(ss=58.0, lms=80.0), 10, sets)
        yield "5 t intervals", f"difference in {name}, 10 terms: coverage", f"{share:.3f}"
    for name in ("ss", "lms"):
        share = cats.shift_coverage(name, 10, sets)
        yield "5 t intervals", f"shift of {name}, 10 terms: coverage", f"{share:.3f}"
    for kept in (0.1, 0.5, 0.9):
        share = pairs.shift_coverage(262, kept, sets)
        yield "5 t intervals", f"shift of 262 pairs, {kept:.0%} kept: coverage", f"{share:.3f}"


def preferences(sets: int) -> Iterator[Line]:
    for won in (0.5, 0.6):
        for tied in (0.0, 0.1, 0.3, 0.5):
            share = pairs.coverage(won, tied, 262, 5 * sets)
            drawn = f"{100 * won:g} % of decided pairs won, {tied:.0%} ties: coverage"
            yield "6 pairs", drawn, f"{share:.3f}"
    for terms, by_term in ((79, True), (12, True), (79, False)):
        share = pairs.clustered_coverage(terms, sets, by_term)
        drawn = f"{terms} terms of 27 pairs{'' if by_term else ', terms forgotten'}: coverage"
        yield "6 pairs", drawn, f"{share:.3f}"


def others(sets: int) -> Iterator[Line]:
    for corrected in (True, False):
        wrong = families.familywise(sets // 4, corrected)
        drawn = "no preference, StereoSet's slices" + ("" if corrected else ", uncorrected")
        yield "10 families", f"{drawn}: any verdict, headline", f"{wrong[HEADLINE]:.3f}"
        yield "10 families", f"{drawn}: any verdict, fixed terms", f"{wrong[FIXED]:.3f}"
    for systems in (5, 8, 20):
        share = families.rho_coverage(systems, 0.6, sets // 4)
        yield "11 relate", f"{systems} systems, rho .58: coverage", f"{share:.3f}"
    for bar, true in (("ss<=55", 55.0), ("|ss-50|<=5", 55.0)):
        met, missed = families.bar_decided(bar, true, sets)
        yield "12 bars", f"ss {true:g}, {bar}: met, missed", f"{met:.3f}, {missed:.3f}"


def stopping(sets: int) -> Iterator[Line]:
    """Wrong decisions at the bar, on each side, and how much is asked away from it."""
    many = sets * 5 // 2
    for won, of, tied in ((0.5, 1508, 0.0), (0.55, 1500, 0.0), (0.9, 1500, 0.0), (0.5, 1500, 0.1)):
        ties = f", {tied:.0%} ties" if tied else ""
        drawn = f"{100 * won:g} % of {of:,} pairs{ties}, bar there: above, below"
        yield "13 stopping", drawn, _sides(early.items(won, of, won, many, tied))
    drawn = "ss at the bar, items of 79 unequal terms: above, below"
    yield "13 stopping", drawn, _sides(early.weighted(79, 0.55, many))
    for true, terms, of in ((50, 79, 53), (55, 79, 53), (50, 24, 6), (90, 79, 53), (90, 24, 6)):
        drawn = f"{true} at the bar, {terms} whole terms of {of} items: above, below"
        yield "13 stopping", drawn, _sides(early.over_terms(true, true, many, terms, of))
    share = early.looked_at(many)
    yield "13 stopping", "ss 50, p < .05 looked at after every term: any verdict", f"{share:.3f}"
    for won, of, bars in ((0.615, 1508, (0.5, 0.55, 0.65)), (0.595, 4229, (0.5, 0.55, 0.6))):
        for bar in bars:
            share = early.items(won, of, bar, sets // 4).asked
            drawn = f"{100 * won:g} % of {of:,} items, bar {100 * bar:g}: share asked"
            yield "13 stopping", drawn, f"{share:.3f}"
    for near in (55.0, 57.5, 59.5):
        share = early.over_terms(near, 50.0, sets).asked * 79
        yield "13 stopping", f"ss {near:g}, bar 50: terms asked of 79", f"{share:.1f}"


def swept(sets: int) -> Iterator[Line]:
    """How often the joint test rejects: by the median t, the share of significant readings, and any
    single reading after the correction."""
    for terms in (10, 24, 79):
        shares = readings.rejected(sets // 2, 499, terms)
        yield "14 sweep", f"no preference, 12 readings, {terms} terms: size", _joint(shares)
    shares = readings.rejected(sets // 2, 499, 24, skewed=True)
    yield "14 sweep", "the same, 24 skewed terms: size", _joint(shares)
    for shift in (0.06, 0.12):
        shares = readings.rejected(sets // 8, 499, 79, shift)
        yield "14 sweep", f"79 terms that lean by {shift}: power", _joint(shares)


def _joint(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{share:.3f}" for share in shares.values())


def _sides(stopped: early.Stopped) -> str:
    return f"{stopped.above:.3f}, {stopped.below:.3f}"


def main(sets: int) -> None:
    parts = (icats, equivalence, comparisons, intervals, preferences, others, stopping, swept)
    for part in parts:
        for line in part(sets):
            sys.stdout.write(f"| {' | '.join(line)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
