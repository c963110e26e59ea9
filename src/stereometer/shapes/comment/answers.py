"""What was answered about comments: what gold labels were read as, and answers that are none of the
words asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stereometer.shapes.comment.items import NEITHER, SEPARATOR, UNNAMED
from stereometer.shapes.comment.metrics import FN, FP, TN, TP, categories, decisions
from stereometer.shapes.comment.settings import Setting
from stereometer.types import UNWRITTEN, Score, Variant


def out_of_scope(scores: Iterable[Score], setting: Setting) -> list[tuple[str, int]]:
    """Answers that are none of the words asked for and could not be read as one, with counts, the
    most frequent first (the study's Table 5)."""
    every = list(scores)
    labels = dict.fromkeys([NEITHER, *(score.slices["gold"] for score in every)])
    counts = Counter(
        _first_line(answer["text"])
        for score in every
        for answer in score.answers
        if answer.get("label", UNNAMED) == UNNAMED
        and _was_written(answer)
        and not in_scope(answer["text"], _words_for(score, labels, setting))
    )
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _was_written(answer: Mapping[str, str]) -> bool:
    """Not where the prompt was too long or a filter held the answer back."""
    return bool(answer["text"].strip()) or answer.get("skipped") not in UNWRITTEN


def _words_for(score: Score, labels: Iterable[str], setting: Setting) -> list[str]:
    """The words that a question of the setting asks for."""
    if setting.mixed:
        return list(labels)
    category = score.slices["category"]
    return [category, f"not-{category}", f"not {category}"] if setting.words else ["yes", "no"]


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0].strip()


def confusion(scores: Iterable[Score]) -> dict[str, dict[str, int]]:
    """How often each gold label was read as what; reasons stand in round brackets."""
    rows: dict[str, Counter[str]] = {}
    for score in scores:
        row = rows.setdefault(score.slices["gold"], Counter())
        row.update(
            (
                answer["label"].replace(SEPARATOR, ", ")
                if "label" in answer
                else f"({answer['skipped']})"
            )
            for answer in score.answers
        )
        row.update([f"({score.skipped})"] if score.skipped else [])
    return {gold: dict(sorted(row.items())) for gold, row in rows.items()}


def confusion_by_set(scores: Iterable[Score], variant: Variant) -> list[dict[str, Any]]:
    """Of each category and example set, how often comments that are of it and comments that are
    not were called so (the study's Tables 18 to 21); one row for all sets comes last."""
    every = [score for score in scores if "example_set" in score.slices]
    numbers = sorted({score.slices["example_set"] for score in every}, key=int)
    parts = [(n, [score for score in every if score.slices["example_set"] == n]) for n in numbers]
    return [
        {"category": category, "example_set": number, **_cells(part, category, variant)}
        for category in categories(every)
        for number, part in [*parts, ("all", every)]
    ]


def _cells(scores: Sequence[Score], category: str, variant: Variant) -> dict[str, int]:
    counts = Counter(row.cell for row in decisions(scores, category, variant))
    order = {"rightly_not": TN, "wrongly_called": FP, "missed": FN, "rightly_called": TP}
    return {name: counts[cell] for name, cell in order.items()}


def in_scope(text: str, words: Sequence[str]) -> bool:
    """Whether the first line of an answer is one of the words asked for and nothing else."""
    return text.strip().split("\n")[0].strip().strip(".\"'!").strip().lower() in {
        word.lower() for word in words
    }


def first_label(score: Score) -> str | None:
    """What the first answer was read as."""
    return next((answer.get("label") for answer in score.answers), None)


def flipped(scores: Iterable[Score]) -> list[dict[str, str]]:
    """Every comment that an edit turned round, by its row, with the edit and both readings.

    A limit may have drawn an edited copy without the comment as it was: that one says nothing.
    """
    every = list(scores)
    before = {_place(score): first_label(score) for score in every if "edit" not in score.slices}
    return [
        {**_place(score)._asdict(), "edit": score.slices["edit"], "was": was, "now": now}
        for score in every
        if "edit" in score.slices
        and (was := before.get(_place(score))) is not None
        and (now := first_label(score)) is not None
        and was != now
    ]


class Place(NamedTuple):
    """A question: which comment, and the category it is asked about."""

    comment: str
    category: str


def _place(score: Score) -> Place:
    return Place(score.slices["comment"], score.slices["category"])
