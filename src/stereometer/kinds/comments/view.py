"""The first tables of answers about comments: how many were right, and what they were read as."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stereometer.core.shapes import view
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.verdicts import FAMILIES
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Piece, View, aside
from stereometer.core.types import Result, Score, Slice
from stereometer.kinds.comments import answers
from stereometer.kinds.comments.items import MISSPELLING, setting_of, slim

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


def first_tables(shape: Shape, results: Sequence[Result]) -> View:
    edited = view.has(results, "flipped")
    if not edited and not view.has(results, "accuracy"):
        return view.plain(shape, results)
    rows = view.rows_of(shape, results, slice_label)
    table = _flip_table(rows) if edited else _accuracies(shape, rows, view.head(results, shape))
    legend = (*_absent(rows), *_asides(results), *_reading(edited))
    parts: tuple[Piece, ...] = (table, *view.undeclared(shape, results), *aside(*legend))
    return View(about=tuple(_repeats(results[0].settings)), parts=parts)


def slice_label(slice_: Slice) -> str:
    parts = (f"set {value}" if key == "example_set" else value for key, value in slice_.items())
    return " / ".join(parts) or "overall"


def _repeats(settings: Mapping[str, Any]) -> Iterator[str]:
    if "repeats" in settings:
        temperature = settings.get("temperature")
        at = "" if temperature is None else f" at temperature {temperature:g}"
        yield f"{numbers.count(settings['repeats'], 'repeat')}{at}"


def _accuracies(shape: Shape, rows: Sequence[view.Row], first: Cell) -> Table:
    heads = [number("answers", spare=8), number("comments", spare=9)]
    heads += [number(shape.metric(name).label, spare=at) for at, name in enumerate(SHOWN)]
    body = []
    for label, estimates in rows:
        if accuracy := estimates.get("accuracy"):
            counts = (view.used_cell(accuracy), number(str(accuracy.terms or "")))
            values = [view.value_cell(estimates.get(name)) for name in SHOWN]
            body.append((text(label), *counts, *values, *view.verdict_cells(accuracy)))
    return view.narrowing((first, *heads, *view.VERDICT), body)


def _flip_table(rows: Sequence[view.Row]) -> Table:
    titles = ("", "comments", "turned round by an edit", "verdict")
    body = []
    for label, flips in ((label, estimates["flipped"]) for label, estimates in rows):
        says = f"{flips.verdict} ({numbers.p_words(flips.p)})" if flips.verdict else ""
        body.append((text(label), view.used_cell(flips), view.value_cell(flips), text(says)))
    return Table(tuple(map(text, titles)), tuple(body))


def _absent(rows: Sequence[view.Row]) -> Iterator[str]:
    every = [estimate for _, estimates in rows for estimate in estimates.values()]
    reasons = list(dict.fromkeys(each.why for each in every if each.value is None))
    yield from (f"none: {why}." for why in reasons[:SHOWN_REASONS])
    if len(reasons) > SHOWN_REASONS:
        yield f"none, for {len(reasons) - SHOWN_REASONS} more reasons of that kind: --json."


def _asides(results: Sequence[Result]) -> Iterator[str]:
    """Which answers could not be used, and the metrics that get a sentence."""
    for result in results:
        estimates = view.overall(result)
        for reason, count in sorted(next(iter(estimates.values())).skipped.items()):
            yield f"{numbers.count(count, 'answer')} not used: {reason}."
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
        f"chance, labels shuffled over comments; {FAMILIES}."
    )
    yield (
        "Chance is an accuracy of 50 where a category applies half of the time; "
        "always answering the same way is right that often."
    )


def answered(result: Result, scores: Iterable[Score]) -> view.Answered:
    """What the answers were read as, those out of scope, and the comments that edits turned."""
    every, setting = slim(scores), setting_of(result.settings["setting"])
    read, strange = answers.confusion(every), answers.out_of_scope(every, setting)
    document: dict[str, Any] = {"confusion": read, "out_of_scope": strange}
    if setting.mixed:
        document["confusion_by_set"] = answers.confusion_by_set(every, result.variant)
    if setting is MISSPELLING:
        document["flipped"] = answers.flipped(every)
    legend = (*_strange(strange), *_turned_comments(document.get("flipped", ())))
    return view.Answered(document, View(parts=(_confusion(read), *aside(*legend))))


def _confusion(read: Mapping[str, Mapping[str, int]]) -> Table:
    labels = answers.labels_read(read)
    rows = [
        (text(gold), *(text(str(row.get(label, 0))) for label in labels))
        for gold, row in read.items()
    ]
    return Table((text("gold \\ read as"), *map(text, labels)), tuple(rows))


def _strange(strange: Sequence[tuple[str, int]]) -> Iterator[str]:
    if strange:
        shown = [(repr(answer) if answer else "empty", times) for answer, times in strange]
        only = ", ".join(f"{answer} {times}x" for answer, times in shown[:SHOWN_ANSWERS])
        more = " ..." if len(strange) > SHOWN_ANSWERS else ""
        total = numbers.count(sum(times for _, times in strange), "answer")
        yield f"{total} unreadable ({only if shown[1:] else shown[0][0]}{more})"


def _turned_comments(flips: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Which comments an edit turned round, by their rows."""
    comments = dict.fromkeys(f"{flip['comment']} ({flip['category']})" for flip in flips)
    if comments:
        yield f"turned round by {len(flips)} edits: {', '.join(comments)} (each edit: --json)."
