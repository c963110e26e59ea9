"""The first tables of answers about comments: how many were right, and what they were read as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stereometer.shapes.comment.answers import confusion, confusion_by_set, flipped, out_of_scope
from stereometer.shapes.comment.settings import MISSPELLING, setting_of
from stereometer.shapes.comment.slim import slim
from stereometer.shapes.overview import (
    Answered,
    Overview,
    Row,
    has,
    overall,
    plain,
    rows_of,
    undeclared,
    used_cell,
    value_cell,
    verdict_cells,
    verdict_heads,
)
from stereometer.shapes.shape import Shape
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text
from stereometer.types import Estimate, Result, Score, Slice

SHOWN_REASONS = 3
SHOWN_ANSWERS = 12
"""Out-of-scope answers on a terminal; all of them are in --json and in the run."""
SHOWN = ("accuracy", "precision", "recall", "f1", "repeat_agreement")
ASIDES = {
    "readings_agree": "of the written answers agree with the likeliest label word",
    "likelihood_accuracy": "of the likeliest label words are right",
    "matches": "of the answers are the gold label and no other",
}
"""Metrics that get a sentence instead of a column."""


def overview(shape: Shape, results: Sequence[Result]) -> Overview:
    edited = has(results, "flipped")
    if not edited and not has(results, "accuracy"):
        return plain(shape, results)
    rows = rows_of(shape, results, _label)
    table = _flips(rows) if edited else _accuracies(shape, rows)
    return Overview(
        (table, *undeclared(shape, results)),
        (*_absent(rows), *_asides(results), *_reading(edited)),
        remarks=tuple(_asked(results[0].settings)),
    )


def _label(slice_: Slice) -> str:
    return f"{'set ' if 'example_set' in slice_ else ''}{numbers.slice_name(slice_)}"


def _asked(settings: Mapping[str, Any]) -> Iterator[str]:
    if "repeats" in settings:
        temperature = settings.get("temperature")
        at = "" if temperature is None else f" at temperature {temperature:g}"
        yield f"{numbers.count(settings['repeats'], 'repeat')}{at}"


def _accuracies(shape: Shape, rows: Sequence[Row]) -> Table:
    heads = [number(title) for title in ("answers", "comments")]
    heads += [number(shape.metric(name).label, spare=at) for at, name in enumerate(SHOWN)]
    body = tuple(_accuracy(*row) for row in rows if "accuracy" in row[1])
    return Table((text(""), *heads, *verdict_heads("what it says")), body)


def _accuracy(label: str, estimates: Mapping[str, Estimate]) -> tuple[Cell, ...]:
    accuracy = estimates["accuracy"]
    counts = (used_cell(accuracy), number(str(accuracy.terms or "")))
    values = [value_cell(estimates.get(name)) for name in SHOWN]
    return (text(label), *counts, *values, *verdict_cells(accuracy))


def _flips(rows: Sequence[Row]) -> Table:
    titles = ("", "comments", "turned round by an edit", "what it says")
    return Table(tuple(map(text, titles)), tuple(_flip(*row) for row in rows))


def _flip(label: str, estimates: Mapping[str, Estimate]) -> tuple[Cell, ...]:
    flips = estimates["flipped"]
    says = f"{flips.verdict} ({numbers.p_words(flips.p)})" if flips.verdict else ""
    return (text(label), used_cell(flips), value_cell(flips), text(says))


def _absent(rows: Sequence[Row]) -> Iterator[str]:
    reasons = list(
        dict.fromkeys(
            estimate.why
            for _, estimates in rows
            for estimate in estimates.values()
            if estimate.value is None
        )
    )
    for why in reasons[:SHOWN_REASONS]:
        yield f"none: {why}."
    if len(reasons) > SHOWN_REASONS:
        yield f"none, for {len(reasons) - SHOWN_REASONS} more reasons of that kind: --json."


def _asides(results: Sequence[Result]) -> Iterator[str]:
    """Which answers could not be used, and the metrics that get a sentence."""
    for result in results:
        estimates = overall(result)
        for reason, count in sorted(next(iter(estimates.values())).skipped.items()):
            yield f"{count} answers not used: {reason}."
        for name, words in ASIDES.items():
            estimate = estimates.get(name)
            if estimate is not None and estimate.value is not None:
                value, _, interval = numbers.with_interval(estimate).partition(" ")
                yield f"{value} % {interval} {words}."


def _reading(edited: bool) -> Iterator[str]:
    if edited:
        yield "p: McNemar's exact test on the comments that edits turn only one way."
        return
    yield (
        "[low, high]: 95 % intervals, comments resampled with all their answers. p: against "
        "chance, labels shuffled over comments, Holm over the slices of the same kind."
    )
    yield (
        "Chance is an accuracy of 50 where a category is asked about as often as not; "
        "always answering the same way is right that often."
    )


def answered(result: Result, scores: Iterable[Score]) -> Answered:
    """What the answers were read as, those out of scope, and the comments that edits turned."""
    every, setting = slim(scores), setting_of(result.settings["setting"])
    read, strange = confusion(every), out_of_scope(every, setting)
    document: dict[str, Any] = {"confusion": read, "out_of_scope": strange}
    if setting.mixed:
        document["confusion_by_set"] = confusion_by_set(every, result.variant)
    if setting is MISSPELLING:
        document["flipped"] = flipped(every)
    legend = (*_strange(strange), *_turned(document.get("flipped", ())))
    return Answered(document, Overview((_confusion(read),), legend))


def _confusion(read: Mapping[str, Mapping[str, int]]) -> Table:
    labels = sorted(
        {label for row in read.values() for label in row},
        key=lambda label: (label.startswith("("), label),
    )
    rows = [
        (text(gold), *(text(str(row.get(label, 0))) for label in labels))
        for gold, row in read.items()
    ]
    return Table((text("gold \\ read as"), *map(text, labels)), tuple(rows))


def _strange(answers: Sequence[tuple[str, int]]) -> Iterator[str]:
    if answers:
        shown = ", ".join(f"{answer!r} {count}x" for answer, count in answers[:SHOWN_ANSWERS])
        more = " ..." if len(answers) > SHOWN_ANSWERS else ""
        yield f"{len(answers)} different answers are out of scope: {shown}{more}"


def _turned(flips: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Which comments an edit turned round, by their rows."""
    comments = dict.fromkeys(f"{flip['comment']} ({flip['category']})" for flip in flips)
    if comments:
        yield f"turned round by {len(flips)} edits: {', '.join(comments)} (each edit: --json)."
