"""What a data set is like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.cli.show import extremes
from stereometer.show import numbers

if TYPE_CHECKING:
    from stereometer.curation.analysis import Analysis, RankedTerm, RunAnalysis, ShapeAnalysis
    from stereometer.shapes.differences import Shift

TERMS = (
    "A term has few items; the ends of a ranking are where chance collects. p: Holm over all terms."
)


def print_analysis(analysis: Analysis) -> None:
    render.heading(analysis.benchmark, f"content {analysis.digest[:12]}")
    render.notes(analysis.notes)
    for shape in analysis.shapes:
        render.heading(f"{numbers.count(shape.items, 'item')} of shape {shape.shape}")
        render.records(shape.statistics)
        _print_sentiment(shape, analysis.sentiment)
        _print_keywords(shape)
        _print_labels(shape)
        for run in shape.runs:
            _print_run(run, shape.shape)


def _print_sentiment(shape: ShapeAnalysis, judge: str) -> None:
    render.heading(f"sentiment in percent, by {judge}")
    render.records([dict(vars(tone)) for tone in shape.tones])
    render.records(
        [
            {
                "negative, stereotype - other": contrast.group,
                "n": contrast.n,
                "difference": numbers.signed_interval(
                    contrast.difference, contrast.low, contrast.high
                ),
                "p": numbers.p_words(contrast.p_adjusted),
                "verdict": contrast.verdict,
                "test": contrast.test,
            }
            for contrast in shape.contrasts
        ]
    )


def _print_keywords(shape: ShapeAnalysis) -> None:
    render.heading("keywords (times as frequent as in the language)")
    groups: dict[str, list[str]] = {}
    for keyword in shape.keywords:
        groups.setdefault(keyword.group, []).append(f"{keyword.word} {keyword.score:.0f}")
    for group, words in groups.items():
        render.line(f"{group}: {', '.join(words)}")


def _print_labels(shape: ShapeAnalysis) -> None:
    render.heading("validators")
    alpha = shape.alpha
    if alpha.value is None:
        render.line(f"Krippendorff's alpha: none; {alpha.why}.")
    else:
        span = "" if alpha.low is None else f" [{alpha.low:.3f}, {alpha.high:.3f}]"
        labels = f"{alpha.labels} labels of {alpha.units} units"
        render.line(f"Krippendorff's alpha (names): {alpha.value:.3f}{span}, {labels}")
    levels = ", ".join(f"{level}: {count}" for level, count in shape.levels.items())
    render.line(f"items by validators who gave the item's own label: {levels}")
    if shape.term_agreement:
        render.line("agreement by target term, lowest and highest (all of them: --json)")
        render.records(extremes(shape.term_agreement))


def _print_run(run: RunAnalysis, kind: str) -> None:
    variant = f"variant {run.variant}"
    if run.terms:
        title = f"most and least stereotyped terms · {run.model} · {run.measure} · {variant}"
        render.heading(title)
        render.records([_term(term, kind) for term in run.terms])
        render.aside(TERMS)
    for part in run.restricted:
        agreed = f"where at least {part.validators} validators agree ({part.items} items)"
        render.heading(f"{agreed} · {run.model} · {variant}")
        print_shifts(part.shifts, "agreed", kind)


def _term(term: RankedTerm, kind: str) -> dict[str, str]:
    from stereometer import catalog

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


def print_shifts(shifts: Sequence[Shift], kept: str, kind: str) -> None:
    """Overall, tasks and domains; the finer slices are in --json."""
    from stereometer import catalog

    shape = catalog.shape(kind)
    rows = [(shift, shape.metric(shift.name).digits) for shift in shifts if len(shift.slice) < 2]
    render.records(
        [
            {
                "": numbers.slice_name(shift.slice),
                "metric": shift.name,
                "all": numbers.number(shift.value, digits),
                "n": shift.n,
                kept: numbers.number(shift.kept, digits),
                f"n {kept}": shift.n_kept,
                "shift": shift_words(shift, digits),
                "verdict": shift.verdict or "",
            }
            for shift, digits in rows
        ]
    )


def shift_words(shift: Shift, digits: int) -> str:
    if shift.why or shift.difference is None:
        return shift.why or ""
    return numbers.signed_interval(shift.difference, shift.low, shift.high, digits)
