"""Answers about comments that were collected elsewhere: rows, what labels mean, and scores."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path

from stereometer.core.errors import DataError
from stereometer.core.shapes.sentences import plain_name
from stereometer.core.tables import Layout, read_rows
from stereometer.core.types import Score
from stereometer.kinds.comments.benchmarks import RENAMED
from stereometer.kinds.comments.items import MISSPELLING, NEITHER, Comment, Setting
from stereometer.kinds.comments.recognition.method import Recognition, scored
from stereometer.kinds.comments.recognition.questions import Question
from stereometer.kinds.comments.recognition.reading import AnswerReader
from stereometer.wings.replay.answer_rows import AnswerRows, Row

FIELDS = ("comment", "answer", "label", "category", "repeat", "example_set", "original", "status")
"""Columns of a file of answers, by our names."""


def uneven(counts: Mapping[int, int], questions: int) -> Iterator[str]:
    """Metrics are means over repeats: a part of one weighs as much as a whole one. `counts` is how
    many answers each repeat has."""
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    if 2 * least < most:
        yield (
            f"The repeats of the file have from {least} to {most} answers, and every repeat counts "
            "the same in the means. Leave out what is no whole repeat, or number them in a column."
        )
    elif 2 * most < questions:
        yield (
            f"No repeat of the file has answers to more than {most} of its {questions} questions, "
            "and metrics are means over repeats. Name the column that numbers repeats."
        )


def labels_in(rows: Iterable[Row], setting: Setting, neither: str) -> Mapping[str, str]:
    """Where all categories are asked about, the labels of a file, each as it is first written."""
    none = {plain_name(word) for word in (*NONE, neither)}
    spelt: dict[str, str] = {}
    for row in rows:
        if setting.mixed and row["label"].strip() and plain_name(row["label"]) not in none:
            spelt.setdefault(plain_name(row["label"]), row["label"].strip())
    return {word: word for word in spelt.values()}


def read_answers(path: Path, setting: Setting, layout: Layout) -> Iterator[dict[str, str]]:
    """Each row as text under our own names; what is not given is empty."""
    layout.check(FIELDS, "A file of answers")
    needed = ["comment", "answer", "label", *([] if setting.mixed else ["category"])]
    needed += ["original", "status"] if setting is MISSPELLING else []
    optional = ["repeat", "example_set"]
    for _, row in read_rows(path, needed, RENAMED, layout, optional):
        values = {name: row.get(name) for name in (*needed, *optional)}
        yield {name: "" if value is None else str(value) for name, value in values.items()}


YES, NO = ("yes", "true", "1", "1.0"), ("no", "false", "0", "0.0")
"""Labels that say of the category asked about whether it holds."""
NONE = (NEITHER, "not hate", "none")
"""Labels of a comment that is of no category."""


@dataclass(frozen=True)
class Golds:
    """What the labels of a file mean, however they are spelt; a category may go by its noun."""

    path: Path
    words: Mapping[str, str]
    """The word of each category column."""
    named: Sequence[str]
    """The categories that the file asks about, as it names them."""
    neither: str
    nouns: Mapping[str, str] = field(default_factory=dict)
    """Other names of the words."""

    @cached_property
    def known(self) -> Mapping[str, str]:
        """By each of its names the word of a category."""
        words = self.words.values()
        nouns = {noun: word for noun, word in self.nouns.items() if word in words}
        names = {**self.words, **nouns, **{word: word for word in words}}
        return {plain_name(name): word for name, word in names.items()}

    def category(self, text: str) -> str:
        """By the word of the category, where it is a known one."""
        if not text.strip():
            raise DataError(
                f"{self.path} has a row without a category. One category is asked about at a time, "
                "and it is not clear which. Fix the row, or name another column."
            )
        return self.known.get(plain_name(text)) or next(
            name.strip() for name in self.named if plain_name(name) == plain_name(text)
        )

    def single(self, label: str, category: str) -> str:
        """The category asked about, or not; a known other category is not."""
        names = {plain_name(name): self.category(name) for name in self.named if name.strip()}
        names[plain_name(category)] = category
        names |= self.known if category in self.words.values() else {}
        denials = (*NO, f"not {category}", f"non {category}", *NONE, self.neither)
        golds = dict.fromkeys(YES, category)
        golds |= dict.fromkeys(map(plain_name, denials), f"not-{category}")
        for name, word in names.items():
            golds[name] = category if word == category else f"not-{category}"
        return self._one_of(label, golds)

    def mixed(self, label: str) -> str:
        none = dict.fromkeys(map(plain_name, (*NONE, self.neither)), NEITHER)
        return self._one_of(label, {**none, **self.known})

    def _one_of(self, label: str, golds: Mapping[str, str]) -> str:
        if plain_name(label) not in golds:
            raise DataError(
                f"{self.path} has the label '{label[:40]}'. The labels that are known are "
                f"{', '.join(golds)}. Say what it means with --category LABEL=CATEGORY or "
                "--neither LABEL, or repair the rows."
            )
        return golds[plain_name(label)]


Turns = Sequence[tuple[int, Row]]
"""The answers to a question with their repeats, counted from 0."""


def sort_rows(rows: AnswerRows, measure: Recognition, golds: Golds) -> None:
    """Rows of one question together; of all categories, several may hold of a comment."""

    def sorted_(row: Row) -> tuple[str, str, str]:
        category = "" if measure.setting.mixed else golds.category(row["category"])
        gold = golds.single(row["label"], category) if category else golds.mixed(row["label"])
        return category, _number(row["example_set"]), gold

    rows.sort(sorted_)


def asked_in(rows: AnswerRows, golds: Golds) -> Iterator[tuple[Question, Turns]]:
    """The questions of sorted rows, each with its answers in turn."""
    every = (*dict.fromkeys(golds.words.values()), NEITHER)
    # Counted from 0 over the file: a question that lacks a repeat has that gap.
    repeats = {row["repeat"] for row in rows.distinct("repeat")} - {""}
    ordered = sorted(repeats, key=lambda name: (len(name), name))
    order = {name: at for at, name in enumerate(ordered)}
    for asked in rows.questions():
        _check_golds(asked.by_gold, golds.path)
        category, several = asked.category, len(asked.by_gold) > 1
        labels = (category, f"not-{category}") if category else every
        for gold, answered in asked.by_gold.items():
            comment = Comment(asked.comment, asked.text, {}, 0)
            shown, twin = "" if category else asked.example_set, gold if several else ""
            question = Question(comment, gold, labels, category, example_set=shown, twin=twin)
            yield question, _in_turn(answered, order, golds.path)


def scored_rows(rows: AnswerRows, measure: Recognition, golds: Golds) -> Iterator[Score]:
    for question, turns in asked_in(rows, golds):
        yield _score(question, turns, measure, golds)


def _score(question: Question, turns: Turns, measure: Recognition, golds: Golds) -> Score:
    words = dict(measure.prompts.words(question))
    if NEITHER in words:  # also by the file's own word
        words[NEITHER] = golds.neither
    reader = AnswerReader(measure.setting, measure.variant)
    read = ((str(at), reader.read_text(row["answer"], words)) for at, row in turns)
    return scored(question, [{**reading, "repeat": at} for at, reading in read])


EDITED, UNEDITED = "edited", "unedited"


def misspelt_rows(rows: Iterable[Row], measure: Recognition, golds: Golds) -> Iterator[Score]:
    """Comments as they were and with edits; a copy that is there twice says nothing."""
    seen: dict[tuple[str, str], list[str]] = {}
    known = ((_is_edited(row["status"], golds.path), row) for row in rows)
    for edited, row in sorted(known, key=itemgetter(0)):
        category, original = golds.category(row["category"]), row["original"]
        gold = golds.single(row["label"], category)
        copies = seen.setdefault((category, original), [])
        if row["comment"] in copies:
            continue
        if edited != bool(copies):
            raise DataError(
                f"{golds.path}: comment {original[:40]!r} ({category}) is not there exactly once "
                "unedited. Edits are compared with the unedited comment. Fix the rows."
            )
        copies.append(row["comment"])
        comment = Comment(f"text-{original}", row["comment"], {}, 0)
        edit, labels = f"copy {len(copies) - 1}" if edited else "", (category, f"not-{category}")
        question = Question(comment, gold, labels, category, edit=edit, text=row["comment"])
        yield _score(question, [(0, row)], measure, golds)


def _is_edited(text: str, path: Path) -> bool:
    status = text.strip().lower()
    if status not in (EDITED, UNEDITED):
        raise DataError(
            f"{path} has the status '{text[:40]}'. It is {EDITED} or {UNEDITED}. Fix the rows."
        )
    return status == EDITED


def _check_golds(golds: Collection[str], path: Path) -> None:
    """Several categories may hold of a comment, but not one and its opposite."""
    if len(golds) > 1 and any(gold == NEITHER or gold.startswith("not-") for gold in golds):
        raise DataError(
            f"{path}: one comment is labelled {' and '.join(sorted(golds))} for the same question. "
            "It is one or the other. Fix the rows."
        )


def _number(text: str) -> str:
    if not text:
        return ""
    try:
        return str(int(float(text)))
    except (ValueError, OverflowError):
        raise DataError(
            f"The example set '{text[:40]}' is not a number. Sets are. Name another column."
        ) from None


def _in_turn(rows: Sequence[Row], order: Mapping[str, int], path: Path) -> Turns:
    """The answers to one question with their repeats; without those, in the order of the file."""
    if not all(row["repeat"] for row in rows):
        return list(enumerate(rows))
    if len({row["repeat"] for row in rows}) < len(rows):
        raise DataError(
            f"{path} has the same repeat of a question twice. It is not clear which answer counts. "
            "Leave out one, or name another column."
        )
    return sorted(((order[row["repeat"]], row) for row in rows), key=itemgetter(0))
