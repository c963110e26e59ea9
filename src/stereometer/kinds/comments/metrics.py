"""Accuracy, precision, recall and F1 over repeats, with intervals that resample comments.

Answers to the same comment are not independent, whether they are repeats, questions about another
category or other example sets: a resample draws comments, with all that was answered about them.
How many comments have a label is by design, so comments are drawn among those of their label.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import hypot

import numpy as np

from stereometer.core.shapes.points import Coverage
from stereometer.core.shapes.verdicts import LANGUAGE, at_floor
from stereometer.core.stats.clusters import clustered_percent, percent_fields
from stereometer.core.stats.intervals import Floats, Ints, generator, resampled_sums, wilson_percent
from stereometer.core.stats.means import known_means
from stereometer.core.stats.tests import Said, corrected
from stereometer.core.types import Estimate, Score, Settings, Slice, Variant
from stereometer.kinds.comments.chance import SHUFFLED, Category, against_chance, asked_about
from stereometer.kinds.comments.items import NEITHER, SEPARATOR, slim

METRICS = ("accuracy", "precision", "recall", "f1", "balanced_accuracy")
SLIPPED = "sexist"
"""The category whose recall stands in the numerator of the study's overall F1 (`paper`)."""
CELLS = 4_000_000
"""Numbers of draws that are held at once."""
TP, FP, TN, FN = range(4)
CELLS_OF = {
    "accuracy": [TP, FP, TN, FN],
    "precision": [TP, FP],
    "recall": [TP, FN],
    "f1": [TP, FP, FN],
    "balanced_accuracy": [TP, FP, TN, FN],
    "specificity": [TN, FP],
}
"""What each metric counts."""
FEW, RARE = 5, frozenset({"a label that few comments have"})
BY_LABEL = ("recall", "balanced_accuracy")
READ, UNREAD = "answers could be read", "no answer could be read"


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer about a category: whether the comment is of it, and whether the model says so."""

    comment: str
    category: str
    repeat: int
    gold: bool
    said: bool

    @property
    def cell(self) -> int:
        return (TP if self.said else FN) if self.gold else (FP if self.said else TN)


def is_mixed(score: Score) -> bool:
    return "category" not in score.slices


def categories(scores: Sequence[Score]) -> list[str]:
    """Those asked about one at a time, or those that comments are of."""
    single = dict.fromkeys(score.slices["category"] for score in scores if not is_mixed(score))
    return list(single) or [
        gold for gold in dict.fromkeys(score.slices["gold"] for score in scores) if gold != NEITHER
    ]


def concerns(score: Score, category: str, variant: Variant) -> bool:
    """Whether a question says something of a category. Mixed settings: `paper` leaves out comments
    of the other categories; `sound` counts them as not of this one."""
    if not is_mixed(score):
        return score.slices["category"] == category
    return variant == "sound" or score.slices["gold"] in (category, NEITHER)


def decisions(scores: Iterable[Score], category: str, variant: Variant) -> Iterator[Decision]:
    """What answers say of one category; those without a number are repeats in their order."""
    for score in scores:
        if not concerns(score, category, variant):
            continue
        gold = score.slices["gold"] == category
        for at, answer in enumerate(score.answers):
            if "label" in answer:
                said = category in answer["label"].split(SEPARATOR)
                repeat = int(answer.get("repeat", at))
                yield Decision(score.slices["comment"], category, repeat, gold, said)


def table(rows: Sequence[Decision], like: Sequence[Decision] | None = None) -> Floats:
    """Counts of the four cells, comments x repeats x 4; comments in the order of `like`."""
    order = like or rows
    comments = {name: at for at, name in enumerate(dict.fromkeys(row.comment for row in order))}
    counts = np.zeros((len(comments), 1 + max(row.repeat for row in order), 4))
    for row in rows:
        counts[comments[row.comment], row.repeat, row.cell] += 1
    return counts


def strata(rows: Sequence[Decision]) -> list[frozenset[str]]:
    """What each comment is of, in the order of `table`. Labels that few comments have are one:
    drawn among themselves those could hardly vary, which would pass for certainty."""
    none: frozenset[str] = frozenset()
    labels, shared = dict.fromkeys((row.comment for row in rows), none), {none: none}
    for row in rows:
        if row.gold and row.category not in labels[row.comment]:
            label = labels[row.comment] | {row.category}
            labels[row.comment] = shared.setdefault(label, label)
    often = Counter(labels.values())
    return [label if often[label] >= FEW else RARE for label in labels.values()]


def answers_of(rows: Sequence[Decision]) -> list[Category]:
    """By category and comment: the share of positive answers, and whether the comment is of it. A
    comment counts once, whatever example sets and repeats it was asked with."""
    comments = _number(row.comment for row in rows)
    names = _number(row.category for row in rows)
    said, gold = (np.array([getattr(row, of) for row in rows]) for of in ("said", "gold"))
    return [
        asked_about(comments[here], said[here], gold[here])
        for here in (names == code for code in range(1 + names.max()))
    ]


def _number(names: Iterable[str]) -> Ints:
    """The number of each name in the order in which they first occur."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def rates(counts: Floats) -> dict[str, Floats]:
    """In percent, of counts whose last axis is the four cells; NaN where nothing is divided by."""
    tp, fp, tn, fn = (counts[..., cell] for cell in range(4))
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall, other = tp / (tp + fp), tp / (tp + fn), tn / (tn + fp)
        return {
            "accuracy": 100 * (tp + tn) / counts.sum(axis=-1),
            "precision": 100 * precision,
            "recall": 100 * recall,
            "f1": 100 * 2 * tp / (2 * tp + fp + fn),
            "balanced_accuracy": 50 * (recall + other),
            "specificity": 100 * other,
        }


def mean_over_repeats(values: Floats) -> Floats:
    """Without repeats in which a metric is not defined, as its label was never given."""
    return known_means(values, -1)


def drawn(
    counts: Floats, labels: Sequence[object], settings: Settings, slice_: Slice
) -> Iterator[Floats]:
    """Counts of resamples, resamples x repeats x 4 at a time. Comments are drawn with all their
    answers, among those of their label; tables in the same order get the same draws."""
    rng = generator(settings.seed, slice_, "recognition")
    flat = counts.reshape(len(counts), -1)
    for n in draws_at_once(settings, flat.shape[1]):
        sums = resampled_sums(flat, labels, n, rng)
        yield sums.reshape(len(sums), *counts.shape[1:])


def draws_at_once(settings: Settings, width: int) -> Iterator[int]:
    """How many are drawn at a time, as no more numbers may be held than `CELLS`."""
    step = max(1, CELLS // max(1, width))
    for start in range(0, settings.resamples, step):
        yield min(step, settings.resamples - start)


def resampled(
    counts: Floats, labels: Sequence[object], settings: Settings, slice_: Slice
) -> dict[str, Floats]:
    """The bootstrap distribution of every metric's mean over repeats."""
    parts = [
        {name: mean_over_repeats(values) for name, values in rates(part).items()}
        for part in drawn(counts, labels, settings, slice_)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


# ---------------------------------------------------------------------------------------- estimates


def coverage_of(scores: Iterable[Score]) -> Coverage:
    """Answers asked for, and why some cannot be used."""
    coverage = Coverage()
    for score in scores:
        if score.skipped is not None:
            coverage.add(score)
        coverage.count += len(score.answers)
        coverage.skipped.update(
            answer["skipped"] for answer in score.answers if "skipped" in answer
        )
    return coverage


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """Every metric overall, for each category, and in mixed settings for each example set."""
    every = slim(scores)
    parts = slices(every, categories(every), settings.variant)
    return judged((row for part in parts for row in _estimates(*part, settings)), settings)


def slices(
    scores: Sequence[Score], names: Sequence[str], variant: Variant
) -> Iterator[tuple[Slice, Sequence[Score], Sequence[str]]]:
    """The slices that are reported, the scores in each and the categories they are about."""
    numbers = {score.slices["example_set"] for score in scores if "example_set" in score.slices}
    sets: list[Slice] = [{"example_set": number} for number in sorted(numbers, key=int)]
    for slice_ in [{}, *sets]:
        part = [score for score in scores if slice_.items() <= score.slices.items()]
        yield slice_, part, names
        for name in names:
            about = [score for score in part if concerns(score, name, variant)]
            yield {**slice_, "category": name}, about, [name]


def _estimates(
    slice_: Slice, scores: Sequence[Score], names: Sequence[str], settings: Settings
) -> Iterator[Estimate]:
    coverage, mixed = coverage_of(scores), any(is_mixed(score) for score in scores)
    every = [row for name in names for row in decisions(scores, name, settings.variant)]
    why = coverage.shortfall(settings, READ) or (None if every else UNREAD)
    if mixed and "category" not in slice_:
        yield _matches(slice_, scores, coverage, settings)
    if why is not None:
        yield from (coverage.estimate(name, slice_, 100.0, why=why) for name in METRICS)
        return
    counts = table(every)
    per_repeat = rates(counts.sum(axis=0))
    labels = strata(every)
    draws, comments = resampled(counts, labels, settings, slice_), denominators(counts)
    p = {"balanced_accuracy": against_chance(answers_of(every), settings, slice_)}
    empty = partial(coverage.estimate, slice_=slice_, ideal=100.0, terms=len(counts))
    if settings.variant == "paper" and not slice_ and SLIPPED in names and not mixed:
        harmonic, n = empty("f1_harmonic"), comments["f1"]
        yield _estimate(harmonic, per_repeat["f1"], draws["f1"], n, settings.level)
        category = table([row for row in every if row.category == SLIPPED], every)
        per_repeat["f1"] = _study_f1(counts.sum(axis=0), category.sum(axis=0))
        tables = (drawn(each, labels, settings, slice_) for each in (counts, category))
        f1s = [mean_over_repeats(_study_f1(*pair)) for pair in zip(*tables, strict=True)]
        draws["f1"] = np.concatenate(f1s)
    for name in METRICS:
        estimate = empty(name, p=p.get(name), test=SHUFFLED if name in p else None)
        n = comments[name]
        row = _estimate(estimate, per_repeat[name], draws[name], n, settings.level)
        yield _of_labels(row, per_repeat, comments, settings.level) if name in BY_LABEL else row
    if settings.variant == "paper" and counts.shape[1] > 1:
        yield from (_spread(empty(f"{name}_sd"), per_repeat[name]) for name in METRICS[:4])
    yield from _agreement(slice_, scores, coverage, settings)


def denominators(counts: Floats) -> dict[str, int]:
    """How many comments each metric is a share of: for recall those of the category, for precision
    those that the model says are of it."""
    there = counts.sum(axis=1) > 0
    return {name: int(there[:, cells].any(axis=1).sum()) for name, cells in CELLS_OF.items()}


def _of_labels(
    row: Estimate, per_repeat: Mapping[str, Floats], comments: Mapping[str, int], level: float
) -> Estimate:
    """Recall, or the mean of recall and specificity, whose comments are as many as have the label:
    Wilson's interval of each; of their mean by half of what both leave (MOVER, Zou and Donner
    2008)."""
    if row.value is None:
        return row
    names = ("recall",) if row.name == "recall" else ("recall", "specificity")
    parts = [(float(mean_over_repeats(per_repeat[name])), comments[name]) for name in names]
    ends = [(of, *wilson_percent(of, n, level)) for of, n in parts]
    below = hypot(*(of - low for of, low, _ in ends)) / len(ends)
    above = hypot(*(high - of for of, _, high in ends)) / len(ends)
    how = "Wilson over comments of the label" if len(ends) == 1 else "Wilson over comments by label"
    return replace(row, low=row.value - below, high=row.value + above, interval=how)


def _estimate(
    empty: Estimate, per_repeat: Floats, draws: Floats, comments: int, level: float
) -> Estimate:
    value = float(mean_over_repeats(per_repeat))
    if np.isnan(value):
        why = "not defined: label never given, or never correct"
        return replace(empty, why=why, p=None, test=None, terms=None)
    known = draws[~np.isnan(draws)]
    share = percent_fields(value, known, comments, level, "comments")
    return replace(empty, **share)


def slipped_f1(precision: Floats, recall: Floats, of_one: Floats) -> Floats:
    """The study's overall F1: the recall of one category stands in the numerator."""
    return 2 * precision * of_one / (precision + recall)


def _study_f1(everything: Floats, category: Floats) -> Floats:
    overall = rates(everything)
    with np.errstate(invalid="ignore", divide="ignore"):
        return slipped_f1(overall["precision"], overall["recall"], rates(category)["recall"])


def _spread(empty: Estimate, per_repeat: Floats) -> Estimate:
    """The standard deviation over repeats, which the study prints as a standard error."""
    known, empty = per_repeat[~np.isnan(per_repeat)], replace(empty, ideal=None)
    if known.size < 2:
        return replace(empty, why="needs two repeats", terms=None)
    value = float(known.std(ddof=1))
    how = "none: a description of the repeats"
    return replace(empty, value=value, low=value, high=value, interval=how)


# ------------------------------------------------------------------------- matches and agreement


def _matches(
    slice_: Slice, scores: Sequence[Score], coverage: Coverage, settings: Settings
) -> Estimate:
    """Mixed settings: the share of answers that are the gold label and no other (Figure 1)."""
    hits = (
        (score.slices["comment"], float(label == score.slices["gold"]))
        for score in scores
        for label in _labels(score)
    )
    return ratio("matches", slice_, hits, coverage, settings, 100.0)


def _labels(score: Score) -> list[str]:
    return [answer["label"] for answer in score.answers if "label" in answer]


def _agreement(
    slice_: Slice, scores: Sequence[Score], coverage: Coverage, settings: Settings
) -> Iterator[Estimate]:
    """How often two repeats of the same question are read the same."""
    shares = []
    for score in scores:
        labels = Counter(_labels(score))
        n = labels.total()
        if n > 1:
            same = sum(count * (count - 1) for count in labels.values()) / (n * (n - 1))
            shares.append((score.slices["comment"], same))
    if shares:
        yield ratio("repeat_agreement", slice_, shares, coverage, settings, None)


def ratio(
    name: str,
    slice_: Slice,
    values: Iterable[tuple[str, float]],
    coverage: Coverage,
    settings: Settings,
    ideal: float | None,
    counted: str = READ,
) -> Estimate:
    """A mean over what is known of comments, in percent, comments resampled; a value stands with
    the comment it is of."""
    known: dict[str, list[float]] = {}
    for comment, value in values:
        known.setdefault(comment, []).append(value)
    why = coverage.shortfall(settings, counted) or (None if known else UNREAD)
    if why is not None:
        return coverage.estimate(name, slice_, ideal, why=why)
    rng = generator(settings.seed, slice_, name)
    parts = list(known.values())
    share = clustered_percent(parts, settings.resamples, settings.level, rng, "comments")
    return coverage.estimate(name, slice_, ideal, terms=len(known), **share)


# ----------------------------------------------------------------------------------------- verdicts


def judged(estimates: Iterable[Estimate], settings: Settings) -> list[Estimate]:
    """Balanced accuracy against 50, Holm over the slices; accuracy carries the same words."""

    def says(estimate: Estimate, p: float) -> Said:
        floor = at_floor(estimate.p, p, settings)
        return (floor, False) if floor else LANGUAGE.of(estimate, p, settings.level)

    rows = corrected(estimates, says, lambda estimate: bool(estimate.slice))
    shared = ("verdict", "beyond_noise", "p", "test", "p_adjusted", "tests")
    tested = {
        frozenset(row.slice.items()): {name: getattr(row, name) for name in shared}
        for row in rows
        if row.name == "balanced_accuracy"
    }
    for at, row in enumerate(rows):
        if row.name == "accuracy" and row.value is not None:
            rows[at] = replace(row, **tested[frozenset(row.slice.items())])
    return rows
