"""Asking in words: a model, or a file of answers collected elsewhere, on comments; what was said beside what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from stereometer import api, catalog
from stereometer.benchmarks.benchmark import Benchmark, Card, load_card
from stereometer.benchmarks.comments import (
    RENAMED,
    Columns,
    column_pair,
    misspellings,
    read_edits,
    read_own,
)
from stereometer.benchmarks.ethos import NOUNS, WORDS
from stereometer.errors import DataError, UsageError
from stereometer.files import read_rows
from stereometer.measures.recognition.measure import Asking, Recognition, recognition, scored
from stereometer.measures.recognition.questions import (
    STUDY_SIZE,
    Question,
    Sampling,
    questions,
)
from stereometer.measures.recognition.reading import Reader, in_scope
from stereometer.measures.recognition.settings import MISSPELLING, Setting, setting_of
from stereometer.runs.runner import Tally, Task, finish, limited
from stereometer.shapes.comment.items import NEITHER, SEPARATOR, Comment, categories_of, folded
from stereometer.types import UNWRITTEN, Backend, ModelCard, Score, Settings, Variant, digest_of

SLIP = "As printed: the overall F1 has the recall of one category in its numerator (f1_harmonic is the right one), and *_sd, the standard deviation over repeats, is what the study calls standard error."
"""The two slips of the study, reproduced only under `paper`."""


@dataclass(frozen=True)
class Sample:
    """Which comments are asked about."""

    variant: Variant | None = None
    """`paper` or `sound`; None for that of the run."""
    size: int = STUDY_SIZE
    threshold: float = 0.5
    words: Mapping[str, str] = field(default_factory=dict)
    """The word of each category; by default ETHOS's sexist and racist, or a user's own labels."""
    edits: Path | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(
                f"The size is {self.size}. At least one comment of each kind is needed. The study has {STUDY_SIZE}."
            )
        if not 0 < self.threshold <= 1:
            raise UsageError(
                f"The threshold is {self.threshold:g}. It is a share of annotators. Choose a number above 0, up to 1."
            )


def open_comments(name: str, data: Path | None, columns: Columns) -> Benchmark:
    """ETHOS by name, or a user's own table by path."""
    if not catalog.has("benchmark", name) and Path(name).exists():
        return read_own(Path(name), columns)
    return api.open_named(name, data)


def writing(model: Any) -> Backend:
    """The model, where it is one that can be asked."""
    if not isinstance(model, Backend):
        raise UsageError(
            f"{model.card.name} is a baseline that reads the gold labels of other sets. It cannot be asked in words. Name a model."
        )
    return model


def all_jobs(
    benchmark: Benchmark,
    names: Sequence[str],
    model: Backend,
    settings: Settings,
    how: Asking,
    sample: Sample,
    limit: int | None = None,
) -> Iterator[api.Job]:
    """Recognition where the set has comments, otherwise forced choice."""
    if "comment" in benchmark.shapes:
        return jobs(benchmark, names, model, settings, how, sample, limit)
    return choice_jobs(benchmark, model, settings, how, True if how.chat else None, limit)


def jobs(
    benchmark: Benchmark,
    names: Sequence[str],
    model: Backend,
    settings: Settings,
    how: Asking,
    sample: Sample,
    limit: int | None = None,
) -> Iterator[api.Job]:
    """One job a setting."""
    if settings.variant not in ("paper", "sound"):
        raise UsageError(
            f"Recognition has no variant '{settings.variant}'. It has paper and sound. Choose one of those."
        )
    drawn, words = _sampling(benchmark, settings, sample)
    edits = read_edits(sample.edits) if sample.edits else misspellings()
    for setting in [setting_of(name) for name in names]:
        measure = recognition(setting, model, settings.variant, how, settings.seed)
        items = limited(questions(setting, _comments(benchmark), drawn, edits), limit)
        asked = measure.asked | {
            "sample": drawn.variant,
            "size": drawn.size,
            "threshold": drawn.threshold,
            "categories": words,
        }
        if setting is MISSPELLING:
            asked |= {"edits": digest_of(list(edits))[:16]}
        task = Task(
            benchmark,
            items,
            measure.name,
            measure.summarize,
            model.card,
            "computed",
            settings,
            limit,
            notes_for(measure),
            asked=asked,
        )
        yield api.Job(task, api.Asking(measure, model))


def _comments(benchmark: Benchmark) -> Sequence[Comment]:
    found: Any = benchmark.items("comment")
    return list(found)


def _sampling(
    benchmark: Benchmark, settings: Settings, sample: Sample
) -> tuple[Sampling, dict[str, str]]:
    comments = _comments(benchmark)
    words = dict(sample.words) or (
        dict(WORDS)
        if benchmark.name == "ethos"
        else {name: name for name in categories_of(comments)}
    )
    unknown = [
        column
        for column in words
        if column not in {name for comment in comments for name in comment.scores}
    ]
    if unknown or not words:
        known = ", ".join(sorted({name for comment in comments for name in comment.scores}))
        raise UsageError(
            f"There is no category '{(unknown or ['?'])[0]}' in {benchmark.source}. Its categories are {known or 'none'}. Name one of them with --category."
        )
    return Sampling(
        sample.variant or settings.variant, settings.seed, sample.size, words, sample.threshold
    ), words


def notes_for(measure: Recognition) -> tuple[str, ...]:
    """What must be said with the numbers."""
    notes = (
        [SLIP]
        if measure.variant == "paper"
        and not measure.setting.mixed
        and measure.setting is not MISSPELLING
        else []
    )
    if measure.how.chat:
        notes.append(f"Asked as a conversation; chat template: {measure.asked['chat_template']}.")
    return tuple(notes)


# -------------------------------------------------------------------------------------- forced choice

CHOICES = {"cat": "cat-forced-choice", "pair": "pair-forced-choice"}


def choice_jobs(
    benchmark: Benchmark,
    model: Backend,
    settings: Settings,
    how: Asking,
    chat: bool | None,
    limit: int | None = None,
) -> Iterator[api.Job]:
    """Forced choice on each shape of a set, and the likelihoods beside it where they are asked for."""
    shapes = [
        shape for shape in benchmark.shapes if shape in CHOICES and shape in benchmark.measures
    ]
    if not shapes:
        raise UsageError(
            f"{benchmark.name} has no comments, CATs or pairs. Only those can be asked about in words. Name another set."
        )
    for shape in shapes:
        measure = catalog.find("measure", CHOICES[shape])(
            model, settings.variant, system=how.system, chat=chat
        )
        items = limited(benchmark.items(shape), limit)
        notes = (
            (f"Asked as a conversation; chat template: {measure.template_by}.",)
            if measure.chat
            else ()
        )
        task = Task(
            benchmark,
            items,
            measure.name,
            measure.summarize,
            model.card,
            "computed",
            settings,
            limit,
            notes,
            asked=measure.asked,
        )
        yield api.Job(task, api.Asking(measure, model))
        if how.likelihood:
            yield api.job_for(benchmark, shape, benchmark.measures[shape], model, settings, limit)


# ------------------------------------------------------------------------------------------ replaying


@dataclass(frozen=True)
class AnswerColumns:
    """Which columns of a file of answers hold what."""

    comment: str = "comment"
    answer: str = "answer"
    label: str = "label"
    category: str = "category"
    repeat: str = "repeat"
    example_set: str = "example_set"


def answer_columns(pairs: Sequence[str]) -> AnswerColumns:
    """`--column answer=response` and so on."""
    named = dict(column_pair(pair) for pair in pairs)
    known = [one.name for one in fields(AnswerColumns)]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise UsageError(
            f"--column names '{unknown[0]}'. A file of answers has {', '.join(known)}. For instance --column answer=response."
        )
    return AnswerColumns(**named)


@dataclass(frozen=True)
class _Said:
    """The text that a row is about."""

    id: str
    text: str
    row: int
    scores: Mapping[str, float] = field(default_factory=dict)
    hate: float | None = None


def replay_answers(
    path: Path, setting: Setting, settings: Settings, columns: AnswerColumns, out: Path | None, words: Mapping[str, str] | None = None,
    name: str | None = None, benchmark: str = "ethos", neither: str = NEITHER,
) -> api.Finished:  # fmt: skip
    """Answers collected elsewhere, read and scored again. The gold labels are the file's own; `neither` is its word for none of them."""
    if setting is MISSPELLING:
        raise UsageError(
            "Answers to misspelt comments cannot be replayed. They are compared with those of the same model. Use `stereometer ask`."
        )
    about, known = _about(benchmark)
    rows = list(_answers(path, setting, columns))
    if not rows:
        raise DataError(
            f"{path} has no rows. There is nothing to read. Check that it is the right file."
        )
    measure = Recognition(setting, settings.variant, Asking())
    golds = _Golds(
        path,
        words or known or _labels(rows, setting, neither),
        () if setting.mixed else tuple(dict.fromkeys(row["category"] for row in rows)),
        neither,
    )
    scores = list(_scored(rows, measure, golds))
    comments = {score.slices["comment"]: score.texts["comment"] for score in scores}
    card = ModelCard(
        name or path.name.split(".")[0],
        "replayed",
        "replay@1",
        digest_of(rows),
        settings={"file": path.name},
    )
    items = [_Said(one, text, number) for number, (one, text) in enumerate(comments.items(), 1)]
    data = Benchmark(
        about, {"comment": [Comment(one.id, one.text, {}, one.row) for one in items]}, path.name
    )
    notes = (
        "The comments and labels are those in the file; they were not compared with the released ones.",
        *_uneven(scores),
        *notes_for(measure),
    )
    asked = {
        "setting": setting.name,
        "repeats": max(
            (1 + int(given["repeat"]) for score in scores for given in score.answers), default=0
        ),
    }
    task = Task(
        data,
        data.items("comment"),
        measure.name,
        measure.summarize,
        card,
        "replayed",
        settings,
        notes=notes,
        asked=asked,
    )
    return api.Finished(*finish(task, iter(scores), out, Tally()))


def _about(benchmark: str) -> tuple[Card, Mapping[str, str]]:
    """The card of a benchmark of comments and the words of its categories; a file about comments of one's own names them itself."""
    if benchmark == "custom":
        return load_card("comments"), {}
    source = catalog.find("benchmark", benchmark)
    if source.measures:
        raise UsageError(
            f"{benchmark} is measured by likelihood. A setting is for answers about comments. Name ethos, or custom for comments of your own."
        )
    return source.card, WORDS


def _uneven(scores: Iterable[Score]) -> Iterator[str]:
    """Metrics are means over repeats: one that has few of the questions weighs as much as a whole one."""
    found = [[given["repeat"] for given in score.answers] for score in scores]
    counts = Counter(repeat for repeats in found for repeat in repeats)
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    if 2 * least < most:
        yield (
            f"The repeats of the file have from {least} to {most} answers, and every repeat counts the same in the means. "
            "Leave out what is not a whole repeat, or number the repeats in a column."
        )
    elif 2 * most < len(found):
        yield (
            f"No repeat of the file has answers to more than {most} of its {len(found)} questions, and metrics are means over repeats. "
            "Name the column that counts the answers to one question."
        )


def _labels(rows: Iterable[Mapping[str, str]], setting: Setting, neither: str) -> Mapping[str, str]:
    """The labels of a file about comments of one's own, each as it is first written: its categories, where all are asked about."""
    none = {folded(word) for word in (*NONE, neither)}
    found: dict[str, str] = {}
    for row in rows:
        if setting.mixed and row["label"].strip() and folded(row["label"]) not in none:
            found.setdefault(folded(row["label"]), row["label"].strip())
    return {word: word for word in found.values()}


def _answers(path: Path, setting: Setting, columns: AnswerColumns) -> Iterator[dict[str, str]]:
    """Each row as text under our own names; what is not given is empty."""
    needed = {"comment": columns.comment, "answer": columns.answer, "label": columns.label}
    needed |= {} if setting.mixed else {"category": columns.category}
    optional = {"repeat": columns.repeat, "example_set": columns.example_set}
    for _, row in read_rows(path, needed.values(), RENAMED):
        found = {name: row[column] for name, column in needed.items()} | {
            name: row.get(column) for name, column in optional.items()
        }
        yield {name: "" if value is None else str(value) for name, value in found.items()}


YES, NO = ("yes", "true", "1", "1.0"), ("no", "false", "0", "0.0")
"""Labels that say of the category asked about whether it holds."""
NONE = (NEITHER, "not hate", "none")
"""Labels of a comment that is of no category."""


@dataclass(frozen=True)
class _Golds:
    """What the labels of a file mean; case, spaces and hyphens make no difference, and a category may go by its column or its noun."""

    path: Path
    words: Mapping[str, str]
    """The word of each category column."""
    named: Sequence[str]
    """The categories that the file asks about, as it names them."""
    neither: str

    @cached_property
    def known(self) -> Mapping[str, str]:
        """By each of its names the word of a category."""
        nouns = {noun: word for noun, word in NOUNS.items() if word in self.words.values()}
        return {
            folded(name): word
            for name, word in [
                *self.words.items(),
                *nouns.items(),
                *((word, word) for word in self.words.values()),
            ]
        }

    def category(self, text: str) -> str:
        """By the word of the category, where it is a known one."""
        if not text.strip():
            raise DataError(
                f"{self.path} has a row without a category. One category is asked about at a time, and it is not clear which. Repair the row, or name another column."
            )
        return self.known.get(folded(text)) or next(
            name.strip() for name in self.named if folded(name) == folded(text)
        )

    def single(self, label: str, category: str) -> str:
        """The category asked about, or not: none at all is not, nor are other categories, where it is clear that they are others."""
        asked = {folded(name): self.category(name) for name in self.named if name.strip()} | {
            folded(category): category
        }
        names = asked | (dict(self.known) if category in self.words.values() else {})
        golds = {
            name: category if word == category else f"not-{category}"
            for name, word in names.items()
        }
        plain = dict.fromkeys(YES, category) | dict.fromkeys(
            (*NO, *(folded(word) for word in (f"not {category}", f"non {category}", *self.none))),
            f"not-{category}",
        )
        return self._one_of(label, plain | golds)

    def mixed(self, label: str) -> str:
        return self._one_of(label, {folded(word): NEITHER for word in self.none} | dict(self.known))

    @property
    def none(self) -> tuple[str, ...]:
        return *NONE, self.neither

    def _one_of(self, label: str, golds: Mapping[str, str]) -> str:
        if folded(label) not in golds:
            raise DataError(
                f"{self.path} has the label '{label[:40]}'. The labels that are known are {', '.join(golds)}. Say what it means with --category LABEL=CATEGORY or --neither LABEL, or repair the rows."
            )
        return golds[folded(label)]


def _scored(
    rows: Sequence[Mapping[str, str]], measure: Recognition, golds: _Golds
) -> Iterator[Score]:
    """Rows of one question together, in the order of the file. Where all categories are asked about, a comment may stand under several."""
    groups: dict[tuple[str, str, str], dict[str, list[Mapping[str, str]]]] = {}
    for row in rows:
        category = "" if measure.setting.mixed else golds.category(row["category"])
        gold = golds.single(row["label"], category) if category else golds.mixed(row["label"])
        groups.setdefault((row["comment"], category, _number(row["example_set"])), {}).setdefault(
            gold, []
        ).append(row)
    names = {
        text: f"text-{at}"
        for at, text in enumerate(dict.fromkeys(text for text, _, _ in groups), 1)
    }
    reader, order = Reader(measure.setting, measure.variant), _repeats(rows)
    for (text, category, number), by_gold in groups.items():
        _check_golds(by_gold, golds.path)
        for gold, some in by_gold.items():
            labels = (
                (category, f"not-{category}")
                if category
                else (*dict.fromkeys(golds.words.values()), NEITHER)
            )
            twin = gold if len(by_gold) > 1 else ""
            question = Question(
                _Said(names[text], text, 0),
                gold,
                labels,
                category,
                example_set=number if not category else "",
                twin=twin,
            )
            words, turns = _words(measure, question, golds), _in_turn(some, order, golds.path)
            yield scored(
                question,
                [
                    {**reader.read_text(row["answer"], words), "repeat": str(at)}
                    for at, row in turns
                ],
            )


def _words(measure: Recognition, question: Question, golds: _Golds) -> Mapping[str, str]:
    """What stands for each label in an answer: for none of them also the file's own word."""
    found = dict(measure.prompts.words(question))
    return found | {NEITHER: golds.neither} if NEITHER in found else found


def _check_golds(golds: Collection[str], path: Path) -> None:
    """Several categories may hold of a comment, but not one and its opposite."""
    if len(golds) > 1 and any(gold == NEITHER or gold.startswith("not-") for gold in golds):
        raise DataError(
            f"{path}: one comment is labelled {' and '.join(sorted(golds))} for the same question. It is one or the other. Repair the rows."
        )


def _number(text: str) -> str:
    if not text:
        return ""
    try:
        return str(int(float(text)))
    except (ValueError, OverflowError):
        raise DataError(
            f"The example set '{text[:40]}' is not a number. Sets are told apart by their numbers. Name another column."
        ) from None


def _repeats(rows: Iterable[Mapping[str, str]]) -> Mapping[str, int]:
    """The repeats of a file, counted from 0: a question that lacks one of them has that gap."""
    names = {row["repeat"] for row in rows} - {""}
    return {name: at for at, name in enumerate(sorted(names, key=lambda name: (len(name), name)))}


def _in_turn(
    rows: Sequence[Mapping[str, str]], order: Mapping[str, int], path: Path
) -> list[tuple[int, Mapping[str, str]]]:
    """The answers to one question, each with its repeat; where a row has none, they are counted in the order of the file."""
    if not all(row["repeat"] for row in rows):
        return list(enumerate(rows))
    if len({row["repeat"] for row in rows}) < len(rows):
        raise DataError(
            f"{path} has the same repeat of a question twice. It is not clear which answer counts. Leave out one, or name another column."
        )
    return sorted(((order[row["repeat"]], row) for row in rows), key=lambda turn: turn[0])


# ------------------------------------------------------------------------------------ what was said


def out_of_scope(scores: Iterable[Score], setting: Setting) -> list[tuple[str, int]]:
    """Answers that are none of the words asked for and could not be read as one, with counts, the most frequent first (the study's Table 5)."""
    found = list(scores)
    labels = dict.fromkeys([NEITHER, *(score.slices["gold"] for score in found)])
    counts = Counter(
        _first_line(given["text"])
        for score in found
        for given in score.answers
        if _was_written(given)
        and "label" not in given
        and not in_scope(given["text"], _words_for(score, labels, setting))
    )
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _was_written(given: Mapping[str, str]) -> bool:
    """Not where the prompt was too long or a filter held the answer back."""
    return bool(given["text"].strip()) or given.get("skipped") not in UNWRITTEN


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
    found: dict[str, Counter[str]] = {}
    for score in scores:
        row = found.setdefault(score.slices["gold"], Counter())
        row.update(
            given["label"].replace(SEPARATOR, ", ") if "label" in given else f"({given['skipped']})"
            for given in score.answers
        )
        row.update([f"({score.skipped})"] if score.skipped else [])
    return {gold: dict(sorted(row.items())) for gold, row in found.items()}
