"""Accuracy, precision, recall and F1 over repeats, with intervals that resample comments.

Answers to the same comment are not independent, whether they are repeats, questions about another category or other example
sets: a resample draws comments, with everything that was answered about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import erfc, sqrt

import numpy as np

from stereometer.shapes.comment.items import NEITHER, SEPARATOR
from stereometer.shapes.coverage import Asked
from stereometer.shapes.verdicts import LANGUAGE
from stereometer.stats.intervals import Floats, generator, percentile, resampled_clusters, wilson
from stereometer.stats.tests import holm
from stereometer.types import Estimate, Score, Settings, Slice, Variant

METRICS = ("accuracy", "precision", "recall", "f1", "balanced_accuracy")
SLIPPED = "sexist"
"""The category whose recall stands in the numerator of the study's overall F1 (`paper`)."""
CELLS = 4_000_000
"""Resamples x repeats x counts held at once."""
PERMUTABLE = 2000
"""Questions whose labels are shuffled in earnest; more are taken as normal."""
TP, FP, TN, FN = range(4)


@dataclass(frozen=True)
class Decision:
    """One answer, seen from one category: whether the comment is of it, and whether the model says so."""

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
    """Whether a question says something of a category.

    Mixed settings: `paper` leaves out the comments of the other categories; `sound` counts them as not of this one.
    """
    if not is_mixed(score):
        return score.slices["category"] == category
    return variant == "sound" or score.slices["gold"] in (category, NEITHER)


def decisions(scores: Iterable[Score], category: str, variant: Variant) -> Iterator[Decision]:
    """What answers say of one category; answers that are not numbered are repeats in their order."""
    for score in scores:
        if not concerns(score, category, variant):
            continue
        for at, given in enumerate(score.answers):
            if "label" in given:
                said, repeat = (
                    category in given["label"].split(SEPARATOR),
                    int(given.get("repeat", at)),
                )
                yield Decision(
                    score.slices["comment"],
                    category,
                    repeat,
                    score.slices["gold"] == category,
                    said,
                )


def table(found: Sequence[Decision], like: Sequence[Decision] | None = None) -> Floats:
    """Counts of true and false positives and negatives: comments x repeats x 4, in the order of `like` where that is given."""
    order = like or found
    comments = {name: at for at, name in enumerate(dict.fromkeys(one.comment for one in order))}
    counts = np.zeros((len(comments), 1 + max(one.repeat for one in order), 4))
    for one in found:
        counts[comments[one.comment], one.repeat, one.cell] += 1
    return counts


def rates(counts: Floats) -> dict[str, Floats]:
    """In percent, of counts whose last axis is the four cells; not a number where nothing is divided by."""
    tp, fp, tn, fn = (counts[..., cell] for cell in range(4))
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall, other = tp / (tp + fp), tp / (tp + fn), tn / (tn + fp)
        return {
            "accuracy": 100 * (tp + tn) / counts.sum(axis=-1),
            "precision": 100 * precision,
            "recall": 100 * recall,
            "f1": 100 * 2 * tp / (2 * tp + fp + fn),
            "balanced_accuracy": 50 * (recall + other),
        }


def mean_over_repeats(values: Floats) -> Floats:
    """Repeats in which a metric is not defined (nothing was called so) are left out; not a number where it never is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1)
    return means


def drawn(counts: Floats, settings: Settings, slice_: Slice) -> Iterator[Floats]:
    """Counts of resamples, resamples x repeats x 4 at a time: comments drawn with all their answers, the same for tables in one order."""
    rng = generator(settings.seed, slice_, "recognition")
    flat = counts.reshape(len(counts), -1)
    step = max(1, CELLS // (counts.shape[1] * 4))
    for start in range(0, settings.resamples, step):
        weights = resampled_clusters(len(counts), min(step, settings.resamples - start), rng)
        yield (weights @ flat).reshape(len(weights), *counts.shape[1:])


def resampled(counts: Floats, settings: Settings, slice_: Slice) -> dict[str, Floats]:
    """The bootstrap distribution of every metric's mean over repeats."""
    parts = [
        {name: mean_over_repeats(values) for name, values in rates(part).items()}
        for part in drawn(counts, settings, slice_)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def against_chance(found: Sequence[Decision], settings: Settings, slice_: Slice) -> float:
    """p that answers have nothing to do with the labels: labels shuffled over the comments asked about each category.

    A comment counts once, with all its answers, whatever example sets and repeats it was asked with. What is compared is the share of positive answers among comments that are of the category less that among those that are not,
    summed over categories.
    """
    shares: dict[tuple[str, str, bool], list[bool]] = {}
    for one in found:
        shares.setdefault((one.category, one.comment, one.gold), []).append(one.said)
    rng = generator(settings.seed, slice_, "chance")
    seen, variance, shuffled = 0.0, 0.0, np.zeros(settings.resamples)
    for category in dict.fromkeys(name for name, _, _ in shares):
        keys = [key for key in shares if key[0] == category]
        share, gold = (
            np.array([np.mean(shares[key]) for key in keys]),
            np.array([key[2] for key in keys]),
        )
        n, of = gold.size, int(gold.sum())
        if of in (0, n):
            continue
        seen += float(share[gold].mean() - share[~gold].mean())
        variance += float(share.var(ddof=1)) * (1 / of + 1 / (n - of)) if n > 1 else 0.0
        if n <= PERMUTABLE:
            mixed = rng.permuted(np.tile(share, (settings.resamples, 1)), axis=1)
            shuffled += mixed[:, :of].mean(axis=1) - mixed[:, of:].mean(axis=1)
    if variance == 0:
        return 1.0
    if max(Counter(category for category, _, _ in shares).values()) > PERMUTABLE:
        return erfc(abs(seen) / sqrt(2 * variance))
    return float((1 + (np.abs(shuffled) >= abs(seen) - 1e-12).sum()) / (settings.resamples + 1))


# ----------------------------------------------------------------------------------------- estimates


def asked(scores: Iterable[Score]) -> Asked:
    """Answers asked for, and why some cannot be used."""
    found = Asked()
    for score in scores:
        if score.skipped is not None:
            found.count += 1
            found.skipped[score.skipped] += 1
        found.count += len(score.answers)
        found.skipped.update(given["skipped"] for given in score.answers if "skipped" in given)
    return found


def shortfall(
    answered: Asked, settings: Settings, counted: str = "answers could be read"
) -> str | None:
    """Why there is no score, in the words for what is counted."""
    why = answered.shortfall(settings)
    return why and why.replace("items were answered", counted)


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """Every metric overall, for each category, and in mixed settings for each example set."""
    found = list(scores)
    names = categories(found)
    estimates: list[Estimate] = []
    for slice_, part, about in slices(found, names, settings.variant):
        estimates += list(_estimates(slice_, part, about, settings))
    return judged(estimates, settings.level)


def slices(
    found: Sequence[Score], names: Sequence[str], variant: Variant
) -> Iterator[tuple[Slice, Sequence[Score], Sequence[str]]]:
    """The slices that are reported, the scores in each and the categories they are about."""
    yield {}, found, names
    for name in names:
        yield (
            {"category": name},
            [score for score in found if concerns(score, name, variant)],
            [name],
        )
    for number in sorted(
        {score.slices["example_set"] for score in found if "example_set" in score.slices}, key=int
    ):
        part = [score for score in found if score.slices.get("example_set") == number]
        yield {"example_set": number}, part, names
        for name in names:
            yield (
                {"example_set": number, "category": name},
                [score for score in part if concerns(score, name, variant)],
                [name],
            )


def _estimates(
    slice_: Slice, scores: Sequence[Score], about: Sequence[str], settings: Settings
) -> Iterator[Estimate]:
    answered = asked(scores)
    found = [one for name in about for one in decisions(scores, name, settings.variant)]
    why = shortfall(answered, settings) or (None if found else "no answer could be read")
    if any(is_mixed(score) for score in scores) and "category" not in slice_:
        yield _matches(slice_, scores, answered, settings)
    if why is not None:
        yield from (_empty(name, slice_, answered, why) for name in METRICS)
        return
    counts = table(found)
    per_repeat = rates(counts.sum(axis=0))
    values = {name: float(mean_over_repeats(of)) for name, of in per_repeat.items()}
    draws = resampled(counts, settings, slice_)
    p = against_chance(found, settings, slice_)
    if (
        settings.variant == "paper"
        and not slice_
        and SLIPPED in about
        and not any(is_mixed(score) for score in scores)
    ):
        yield _estimate(
            "f1_harmonic", slice_, values["f1"], draws["f1"], answered, counts, settings
        )
        one = table([decision for decision in found if decision.category == SLIPPED], found)
        per_repeat["f1"] = _slipped(counts.sum(axis=0), one.sum(axis=0))
        values["f1"] = float(mean_over_repeats(per_repeat["f1"]))
        both = zip(drawn(counts, settings, slice_), drawn(one, settings, slice_), strict=True)
        draws["f1"] = np.concatenate([mean_over_repeats(_slipped(*pair)) for pair in both])
    for name in METRICS:
        yield _estimate(
            name,
            slice_,
            values[name],
            draws[name],
            answered,
            counts,
            settings,
            p if name == "balanced_accuracy" else None,
        )
    if settings.variant == "paper" and counts.shape[1] > 1:
        yield from (
            _spread(name, slice_, per_repeat[name], answered, counts) for name in METRICS[:4]
        )
    yield from _agreement(slice_, scores, answered, settings)


def _empty(name: str, slice_: Slice, answered: Asked, why: str) -> Estimate:
    return Estimate(
        name,
        slice_,
        None,
        None,
        None,
        answered.answered,
        answered.count,
        0,
        100.0,
        skipped=dict(answered.skipped),
        why=why,
    )


def _estimate(
    name: str,
    slice_: Slice,
    value: float,
    draws: Floats,
    answered: Asked,
    counts: Floats,
    settings: Settings,
    p: float | None = None,
) -> Estimate:
    if np.isnan(value):
        return _empty(
            name, slice_, answered, "not defined, since nothing was called so, or nothing is so"
        )
    low, high, method = _interval(value, draws, len(counts), settings.level)
    return Estimate(
        name, slice_, value, low, high, answered.answered, answered.count, 0, 100.0, interval=method, p=p, terms=len(counts),
        skipped=dict(answered.skipped),
    )  # fmt: skip


def _interval(value: float, draws: Floats, comments: int, level: float) -> tuple[float, float, str]:
    known = draws[~np.isnan(draws)]
    low, high = percentile(known, level) if known.size else (value, value)
    if low == high:
        low, high = wilson(value / 100 * comments, comments, level)
        return 100 * low, 100 * high, "Wilson: all comments agree"
    return low, high, "percentile bootstrap over comments"


def slipped_f1(precision: Floats, recall: Floats, of_one: Floats) -> Floats:
    """The study's overall F1: the recall of one category stands in the numerator."""
    return 2 * precision * of_one / (precision + recall)


def _slipped(everything: Floats, one: Floats) -> Floats:
    found = rates(everything)
    with np.errstate(invalid="ignore", divide="ignore"):
        return slipped_f1(found["precision"], found["recall"], rates(one)["recall"])


def _spread(
    name: str, slice_: Slice, per_repeat: Floats, answered: Asked, counts: Floats
) -> Estimate:
    """The standard deviation over repeats, which the study prints as a standard error."""
    known = per_repeat[~np.isnan(per_repeat)]
    if known.size < 2:
        return replace(_empty(f"{name}_sd", slice_, answered, "needs two repeats"), ideal=None)
    value = float(known.std(ddof=1))
    return Estimate(f"{name}_sd", slice_, value, value, value, answered.answered, answered.count, 0, None, terms=len(counts),
                    interval="none: a description of the repeats", skipped=dict(answered.skipped))  # fmt: skip


# ------------------------------------------------------------------------- matches and agreement


def _matches(
    slice_: Slice, scores: Sequence[Score], answered: Asked, settings: Settings
) -> Estimate:
    """Mixed settings: the share of answers that are the gold label and no other (the study's Figure 1)."""
    by_comment: dict[str, list[float]] = {}
    for score in scores:
        hits = [
            float(given["label"] == score.slices["gold"])
            for given in score.answers
            if "label" in given
        ]
        by_comment.setdefault(score.slices["comment"], []).extend(hits)
    return ratio("matches", slice_, by_comment, answered, settings, 100.0)


def _agreement(
    slice_: Slice, scores: Sequence[Score], answered: Asked, settings: Settings
) -> Iterator[Estimate]:
    """How often two repeats of the same question are read the same."""
    by_comment: dict[str, list[float]] = {}
    for score in scores:
        labels = Counter(given["label"] for given in score.answers if "label" in given)
        n = labels.total()
        if n > 1:
            by_comment.setdefault(score.slices["comment"], []).append(
                sum(count * (count - 1) for count in labels.values()) / (n * (n - 1))
            )
    if by_comment:
        yield ratio("repeat_agreement", slice_, by_comment, answered, settings, None)


def ratio(
    name: str, slice_: Slice, by_comment: Mapping[str, Sequence[float]], answered: Asked, settings: Settings, ideal: float | None,
    counted: str = "answers could be read",
) -> Estimate:  # fmt: skip
    """A mean over what is known of comments, in percent, comments resampled."""
    known = [values for values in by_comment.values() if values]
    why = shortfall(answered, settings, counted) or (None if known else "no answer could be read")
    if why is not None:
        return replace(_empty(name, slice_, answered, why), ideal=ideal)
    sums, sizes = (
        np.array([sum(values) for values in known]),
        np.array([len(values) for values in known]),
    )
    weights = resampled_clusters(
        len(known), settings.resamples, generator(settings.seed, slice_, name)
    )
    value = 100 * float(sums.sum() / sizes.sum())
    low, high, method = _interval(
        value, 100 * (weights @ sums) / (weights @ sizes), len(known), settings.level
    )
    return Estimate(name, slice_, value, low, high, answered.answered, answered.count, 0, ideal, interval=method, terms=len(known),
                    skipped=dict(answered.skipped))  # fmt: skip


# -------------------------------------------------------------------------------------------- verdicts


def judged(estimates: Sequence[Estimate], level: float) -> list[Estimate]:
    """Balanced accuracy against 50, Holm over the slices that fix the same things; accuracy carries the same words."""
    found = list(estimates)
    families: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(found):
        if one.p is not None:
            families.setdefault(tuple(sorted(one.slice)), []).append(index)
    for family in families.values():
        for index, p in zip(family, holm([found[at].p or 0.0 for at in family]), strict=True):
            found[index] = replace(
                found[index],
                p_adjusted=p,
                tests=len(family),
                verdict=_words(found[index], p, level),
            )
    said = {_place(one): one for one in found if one.name == "balanced_accuracy"}
    return [
        replace(one, verdict=said[_place(one)].verdict, p=said[_place(one)].p, p_adjusted=said[_place(one)].p_adjusted,
                tests=said[_place(one)].tests) if one.name == "accuracy" and one.value is not None else one
        for one in found
    ]  # fmt: skip


def _place(one: Estimate) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(one.slice.items()))


def _words(one: Estimate, p: float, level: float) -> str:
    if one.value is None or p >= 1 - level or one.value == 50:
        return LANGUAGE.neither
    return LANGUAGE.above if one.value > 50 else LANGUAGE.below
