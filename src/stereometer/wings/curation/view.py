"""Views of what a data set is like, and of what was made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stereometer.core import catalog
from stereometer.core.show import numbers
from stereometer.core.show.view import (
    Paragraph,
    Piece,
    View,
    aside,
    extremes,
    heading,
    line,
    records,
)
from stereometer.core.types.groups import lists_by_key

if TYPE_CHECKING:
    from stereometer.core.shapes.differences import Shift
    from stereometer.wings.curation.analysis import Analysis, RankedTerm, RunAnalysis, ShapeAnalysis
    from stereometer.wings.curation.audit import Audit, RunAudit, ShapeAudit
    from stereometer.wings.curation.split import SplitParts
    from stereometer.wings.curation.terms import Terms

MOST_TERMS = 20
"""Of a list that is shown from its start."""


RANKED = (
    "A term has few items; the ends of a ranking are where chance collects. p: Holm over all terms."
)


def analysis(made: Analysis) -> View:
    parts = (piece for shape in made.shapes for piece in _analyzed(shape, made.sentiment))
    about = (f"content {made.digest[:12]}",)
    return View(made.benchmark, about=about, parts=tuple(parts), notes=tuple(made.notes))


def _analyzed(shape: ShapeAnalysis, judge: str) -> Iterator[Piece]:
    yield heading(f"{numbers.count(shape.items, 'item')} of shape {shape.shape}")
    yield from records(shape.statistics)
    yield from _sentiment(shape, judge)
    yield heading("keywords (times as frequent as in the language)")
    words = lists_by_key((each.group, f"{each.word} {each.score:.0f}") for each in shape.keywords)
    yield from (line(f"{group}: {', '.join(its)}") for group, its in words.items())
    yield from _labels(shape)
    for run in shape.runs:
        yield from _analyzed_run(run, shape.shape)


def _sentiment(shape: ShapeAnalysis, judge: str) -> Iterator[Piece]:
    yield heading(f"sentiment in percent, by {judge}")
    yield from records([dict(vars(tone)) for tone in shape.tones])
    yield from records(
        [
            {
                "negative, stereotype - other": row.group,
                "n": row.n,
                "difference": numbers.signed_interval(row.difference, row.low, row.high),
                "p": numbers.p_words(row.p_adjusted),
                "verdict": row.verdict,
                "test": row.test,
            }
            for row in shape.contrasts
        ]
    )


def _labels(shape: ShapeAnalysis) -> Iterator[Piece]:
    yield heading("validators")
    alpha = shape.alpha
    if alpha.value is None:
        yield line(f"Krippendorff's alpha: none; {alpha.why}.")
    else:
        span = "" if alpha.low is None else f" [{alpha.low:.3f}, {alpha.high:.3f}]"
        labels = f"{alpha.labels} labels of {alpha.units} units"
        yield line(f"Krippendorff's alpha (names): {alpha.value:.3f}{span}, {labels}")
    levels = ", ".join(f"{level}: {count}" for level, count in shape.levels.items())
    yield line(f"items by validators who gave the item's own label: {levels}")
    if shape.term_agreement:
        yield line("agreement by target term, lowest and highest (all of them: --json)")
        yield from records(extremes(shape.term_agreement))


def _analyzed_run(run: RunAnalysis, kind: str) -> Iterator[Piece]:
    variant = f"variant {run.variant}"
    if run.terms:
        title = f"most and least stereotyped terms · {run.model} · {run.measure} · {variant}"
        yield heading(title)
        yield from records([_term(term, kind) for term in run.terms])
        yield from aside(RANKED)
    for part in run.restricted:
        agreed = f"where at least {part.validators} validators agree ({part.items} items)"
        yield heading(f"{agreed} · {run.model} · {variant}")
        yield from shifts(part.shifts, "agreed", kind)


def _term(term: RankedTerm, kind: str) -> dict[str, str]:
    shape, leading = catalog.shape(kind), term.leading
    values = {
        name: numbers.with_interval(estimate, shape.metric(name).digits)
        for name, estimate in term.estimates.items()
    }
    return {
        "": f"  {term.target}" if term.target else term.domain,
        "end": term.end if term.target else "",
        "n": str(leading.n) if leading else "",
        **values,
        f"what {term.ranked_by} says": numbers.says(leading) if leading else "",
    }


def shifts(moved: Sequence[Shift], kept: str, kind: str) -> Iterator[Piece]:
    """Overall, tasks and domains; the finer slices are in --json."""
    shape = catalog.shape(kind)
    rows = [(shift, shape.metric(shift.name).digits) for shift in moved if len(shift.slice) < 2]
    return records(
        [
            {
                "": numbers.slice_name(shift.slice),
                "metric": shift.name,
                "all": numbers.number(shift.value, digits),
                "n": shift.n,
                kept: numbers.number(shift.kept, digits),
                f"n {kept}": shift.n_kept,
                "shift": _shift(shift, digits),
                "verdict": shift.verdict or "",
            }
            for shift, digits in rows
        ]
    )


def _shift(shift: Shift, digits: int) -> str:
    if shift.why or shift.difference is None:
        return shift.why or ""
    return numbers.signed_interval(shift.difference, shift.low, shift.high, digits)


WARNING = " the examples state stereotypes about people, many of them offensive."
AUDITED = "Intervals are of one shift at a time, without correction for the number of shifts shown."


def audit(made: Audit) -> View:
    flags = [flag for shape in made.shapes for flag in shape.flags]
    texts = any(example.texts for flag in flags for example in flag.examples)
    warning = [line(WARNING, bold="Content warning:")] * texts
    shapes = (piece for shape in made.shapes for piece in _audited(shape, made))
    return View(parts=(*warning, *shapes))


def _audited(shape: ShapeAudit, made: Audit) -> Iterator[Piece]:
    """How many items have which flag, examples, and what the flags do to runs."""
    items = f"{numbers.count(shape.items, 'item')} of shape {shape.shape}"
    yield heading(f"{made.benchmark} · {items}: {shape.clean} clean, {shape.flagged} not")
    if made.errata:
        yield line(
            f"errata {made.errata}: {shape.dropped} dropped, "
            f"{shape.kept} kept whatever the flags say, {shape.corrected} corrected"
        )
    yield from records(
        [
            {
                "flag": flag.name,
                "items": "" if flag.count is None else str(flag.count),
                "": flag.why or ("" if flag.name in made.counting else "does not count"),
            }
            for flag in shape.flags
        ]
    )
    yield from _examples(shape)
    for run in shape.runs:
        yield from _audited_run(run, shape.shape)


def _examples(shape: ShapeAudit) -> Iterator[Paragraph]:
    for flag in shape.flags:
        yield line(f": {flag.definition}", bold=flag.name, whole=True)
        for example in flag.examples:
            reason = f": {example.found}" if example.found else ""
            texts = "".join(f"\n      {key}: {text}" for key, text in example.texts.items())
            yield line(f"    {example.id}{reason}{texts}", whole=True)


def _audited_run(run: RunAudit, kind: str) -> Iterator[Piece]:
    metric = catalog.shape(kind).metric
    yield heading(f"all and clean items · {run.model} · {run.measure} · variant {run.variant}")
    yield from shifts(run.shifts, "clean", kind)
    yield heading("overall, leaving out only the items of one flag")
    yield from records(
        [
            {
                "flag": name,
                "metric": shift.name,
                "left": shift.n_kept,
                "shift": _shift(shift, metric(shift.name).digits),
                "verdict": shift.verdict or "",
            }
            for name, moved in run.by_flag.items()
            for shift in moved
        ]
    )
    yield from aside(AUDITED)


def split(made: SplitParts) -> View:
    rows = [
        {
            "part": f"{part.part}{' (hidden)' if part.hidden else ''}",
            "items": part.items,
            "terms": "" if part.terms is None else part.terms,
            "connected groups": part.connected,
            "file": part.file,
        }
        for part in made.parts
    ]
    return View(parts=tuple(records(rows)))


def terms(made: Terms) -> View:
    rows = [
        {
            "term": row.target,
            "people": row.people,
            "frequency (Zipf)": row.zipf,
            "rare": "rare" if row.rare else "",
            "contains": row.contains,
        }
        for row in made.terms[:MOST_TERMS]
    ]
    rare = sum(row.rare for row in made.terms)
    nested = sum(bool(row.contains) for row in made.terms)
    more = f" The first {MOST_TERMS} are shown." if len(made.terms) > MOST_TERMS else ""
    counts = (
        f"{len(made.terms)} terms: {rare} rare, {nested} with another term inside; "
        f"{made.unlabelled} rows without a label left out.{more}"
    )
    return View(parts=(*records(rows), line(counts)))
