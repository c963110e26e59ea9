"""Two systems, or two settings, on the same comments.

What is paired is what was answered about a comment and a category: the share of answers that say
the comment is of it. Differences resample comments within their gold labels, the same for both, and
are tested by exchanging the two systems on whole comments.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from stereometer.core.errors import UsageError
from stereometer.core.shapes.differences import Difference, Withheld, asked_or_withheld
from stereometer.core.stats.intervals import Floats, generator, resampled_sums
from stereometer.core.types import Score, Settings, Slice, Variant
from stereometer.kinds.comments import metrics

SAID = "said"
TEST = "exchange of systems over comments"
Labels = list[frozenset[str]]


def units(scores: Iterable[Score], variant: Variant) -> dict[str, Score]:
    """By comment, category and gold label the share of answers that name the category."""
    every = list(scores)
    if any("edit" in score.slices for score in every):
        raise UsageError(
            "The misspelling test sets a model's answers against its own. Two runs of it have no "
            "common scale. Look at each with `stereometer report`."
        )
    asked: dict[str, Score] = {}
    for category in metrics.categories(every):
        for score in every:
            if metrics.concerns(score, category, variant):
                is_of_it = score.slices["gold"] == category
                slices = _slices(score.slices["comment"], category, is_of_it)
                asked.setdefault(_id(slices), Score(_id(slices), slices, {}, metrics.UNREAD))
        said: dict[str, list[bool]] = {}
        for row in metrics.decisions(every, category, variant):
            said.setdefault(_id(_slices(row.comment, category, row.gold)), []).append(row.said)
        for id_, answers in said.items():
            share = sum(answers) / len(answers)
            asked[id_] = replace(asked[id_], values={SAID: share}, skipped=None)
    return asked


def _slices(comment: str, category: str, is_of_it: bool) -> Slice:
    gold = category if is_of_it else f"not-{category}"
    return {"comment": comment, "category": category, "gold": gold}


def _id(slices: Slice) -> str:
    return f"{slices['comment']}:{slices['gold']}:{slices['category']}"


def differences(
    both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """Every metric overall and for each category."""
    names = dict.fromkeys(first.slices["category"] for first, _ in both)
    for slice_ in ({}, *({"category": name} for name in names)):
        here = [pair for pair in both if slice_.items() <= pair[0].slices.items()]
        asked = asked_or_withheld(slice_, len(here), every, settings)
        if isinstance(asked, Withheld):
            yield asked
        else:
            yield from _differences(here, slice_, asked, settings)


def _differences(
    here: Sequence[tuple[Score, Score]], slice_: Slice, asked: int, settings: Settings
) -> Iterator[Difference]:
    first, second, strata = _counts(here)
    seen = [metrics.rates(side.sum(axis=0)) for side in (first, second)]
    draws = _resample(first, second, strata, settings, slice_)
    exchanged = _exchange(second - first, first.sum(axis=0), second.sum(axis=0), settings, slice_)
    for name in metrics.METRICS:
        before, after = (float(side[name]) for side in seen)
        if np.isnan([before, after]).any():
            continue
        change = abs(after - before)
        # A metric that an exchange leaves undefined counts as one that reaches the difference.
        reached = ~(np.abs(exchanged[name]) < change - 1e-9)
        p = float((1 + reached.sum()) / (1 + reached.size)) if change > 1e-9 else 1.0
        row = Difference(name, slice_, before, after, len(here), asked, len(first), 100.0)
        known = draws[name][~np.isnan(draws[name])]
        floored = replace(row, floor=1 / (1 + settings.resamples))
        yield floored.measured(known, p, TEST, settings)


def _counts(here: Sequence[tuple[Score, Score]]) -> tuple[Floats, Floats, Labels]:
    """Of each system, comments x shares of the four cells; and the gold labels of each comment."""
    names = dict.fromkeys(pair[0].slices["comment"] for pair in here)
    comments = {name: at for at, name in enumerate(names)}
    sides = np.zeros((2, len(comments), 4))
    golds: dict[str, frozenset[str]] = dict.fromkeys(comments, frozenset())
    for pair in here:
        slices = pair[0].slices
        of = slices["gold"] == slices["category"]
        golds[slices["comment"]] |= {slices["gold"]}
        for side, score in enumerate(pair):
            said = score.values[SAID]
            cells = (said, 0.0, 0.0, 1 - said) if of else (0.0, said, 1 - said, 0.0)
            sides[side, comments[slices["comment"]]] += cells
    return sides[0], sides[1], list(golds.values())


def _resample(
    first: Floats, second: Floats, strata: Labels, settings: Settings, slice_: Slice
) -> dict[str, Floats]:
    """Differences on comments drawn within each set of gold labels, the same for both systems."""
    rng = generator(settings.seed, slice_, "compare")
    both = np.concatenate([first, second], axis=1)
    draws = metrics.draws_at_once(settings, len(first))
    parts = (resampled_sums(both, strata, n, rng) for n in draws)
    return _join(_change(sums[:, :4], sums[:, 4:]) for sums in parts)


def _exchange(
    change: Floats, first: Floats, second: Floats, settings: Settings, slice_: Slice
) -> dict[str, Floats]:
    """Differences after the two systems changed places on comments drawn at random."""
    rng = generator(settings.seed, slice_, "exchange")
    sizes = ((n, len(change)) for n in metrics.draws_at_once(settings, len(change)))
    moved = (rng.integers(0, 2, size=size) @ change for size in sizes)
    return _join(_change(first + each, second - each) for each in moved)


def _join(draws: Iterable[Mapping[str, Floats]]) -> dict[str, Floats]:
    parts = list(draws)
    return {name: np.concatenate([part[name] for part in parts]) for name in metrics.METRICS}


def _change(first: Floats, second: Floats) -> dict[str, Floats]:
    before, after = metrics.rates(first), metrics.rates(second)
    return {name: after[name] - before[name] for name in metrics.METRICS}
