"""Two systems, or two settings, on the same comments.

What is paired is what was answered about a comment and a category: the share of answers that say
the comment is of it. Differences resample comments within their gold labels, the same for both, and
are tested by exchanging the two systems on whole comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from stereometer.errors import UsageError
from stereometer.shapes.comment.metrics import (
    METRICS,
    Decision,
    categories,
    concerns,
    decisions,
    rates,
)
from stereometer.shapes.paired import Difference, Withheld, asked_or_withheld
from stereometer.stats.intervals import Floats, generator
from stereometer.types import Score, Settings, Slice, Variant

SAID = "said"
UNREAD = "no answer could be read"
TEST = "exchange of systems over comments"
CELLS = 4_000_000
"""Draws x comments held at once."""


def units(scores: Iterable[Score], variant: Variant) -> dict[str, Score]:
    """By comment, category and gold label the share of answers that name the category."""
    every = list(scores)
    if any("edit" in score.slices for score in every):
        raise UsageError(
            "The misspelling test sets a model's answers against its own. Two runs of it have no "
            "common scale. Look at each with `stereometer report`."
        )
    asked: dict[str, Score] = {}
    for category in categories(every):
        for score in every:
            if concerns(score, category, variant):
                gold = category if score.slices["gold"] == category else f"not-{category}"
                slices = {"comment": score.slices["comment"], "category": category, "gold": gold}
                asked.setdefault(_id(slices), Score(_id(slices), slices, {}, UNREAD))
        said: dict[str, list[bool]] = {}
        for row in decisions(every, category, variant):
            said.setdefault(_id(_slices(row)), []).append(row.said)
        for id_, answers in said.items():
            share = sum(answers) / len(answers)
            asked[id_] = replace(asked[id_], values={SAID: share}, skipped=None)
    return asked


def _slices(row: Decision) -> Slice:
    gold = row.category if row.gold else f"not-{row.category}"
    return {"comment": row.comment, "category": row.category, "gold": gold}


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
    seen = [rates(side.sum(axis=0)) for side in (first, second)]
    draws = _resampled(first, second, strata, settings, slice_)
    exchanged = _exchanged(second - first, first.sum(axis=0), second.sum(axis=0), settings, slice_)
    for name in METRICS:
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


def _counts(here: Sequence[tuple[Score, Score]]) -> tuple[Floats, Floats, list[list[int]]]:
    """Of each system, comments x true and false positives and negatives in shares; and the
    comments of each set of gold labels."""
    names = dict.fromkeys(pair[0].slices["comment"] for pair in here)
    comments = {name: at for at, name in enumerate(names)}
    sides = np.zeros((2, len(comments), 4))
    golds: dict[str, set[str]] = {}
    for pair in here:
        slices = pair[0].slices
        of = slices["gold"] == slices["category"]
        golds.setdefault(slices["comment"], set()).add(slices["gold"])
        for side, score in enumerate(pair):
            said = score.values[SAID]
            cells = (said, 0.0, 0.0, 1 - said) if of else (0.0, said, 1 - said, 0.0)
            sides[side, comments[slices["comment"]]] += cells
    strata: dict[frozenset[str], list[int]] = {}
    for name, at in comments.items():
        strata.setdefault(frozenset(golds[name]), []).append(at)
    return sides[0], sides[1], list(strata.values())


def _parts(settings: Settings, comments: int) -> Iterator[int]:
    step = max(1, CELLS // max(1, comments))
    for start in range(0, settings.resamples, step):
        yield min(step, settings.resamples - start)


def _resampled(
    first: Floats, second: Floats, strata: list[list[int]], settings: Settings, slice_: Slice
) -> dict[str, Floats]:
    """Differences on comments drawn within each set of gold labels, the same for both systems."""
    rng = generator(settings.seed, slice_, "compare")
    parts = []
    for count in _parts(settings, len(first)):
        totals = np.zeros((2, count, 4))
        for members in strata:
            n = len(members)
            weights = rng.multinomial(n, np.full(n, 1 / n), size=count)
            totals += np.stack([weights @ side[members] for side in (first, second)])
        parts.append(_change(*totals))
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def _exchanged(
    change: Floats, first: Floats, second: Floats, settings: Settings, slice_: Slice
) -> dict[str, Floats]:
    """Differences after the two systems changed places on comments drawn by lot."""
    rng = generator(settings.seed, slice_, "exchange")
    parts = []
    for count in _parts(settings, len(change)):
        moved = rng.integers(0, 2, size=(count, len(change))) @ change
        parts.append(_change(first + moved, second - moved))
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def _change(first: Floats, second: Floats) -> dict[str, Floats]:
    before, after = rates(first), rates(second)
    return {name: after[name] - before[name] for name in METRICS}
