"""lms, ss and icat of the Context Association Test (Nadeem et al. 2021, sections 5.2 and A.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from stereometer.shapes.cat.sample import (
    AVERAGES,
    HEADLINE,
    IDEALS,
    CatSample,
    base,
    bounds,
    sample,
    tally,
)
from stereometer.shapes.cat.spread import Spreads
from stereometer.shapes.cat.tally import UNIT_BY, headline_slices
from stereometer.shapes.points import DrawnUnit, Points, Stratum
from stereometer.shapes.spread import determined
from stereometer.shapes.verdicts import LANGUAGE, PREFERENCE, judged
from stereometer.types import Estimate, Score, Settings, Slice

CANDIDATES = ("stereotype", "anti-stereotype", "unrelated")
FINE = ("target",)
NOT_DEFINED = "not defined, since unrelated candidates have no score"


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """Estimates overall and for each task, domain, domain in a task, and target term."""
    table = tally(scores, settings.variant)
    samples = [(sample(table, slice_), AVERAGES) for slice_ in headline_slices(table)]
    samples += [(sample(part, slice_), HEADLINE) for slice_, part in _by_term(table)]
    estimates = (row for part, names in samples for row in _estimates(part, names, settings))
    return judged(estimates, {"ss": PREFERENCE, "lms": LANGUAGE}, settings, FINE)


def _by_term(table: Points) -> Iterator[tuple[Slice, Points]]:
    """Each with the strata of its own alone, which are quicker to go through."""
    terms: dict[DrawnUnit, list[Stratum]] = {}
    for stratum in table.strata:
        terms.setdefault(stratum.unit, []).append(stratum)
    for unit, strata in sorted(terms.items()):
        yield dict(zip(UNIT_BY, unit.term, strict=True)), Points(table.shape, strata)


def _estimates(part: CatSample, names: tuple[str, ...], settings: Settings) -> Iterator[Estimate]:
    short, spreads = part.coverage.shortfall(settings), Spreads(part, settings)
    ends = {} if short else bounds(part, settings.variant)
    for name in names:
        ideal, ties = IDEALS[base(name)], part.ties[base(name)]
        empty = part.coverage.estimate(name, part.slice, ideal, ties=ties, terms=part.terms)
        if short or not _is_defined(part, name):
            yield replace(empty, why=short or NOT_DEFINED)
            continue
        least, most = ends[name]
        yield determined(
            replace(empty, value=part.point[name], least=least, most=most),
            spreads.of(name),
            part.tie_shares[base(name)],
            partial(spreads.settled, name),
            settings,
        )


def _is_defined(part: CatSample, name: str) -> bool:
    """StereotypedLM says nothing of unrelated candidates.

    It has no lms, and an icat only where ss alone makes it 0.
    """
    if part.has_lms or base(name) == "ss":
        return True
    ss = name.replace("icat", "ss").replace("_term_mean", "")
    return base(name) == "icat" and part.point[ss] in (0.0, 100.0)
