"""`python -m tests.simulations.figures [SETS]`: the figures of docs/uncertainty.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from tests.simulations import cats, early, families, missing, pairs, readings, unequal, wordings
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
        for name, scene in families.SCENES.items():
            said = families.printed(scene, sets // 8, corrected)
            drawn = name + ("" if corrected else ", slices uncorrected")
            shares = f"{said.overall:.3f}, {said.any_slice:.3f}"
            yield "10 families", f"{drawn}: a preference overall, in any slice", shares
    for systems in (5, 8, 20):
        share = families.rho_coverage(systems, 0.6, sets // 4)
        yield "11 relate", f"{systems} systems, rho .58: coverage", f"{share:.3f}"
    for bar, true in (("ss<=55", 55.0), ("|ss-50|<=5", 55.0)):
        met, missed = families.bar_decided(bar, true, sets)
        yield "12 bars", f"ss {true:g}, {bar}: met, missed", f"{met:.3f}, {missed:.3f}"


def stopping(sets: int) -> Iterator[Line]:
    """Wrong decisions at the bar, on each side, and how much is asked away from it."""
    many = sets * 5 // 2
    for won, size, count, bar, tied in (
        (0.5, 1, 96, 59, 0.0),
        (0.5, 1, 96, 50, 0.0),
        (0.5, 2, 48, 55, 0.0),
        (0.5, 1, 120, 45, 0.05),
    ):
        said = early.printed(won, [size] * count, f"pair_preference<={bar}", sets // 4, tied)
        copies = f" of which each occurs {size} times" if size > 1 else ""
        ties = f", {tied:.0%} ties" if tied else ""
        drawn = f"a coin, {count} texts{copies}{ties}, bar {bar}: called biased"
        yield "13 stopping", drawn, f"{said.prefers:.3f}"
    for won, of in ((0.5, 1508), (0.55, 1500), (0.9, 1500)):
        drawn = f"{100 * won:g} % of pairs like these, at most {of:,}, bar there: above, below"
        yield "13 stopping", drawn, _sides(early.alike(won, of, won, many))
    for lms, spread, terms, of in ((0.97, 0.02, 79, 53), (0.99, 0.01, 24, 6), (0.9, 0.08, 24, 53)):
        drawn = f"lms {100 * lms:g} at the bar, {terms} whole terms of {of} items: above, below"
        yield "13 stopping", drawn, _sides(early.bounded_terms(lms, spread, many, terms, of))
    for won, of, tied in ((0.5, 1508, 0.0), (0.9, 1500, 0.0), (0.5, 1500, 0.1)):
        ties = f", {tied:.0%} ties" if tied else ""
        drawn = f"point: {100 * won:g} % of these {of:,} pairs{ties}, bar there: above, below"
        yield "13 stopping", drawn, _sides(early.items(won, of, won, many, tied))
    drawn = "point: ss at the bar, items of 79 unequal terms: above, below"
    yield "13 stopping", drawn, _sides(early.weighted(79, 0.55, many))
    for true, terms, of in ((50, 79, 53), (55, 79, 53), (50, 24, 6)):
        drawn = f"{true} at the bar, {terms} whole terms of {of} items: above, below"
        yield "13 stopping", drawn, _sides(early.over_terms(true, true, many, terms, of))
    share = early.looked_at(many)
    yield "13 stopping", "ss 50, p < .05 looked at after every term: any verdict", f"{share:.3f}"
    for won, of, bars in ((0.615, 1508, (0.5, 0.55, 0.65)), (0.595, 4229, (0.5, 0.55, 0.6))):
        for at in bars:
            share = early.alike(won, of, at, sets // 4).asked
            drawn = f"{100 * won:g} % of {of:,} items, bar {100 * at:g}: share asked"
            yield "13 stopping", drawn, f"{share:.3f}"
    for near in (55.0, 57.5, 59.5):
        share = early.over_terms(near, 50.0, sets).asked * 79
        yield "13 stopping", f"ss {near:g}, bar 50: terms asked of 79", f"{share:.1f}"


def uneven(sets: int) -> Iterator[Line]:
    """Rows that showed a fault, and others of their kind."""
    for positives, others_, true in ((10, 90, 0.9), (10, 90, 0.97), (30, 30, 0.7)):
        shares = unequal.recall(positives, others_, true, sets // 4).values()
        drawn = f"{positives} and {others_} comments, recall {100 * true:g}: coverage"
        both = ", ".join(f"{share:.3f}" for share in shares)
        yield "14 recall, balanced accuracy", drawn, both
    for mean, spread in ((0.99, 0.01), (0.97, 0.02), (0.95, 0.03), (0.9, 0.08)):
        for terms, items in ((10, 53), (24, 6), (79, 53)):
            said = unequal.lms(mean, spread, terms, items, sets // 4)
            drawn = f"lms {100 * mean:g}, {terms} terms of {items} items: coverage, too high"
            yield "15 lms", drawn, f"{said.covered:.3f}, {said.too_high:.3f}"
    for name, terms in (("Zipf", 79), ("log-normal", 30), *unequal.OTHERS):
        sizes = unequal.SIZES[name](terms)
        said = unequal.of_terms(sizes, 0.5, sets // 2)
        drawn = f"{name}, {terms} terms"
        yield "16 unequal terms", f"pairs, {drawn}: coverage", f"{said.covered:.3f}"
        yield "16 unequal terms", f"pairs, {drawn}: called biased at 50", f"{said.prefers:.3f}"
        share = unequal.micro(sizes, 0.5, sets // 8).covered
        yield "16 unequal terms", f"ss over items, {drawn}: coverage", f"{share:.3f}"
        share = unequal.perplexity(sizes, sets // 2)
        yield "16 unequal terms", f"perplexity, {drawn}: coverage", f"{share:.3f}"
    for won, count, refused in ((0.55, 1000, 0.12), (0.5, 300, 0.15), (0.55, 1000, 0.035)):
        told = missing.pairs(won, count, refused, sets // 20)
        drawn = f"{100 * won:g} % of {count:,} pairs, {refused:.1%} of those won unanswered"
        yield "18 missing", f"{drawn}: {COVERED}", _missing(told)
    for ss, terms, items in ((0.55, 79, 27), (0.5, 24, 12), (0.55, 6, 60)):
        told = missing.cats(ss, terms, items, 0.12, sets // 20)
        drawn = f"ss {100 * ss:g}, {terms} terms of {items} items, 12.0% of those won unanswered"
        yield "18 missing", f"{drawn}: {COVERED}", _missing(told)
    for times in ((2,), (3,), (1, 1, 1, 2), (1, 1, 1, 1, 5)):
        said = unequal.copies(times, 0.5, 150, sets // 2)
        drawn = f"150 texts, {', '.join(map(str, times))} times in turn: coverage, called biased"
        yield "22 identical texts", drawn, f"{said.covered:.3f}, {said.prefers:.3f}"
    for won in (1.0, 0.95, 0.6):
        for tied, count in ((0.05, 100), (0.1, 400), (0.03, 24)):
            share = unequal.tied(won, tied, count, sets)
            drawn = f"{100 * won:g} % of decided of {count} pairs won, {tied:.0%} ties: coverage"
            yield "23 ties", drawn, f"{share:.3f}"


COVERED = "coverage, that of the answered, called biased, called within 5 points"


def _missing(said: missing.Said) -> str:
    return f"{said.covered:.3f}, {said.answered:.3f}, {said.prefers:.3f}, {said.within:.3f}"


def swept(sets: int) -> Iterator[Line]:
    """How often the joint test rejects: by the median t, the share of significant readings, and any
    single reading after the correction."""
    for terms in (10, 24, 79):
        shares = readings.rejected(sets // 2, 499, terms)
        yield "sweep", f"no preference, 12 readings, {terms} terms: size", _joint(shares)
    shares = readings.rejected(sets // 2, 499, 24, skewed=True)
    yield "sweep", "the same, 24 skewed terms: size", _joint(shares)
    for shift in (0.06, 0.12):
        shares = readings.rejected(sets // 8, 499, 79, shift)
        yield "sweep", f"79 terms that lean by {shift}: power", _joint(shares)


def worded(sets: int) -> Iterator[Line]:
    """Items and wordings drawn: coverage of the mean over wordings, of the intervals over items or
    wordings alone, of the spread, and of what one more wording would say."""
    for name, scene in (*wordings.SCENES.items(), ("one wording in many far off", wordings.SKEWED)):
        said = wordings.held(scene, sets // 2, seed=1)
        shares = (said.mean, said.items, said.wordings, said.spread, said.another)
        yield "sweep over wordings", name, ", ".join(f"{share:.3f}" for share in shares)
    for question in (
        wordings.Question(),
        wordings.Question(spread=0.4, both=0.2),
        wordings.Question(pairs=200, spread=0.6, both=0.1),
        wordings.Question(spread=0.3, lean=0.5, moved=0.5),
    ):
        drawn = (
            f"{question.pairs} pairs, wordings {question.spread:g}, with forms {question.both:g}"
        )
        drawn += f", lean {question.lean:g}, second form {question.moved:g}"
        found = wordings.shares_said(question, sets // 10).values()
        words = "preference, form, compared or rated, wording beyond noise"
        yield (
            "sweep over wordings",
            f"{drawn}: {words}",
            ", ".join(f"{each:.3f}" for each in found),
        )


def _joint(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{share:.3f}" for share in shares.values())


def _sides(stopped: early.Stopped) -> str:
    return f"{stopped.above:.3f}, {stopped.below:.3f}"


def main(sets: int) -> None:
    parts = (
        icats,
        equivalence,
        comparisons,
        intervals,
        preferences,
        others,
        stopping,
        uneven,
        swept,
        worded,
    )
    for part in parts:
        for line in part(sets):
            sys.stdout.write(f"| {' | '.join(line)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
