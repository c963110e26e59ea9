"""lms, ss and icat of the Context Association Test (Nadeem et al. 2021, sections 5.2 and A.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

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
from stereometer.shapes.cat.spread import TESTED, OverTerms, WithinTerms, item_spread, spread
from stereometer.shapes.cat.tally import UNIT_BY, headline_slices
from stereometer.shapes.points import Cell, Points, Unit
from stereometer.shapes.spread import Spread, with_missing
from stereometer.shapes.verdicts import LANGUAGE, PREFERENCE, judged, undetermined, without_score
from stereometer.types import Estimate, Score, Settings, Slice

CANDIDATES = ("stereotype", "anti-stereotype", "unrelated")
FINE = ("target",)


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """Estimates overall and for each task, domain, domain in a task, and target term."""
    table = tally(scores, settings.variant)
    estimates = [
        estimate
        for slice_ in headline_slices(table)
        for estimate in _estimates(sample(table, slice_), AVERAGES, settings)
    ]
    estimates += [
        estimate
        for slice_, part in _by_term(table)
        for estimate in _estimates(sample(part, slice_), HEADLINE, settings)
    ]
    return judged(estimates, {"ss": PREFERENCE, "lms": LANGUAGE}, settings, FINE)


def _by_term(table: Points) -> Iterator[tuple[Slice, Points]]:
    """Each with the cells of its own alone, which are quicker to go through."""
    terms: dict[Unit, list[Cell]] = {}
    for cell in table.cells:
        terms.setdefault(cell.unit, []).append(cell)
    for unit, cells in sorted(terms.items()):
        yield dict(zip(UNIT_BY, unit.term, strict=True)), Points(table.shape, cells)


def _estimates(part: CatSample, names: tuple[str, ...], settings: Settings) -> Iterator[Estimate]:
    empty = [
        part.coverage.estimate(
            name, part.slice, IDEALS[base(name)], ties=part.ties[base(name)], terms=part.terms
        )
        for name in names
    ]
    why = part.coverage.shortfall(settings)
    if why is not None:
        yield from (replace(estimate, why=why) for estimate in empty)
        return
    values, ends = part.point, bounds(part, settings.variant)
    of_terms = spread(part, settings)
    of_items = item_spread(part, settings, of_terms)
    for estimate in empty:
        name = estimate.name
        known = of_items if name.endswith("_micro") else of_terms
        if _is_defined(part, name, values):
            least, most = ends[name]
            bounded = replace(
                estimate, value=values[name], least=least, most=most, scope=known.scope
            )
            yield _determined(bounded, part, known, settings)
        else:
            why = "not defined, since unrelated candidates have no score"
            yield replace(estimate, why=why)


def _is_defined(part: CatSample, name: str, values: Mapping[str, float]) -> bool:
    """StereotypedLM says nothing of unrelated candidates.

    It has no lms, and an icat only where ss alone makes it 0.
    """
    if part.has_lms or base(name) == "ss":
        return True
    ss = name.replace("icat", "ss").replace("_term_mean", "")
    return base(name) == "icat" and values[ss] in (0.0, 100.0)


def _determined(
    estimate: Estimate, part: CatSample, known: OverTerms | WithinTerms, settings: Settings
) -> Estimate:
    """With its interval and test, unless too many ties leave it open."""
    name = estimate.name
    open_ = undetermined(part.tie_shares[base(name)], settings)
    if open_ is not None:
        return without_score(estimate, open_, settings)
    of = known.of(name)
    measured = (of.measured if name in TESTED else of.spanned)(estimate, settings)
    if base(name) != "ss" or not part.coverage.missing:
        return measured
    lost, won = (_worst(part.settled(wins), name, settings) for wins in (False, True))
    return with_missing(measured, lost, won, settings)


def _worst(part: CatSample, name: str, settings: Settings) -> Spread:
    known = spread(part, settings)
    return (known if name == "ss" else item_spread(part, settings, known)).of(name)
