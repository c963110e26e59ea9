"""What was answered about comments: what gold labels were read as, and what is out of scope."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stereometer.core.types import UNWRITTEN, Score, Variant
from stereometer.kinds.comments.items import NEITHER, SEPARATOR, UNNAMED, Setting
from stereometer.kinds.comments.metrics import FN, FP, TN, TP, categories, decisions

PLACE = ("comment", "category")
"""A question: which comment, and the category it is asked about."""


def out_of_scope(scores: Iterable[Score], setting: Setting) -> list[tuple[str, int]]:
    """Answers that are none of the words asked for and could not be read as one, with counts, the
    most frequent first (the study's Table 5)."""
    every = list(scores)
    labels = dict.fromkeys([NEITHER, *(score.slices["gold"] for score in every)])
    counts = Counter(
        first_line(answer["text"])
        for score in every
        for answer in score.answers
        if answer.get("label", UNNAMED) == UNNAMED
        # Not where the prompt was too long or a filter held the answer back.
        and (answer["text"].strip() or answer.get("skipped") not in UNWRITTEN)
        and not in_scope(answer["text"], _words_for(score, labels, setting))
    )
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _words_for(score: Score, labels: Iterable[str], setting: Setting) -> list[str]:
    """The words that a question of the setting asks for."""
    if setting.mixed:
        return list(labels)
    category = score.slices["category"]
    return [category, f"not-{category}", f"not {category}"] if setting.words else ["yes", "no"]


def confusion(scores: Iterable[Score]) -> dict[str, dict[str, int]]:
    """How often each gold label was read as what; reasons stand in round brackets."""
    rows: dict[str, Counter[str]] = {}
    for score in scores:
        row = rows.setdefault(score.slices["gold"], Counter())
        for answer in score.answers:
            label = answer.get("label", "").replace(SEPARATOR, ", ")
            row[label if "label" in answer else f"({answer['skipped']})"] += 1
        row.update([f"({score.skipped})"] if score.skipped else [])
    return {gold: dict(sorted(row.items())) for gold, row in rows.items()}


def labels_read(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What gold labels were read as, reasons last."""
    labels = {label for row in counts.values() for label in row}
    return sorted(labels, key=lambda label: (label.startswith("("), label))


def confusion_by_set(scores: Iterable[Score], variant: Variant) -> list[dict[str, Any]]:
    """Of each category and example set, how often comments that are of it and comments that are
    not were called so (the study's Tables 18 to 21); one row for all sets comes last."""
    every = [score for score in scores if "example_set" in score.slices]
    numbers = sorted({score.slices["example_set"] for score in every}, key=int)
    parts = [(n, [score for score in every if score.slices["example_set"] == n]) for n in numbers]
    return [
        {
            "category": category,
            "example_set": number,
            "rightly_not": counts[TN],
            "wrongly_called": counts[FP],
            "missed": counts[FN],
            "rightly_called": counts[TP],
        }
        for category in categories(every)
        for number, part in [*parts, ("all", every)]
        for counts in [Counter(row.cell for row in decisions(part, category, variant))]
    ]


def in_scope(text: str, words: Sequence[str]) -> bool:
    """Whether the first line of an answer is one of the words asked for and nothing else."""
    plain = first_line(text).strip(".\"'!").strip().lower()
    return plain in {word.lower() for word in words}


def first_line(text: str) -> str:
    return text.strip().split("\n")[0].strip()


def first_label(score: Score) -> str | None:
    """What the first answer was read as."""
    return next((answer.get("label") for answer in score.answers), None)


def flipped(scores: Iterable[Score]) -> list[dict[str, str]]:
    """Every comment that an edit turned round, by its row, with the edit and both readings. A limit
    may have drawn an edited copy without the comment as it was: that one says nothing."""
    every = list(scores)
    before = {_place(score): first_label(score) for score in every if "edit" not in score.slices}
    turned = []
    for score in every:
        was, now = before.get(_place(score)), first_label(score)
        if "edit" in score.slices and was and now and was != now:
            slices = {name: score.slices[name] for name in (*PLACE, "edit")}
            turned.append({**slices, "was": was, "now": now})
    return turned


def _place(score: Score) -> tuple[str, ...]:
    return tuple(score.slices[name] for name in PLACE)
