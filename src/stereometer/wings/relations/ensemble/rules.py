"""Ensemble (Nadeem et al. 2021, section 7): one system made of the stored scores of several.

`sound` is a linear weighted combination. For each task every member's scores are standardised and
the weights are fitted so that meaningful candidates come out above unrelated ones. A target term is
scored with weights that never saw it. `paper` is the authors' released rule: in every comparison of
two candidates the winner gains weight x score.
"""

import csv
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import combinations
from math import exp

import numpy as np
from scipy.special import expit

from stereometer.core.shapes.shape import Contrast
from stereometer.core.stats.intervals import Floats
from stereometer.core.types import Score, digest_of
from stereometer.kinds.cats.items import TASKS

RIDGE = 1e-3
"""Keeps the fitted weights finite where a combination makes no mistake."""
NO_OTHER = "no other target term to fit weights on"

Weights = Mapping[str, Sequence[float]]
"""By task, one per member."""
Row = tuple[Score, ...]
"""An item's score from every member."""


@dataclass(frozen=True)
class TaskWeights:
    """The weights of one task that one part of the target terms was scored with."""

    task: str
    terms: tuple[str, ...]
    """The terms scored, none of which the weights saw; empty where the weights were fixed."""
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Combination:
    scores: tuple[Score, ...]
    fitted: tuple[TaskWeights, ...]


def missing(row: Sequence[Score], names: Sequence[str]) -> str | None:
    silent = [name for name, score in zip(names, row, strict=True) if score.skipped is not None]
    return f"not answered by {' and '.join(silent)}" if silent else None


Combine = Callable[[Sequence[Row]], Combination]


def combined(rows: Sequence[Row], names: Sequence[str], combine: Combine) -> Combination:
    """Every item in order: combined where all members answered, else skipped with a reason."""
    whole = [row for row in rows if missing(row, names) is None]
    joined = combine(whole)
    by_item = {score.item: score for score in joined.scores}
    scores = []
    for row in rows:
        why, silent = missing(row, names) or NO_OTHER, any(score.unanswered for score in row)
        empty = replace(row[0], values={}, skipped=why, derived={}, unanswered=silent)
        scores.append(by_item.get(row[0].item, empty))
    return Combination(tuple(scores), joined.fitted)


# ------------------------------------------------------------------------------------------- linear


def linear(
    shape: Contrast, rows: Sequence[Row], folds: int, seed: int, fixed: Weights | None = None
) -> Combination:
    """The linear weighted combination, cross-fitted by target term, or with fixed weights."""
    terms = {(row[0].slices.get("domain", ""), shape.term(row[0])) for row in rows}
    parts = parts_of(sorted(terms), folds, seed)
    scores: list[Score] = []
    fitted: list[TaskWeights] = []
    for task, of_task in _by_task(shape, rows).items():
        if fixed is not None or shape.unrelated is None:
            weights = np.array(np.ones(len(of_task[0])) if fixed is None else fixed[task])
            scores += _score(of_task, of_task, weights / weights.sum())
            fitted.append(TaskWeights(task, (), tuple(map(float, weights / weights.sum()))))
            continue
        for part in parts:
            held = [row for row in of_task if shape.term(row[0]) in part]
            seen = [row for row in of_task if shape.term(row[0]) not in part]
            if held and seen:
                weights = fit(*_comparisons(shape, seen))
                scores += _score(held, seen, weights)
                names = tuple(sorted({shape.term(row[0]) for row in held}))
                fitted.append(TaskWeights(task, names, tuple(map(float, weights))))
    return Combination(tuple(scores), tuple(fitted))


def _by_task(shape: Contrast, rows: Sequence[Row]) -> dict[str, list[Row]]:
    tasks = dict.fromkeys(shape.task(row[0]) for row in rows)
    return {task: [row for row in rows if shape.task(row[0]) == task] for task in tasks}


def parts_of(terms: Sequence[tuple[str, str]], folds: int, seed: int) -> list[frozenset[str]]:
    """Target terms dealt at random into parts, which have some of every domain."""
    dealt = sorted(terms, key=lambda term: (term[0], digest_of([seed, *term])))
    order = list(dict.fromkeys(term for _, term in dealt))
    return [frozenset(order[part::folds]) for part in range(min(folds, len(order)))]


def _values(rows: Sequence[Row]) -> Floats:
    """Items x candidates x members."""
    return np.array(
        [[[score.values[name] for score in row] for name in row[0].values] for row in rows]
    )


def _score(rows: Sequence[Row], seen: Sequence[Row], weights: Floats) -> list[Score]:
    """Rows standardised as `seen` are, then weighed."""
    mean, spread = _standard(seen)
    totals = (((_values(rows) - mean) / spread) @ weights).tolist()
    return [
        replace(row[0], values=dict(zip(row[0].values, total, strict=True)), derived={})
        for row, total in zip(rows, totals, strict=True)
    ]


def _standard(rows: Sequence[Row]) -> tuple[Floats, Floats]:
    values = _values(rows).reshape(-1, len(rows[0]))
    spread = values.std(axis=0)
    return values.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _comparisons(shape: Contrast, rows: Sequence[Row]) -> tuple[Floats, Floats]:
    """Standardised meaningful minus unrelated, two per row; every target term weighs the same."""
    values = _values(rows) / _standard(rows)[1]
    by_name = dict(zip(rows[0][0].values, np.moveaxis(values, 1, 0), strict=True))
    unrelated = by_name[str(shape.unrelated)]
    margins = [by_name[name] - unrelated for name in shape.candidates[:2]]
    count = Counter(shape.term(row[0]) for row in rows)
    share = np.array([1 / (2 * len(count) * count[shape.term(row[0])]) for row in rows])
    return np.concatenate(margins), np.concatenate([share, share])


def fit(differences: Floats, shares: Floats) -> Floats:
    """Weights from 0 up, adding up to 1, with the least logistic loss over the comparisons."""
    from scipy.optimize import minimize

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = differences @ weights
        wrong = -shares / (1 + np.exp(np.clip(margin, -500, 500)))
        value = float((shares * np.logaddexp(0.0, -margin)).sum() + RIDGE / 2 * (weights @ weights))
        return value, differences.T @ wrong + RIDGE * weights

    members = differences.shape[1]
    start = np.full(members, 1 / members)
    weights: Floats = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * members
    ).x
    return weights / weights.sum() if weights.sum() > 0 else start


# -------------------------------------------------------------------------------- the authors' rule


def winners(shape: Contrast, rows: Sequence[Row], weights: Weights) -> Combination:
    """The released rule, on probabilities; a tie adds nothing."""
    readings = {task: _reading(task, part) for task, part in _by_task(shape, rows).items()}
    scores = []
    for row in rows:
        task = shape.task(row[0])
        total = dict.fromkeys(row[0].values, 0.0)
        for score, weight, read in zip(row, weights[task], readings[task], strict=True):
            shares = {name: read(value) for name, value in score.values.items()}
            for name, gain in gains(shares, weight).items():
                total[name] += gain
        scores.append(replace(row[0], values=total, derived={}))
    fitted = tuple(TaskWeights(task, (), tuple(weights[task])) for task in readings)
    return Combination(tuple(scores), fitted)


def gains(values: Mapping[str, float], weight: float) -> dict[str, float]:
    """What one member gives each candidate: weight x score for every other candidate it beats."""
    total = dict.fromkeys(values, 0.0)
    for first, second in combinations(values, 2):
        if values[first] != values[second]:
            winner = first if values[first] > values[second] else second
            total[winner] += weight * values[winner]
    return total


def _reading(task: str, rows: Sequence[Row]) -> list[Callable[[float], float]]:
    """How each member's numbers become probabilities, where they are not yet (decision 3)."""
    inverse = expit if task == "intersentence" else exp
    return [
        float
        if all(0 <= value <= 1 for score in column for value in score.values.values())
        else inverse
        for column in zip(*rows, strict=True)
    ]


@cache
def weights_for(name: str, family: str) -> Mapping[str, float] | None:
    """By task, of a system that the authors name, else of its family; None if neither is known."""
    folder = resources.files("stereometer.wings.relations.ensemble")
    rows = list(csv.DictReader((folder / "ensemble_weights.csv").read_text("utf-8").splitlines()))
    named = [row for row in rows if row["system"] == name]
    row = next(iter(named or (row for row in rows if row["family"] == family)), None)
    return {task: float(row[task]) for task in TASKS} if row else None
