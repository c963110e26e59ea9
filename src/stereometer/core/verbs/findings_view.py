"""Views of results, and of what is found in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from stereometer.core import catalog
from stereometer.core.shapes.view import VERDICT, first_rows, left_out, narrowing
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Paragraph, Piece, View, aside, line, records
from stereometer.core.types import Result
from stereometer.wings.mitigation.verdicts import view as mitigation

if TYPE_CHECKING:
    from stereometer.core.compare import Compared, Comparison
    from stereometer.core.gate.gate import Gate
    from stereometer.core.shapes.differences import Difference, Withheld
    from stereometer.core.shapes.shape import Metric, Shape
    from stereometer.wings.relations.calibrate import Calibration, CalibrationBand
    from stereometer.wings.relations.ensemble.combine import Ensemble
    from stereometer.wings.relations.relate import Correlation, Relation


# -------------------------------------------------------------------------------------- results


def results(every: Sequence[Result], slices: bool = False) -> View:
    """Those measured alike in one table; what to beware of comes last. Without `slices`, the
    principal ones alone, and a line that says which there are."""
    from stereometer.core.compare import family_notes

    groups = _side_by_side(every)
    notes = [
        note
        for group in groups
        for note in (*(note for each in group for note in each.notes), *family_notes(group))
    ]
    return View(
        parts=tuple(_alike(group, slices) for group in groups), notes=tuple(dict.fromkeys(notes))
    )


def _alike(group: Sequence[Result], slices: bool) -> View:
    first, shape = group[0], catalog.shape(group[0].kind)
    shown = shape.view(group if slices else [first_rows(shape, each) for each in group])
    asked = (first.asked_as,) if first.asked_as else ()
    alone = len(group) == 1
    scoring = (first.scoring,) if alone else ()
    about = (first.measure, f"variant {first.variant}", *scoring, *asked, *shown.about)
    parts = list(shown.parts)
    if others := dict.fromkeys(each.measure for each in group if each.measure != first.measure):
        names = ", ".join(others)
        parts += aside(f"Constructed: made from the gold labels alone; stored as {names}.")
    if not slices and (more := left_out(shape, first)):
        parts += aside(more)
    title, subject = shown.title or first.data["title"], first.model if alone else ""
    return replace(shown, title=title, subject=subject, about=about, parts=tuple(parts))


def _side_by_side(every: Sequence[Result]) -> list[list[Result]]:
    """Those measured alike; what was made from the gold labels stands beside all of its kind."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for at, result in enumerate(sorted(every, key=lambda each: each.scoring == "constructed")):
        items = (result.data["digest"], result.variant, result.kind)
        alone = at if result.stopped is not None else None
        own = (*items, result.measure, result.asked_as, alone)
        constructed = result.scoring == "constructed"
        beside = [place for place in groups if constructed and place[:3] == items]
        for place in beside or [own]:
            groups.setdefault(place, []).append(result)
    return list(groups.values())


def ensemble(made: Ensemble, slices: bool = False) -> View:
    """The result, and the weights of its members."""
    weights = (
        line(f"weights, {task}: {', '.join(f'{name} {weight:.4g}' for name, weight in by.items())}")
        for task, by in made.weights.items()
    )
    return View(parts=(results([made.result], slices), *weights))


# ----------------------------------------------------------------------------------- comparisons

Slices: TypeAlias = Literal["none", "beyond noise", "every"]
"""Which are listed after the overall and principal rows."""
FEW = 6
"""So many differences that are withheld are listed unasked."""
COMPARED = (
    "Intervals are of one difference at a time. p: adjusted (Holm) in two families per metric, the "
    "overall rows and all slices, across all pairs shown. Could be seen: the smallest true "
    "difference that the test finds with 80 % power after that correction."
)


def comparison(made: Comparison, every_slice: bool | None = None) -> View:
    """In Python, where nothing is said of slices, the overall and principal rows alone."""
    slices: Slices = "beyond noise" if every_slice is False else "every" if every_slice else "none"
    return _comparison(made, slices)


def _comparison(made: Comparison, slices: Slices) -> View:
    systems = f"{len(made.systems)} systems: second minus first, on the items both answered"
    parts: list[Piece | View] = [
        part for judged in made.mitigations for part in mitigation.pieces(judged)
    ]
    parts += [part for pair in made.pairs for part in pair_pieces(pair, slices, made)]
    parts += [_comparison(other, slices) for other in made.others]
    if not made.others and slices != "none":  # said once, under the last
        parts += aside(COMPARED)
    about = (made.measure, f"variant {made.variant}", systems)
    return View(made.benchmark, about=about, parts=tuple(parts), notes=made.notes)


def pair_pieces(pair: Compared, slices: Slices, made: Comparison) -> Iterator[Piece]:
    """The overall differences and the principal ones, and the slices that are asked for."""
    shape = catalog.shape(made.kind)
    first: list[Difference] = []
    rest: list[Difference] = []
    for row in pair.differences:
        principal = shape.principal and shape.first_slice(row.slice)
        (first if principal or not row.slice else rest).append(row)
    shown = {"every": rest, "beyond noise": [row for row in rest if row.beyond_noise], "none": []}
    more = shown[slices]
    yield line(f": {pair.items} of {pair.asked} items", bold=f"\n{pair.first} -> {pair.second}")
    if first or more:
        yield _differences(shape, first, more)
    yield line(_tested(pair, len(first) + len(more)))
    yield from _withheld(pair.withheld, {"every": None, "beyond noise": FEW, "none": 0}[slices])
    if made.preferences:
        yield line(
            f"{numbers.count(len(pair.flips), 'item')} changed preference: "
            f"{pair.toward_stereotype:,} toward the stereotype, {pair.toward_anti:,} away from it"
            f"{pair.from_ties} (their ids: --json)."
        )


def _tested(pair: Compared, shown: int) -> str:
    """How many rows were tested: few of many beyond noise are what chance gives."""
    rows, beyond = len(pair.differences), sum(row.beyond_noise for row in pair.differences)
    slices = sum(bool(row.slice) for row in pair.differences)
    counted = f"{numbers.count(rows, 'row')} tested, {slices:,} of them in slices"
    listed = f" ({rows - shown:,} more rows: --every-slice)" if rows > shown else ""
    return f"{counted}; {beyond:,} beyond noise{listed}."


def _withheld(rows: Sequence[Withheld], most: int | None) -> Iterator[Paragraph]:
    for row in rows[:most]:
        yield line(f"{numbers.slice_name(row.slice)}: not compared, {row.why}.")
    if more := len(rows[most:]) if most is not None else 0:
        yield line(f"{more} more differences are not compared (--every-slice lists them).")


def _differences(shape: Shape, first: Sequence[Difference], more: Sequence[Difference]) -> Table:
    """In a narrow window intervals stand under values; where that is not enough, the slices go
    before any column does."""
    values = (number(title) for title in ("first", "second", "difference"))
    heads = number("n", spare=2), text("metric"), *values, number("could", "be seen", spare=3)
    columns = (text(""), *heads, *VERDICT)
    both, alone = (
        narrowing(columns, (_difference(row, shape.metric(row.name)) for row in rows))
        for rows in ((*first, *more), first)
    )
    if not (first and more) or both.narrow is None or alone.narrow is None:
        return both
    foot = f"No room for {numbers.count(len(more), 'row')} of slices: a wider window, or --json."
    return replace(both, narrow=replace(both.narrow, narrow=replace(alone.narrow, foot=foot)))


def _difference(row: Difference, metric: Metric) -> tuple[Cell, ...]:
    digits = metric.digits
    change = numbers.signed_interval(row.difference, row.low, row.high, digits)
    verdict = row.verdict
    if row.closer != "neither":
        verdict = f"{verdict}; {row.closer} is closer to {row.ideal:g}"
    ends = (f"{row.first:.{digits}f}", f"{row.second:.{digits}f}")
    values = (*ends, change, numbers.number(row.detectable, digits))
    place = text(numbers.slice_name(row.slice)), number(str(row.n))
    tested = text(verdict), number(numbers.p_words(row.p_adjusted)[2:].removeprefix("= "))
    return (*place, text(metric.label), *map(number, values), *tested)


# ---------------------------------------------------------------- forced choice beside likelihood

COUNTS = ("difference", "n", "agree", "disagree", "orders differ", "agreement of the decided")


def calibration(made: Calibration) -> View:
    columns = (text("items, by how sure the likelihood is"), *map(number, COUNTS))
    parts: list[Piece] = [Table(columns, tuple(map(_band, made.rows)))]
    for name, values in made.numbers.items():
        likelihood, choice = (
            "none" if values[reading] is None else f"{values[reading]:.1f}"
            for reading in ("likelihood", "forced-choice")
        )
        parts.append(line(f"{name}: likelihood {likelihood}, forced choice {choice}"))
    kappa = "none" if made.kappa is None else f"{made.kappa:.2f}"
    p = numbers.p_words(made.p)
    parts += aside(f"{made.verdict} ({p}; kappa {kappa}). Chance is 50.")
    about = (f"{made.choice} against {made.likelihood}",)
    return View(made.benchmark, made.model, about, tuple(parts))


def _band(row: CalibrationBand) -> tuple[Cell, ...]:
    rate = "none"
    if row.rate is not None:
        rate = f"{row.rate:.1f} [{row.rate_low:.1f}, {row.rate_high:.1f}]"
    counts = (str(count) for count in (row.n, row.agree, row.disagree, row.undecided))
    return (text(row.band), *map(number, (f"{row.low:.3g} - {row.high:.3g}", *counts, rate)))


# ------------------------------------------------------------------------------------------ gates


def gate(made: Gate) -> View:
    columns = (text("outcome"), text("bar"), text("value"), number("n", spare=1), text("run"))
    rows = (
        (
            *map(text, (each.outcome, each.rule, each.seen)),
            number(f"{each.n} of {each.asked}", spare=1),
            text(each.place),
        )
        for each in made.judged
    )
    title = numbers.count(len(made.judged), "bar")
    return View(title, about=(made.outcome,), parts=(Table(columns, tuple(rows)),))


# -------------------------------------------------------------------------------- across systems

RELATED = (
    "rho: Spearman, 95 % percentile intervals; p: permutation test, Holm over the correlations "
    "with size. Systems of one family, where the table of facts names it, are tested as one, by "
    "their means. A correlation is no cause."
)


def relation(made: Relation) -> View:
    rows = [
        {
            "system": point.system,
            "lms": point.lms,
            "ss": point.ss,
            "parameters": _size(point.parameters),
            "corpus, GB": _size(point.corpus_gb),
        }
        for point in made.points
    ]
    parts: tuple[Piece, ...] = (
        *records(rows),
        *(line(f"{label} is left out: it has no lms or no ss.") for label in made.left_out),
        *(line(_correlation(each)) for each in made.correlations),
        *aside(RELATED),
    )
    about = (made.measure, f"variant {made.variant}", f"{len(made.points)} systems")
    return View(made.benchmark, about=about, parts=parts, notes=made.notes)


def _size(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} M" if value >= 1e6 else f"{value:g}"


def _correlation(row: Correlation) -> str:
    pair = f"{row.first} with {row.second}"
    if row.rho is None:
        return f"{pair}: none, {row.why}."
    span = row.interval
    if row.low is not None:
        span = f"[{row.low:.2f}, {row.high:.2f}] over systems"
    terms = ""
    if row.terms:
        terms = (
            f", [{row.low_terms:.2f}, {row.high_terms:.2f}] over {row.terms} target terms, these "
            "systems held fixed"
        )
    p = numbers.p_words(row.p_adjusted)
    verdict = f"{row.verdict} ({p})" if p else row.verdict
    return f"{pair}: rho {row.rho:.2f}, n {row.n}, {span}{terms}; {verdict}."
