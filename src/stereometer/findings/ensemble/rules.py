"""Ensemble (Nadeem et al. 2021, section 7): one system made of the stored scores of several.

`sound` is a linear weighted combination. For each task every member's scores are standardised and the weights are fitted so
that meaningful candidates come out above unrelated ones. A target term is scored with weights that never saw it.
`paper` is the authors' released rule: in every comparison of two candidates the winner gains weight x score.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import combinations
from math import exp

import numpy as np

from stereometer.stats.intervals import Floats
from stereometer.types import Score, digest_of

RIDGE = 1e-3
"""Keeps the fitted weights finite where a combination makes no mistake."""
PAIRS = "pair"
"""Stands for the task of items that are pairs."""

NO_OTHER = "no other target term to fit weights on"

Weights = Mapping[str, Sequence[float]]
"""By task, one a member."""


@dataclass(frozen=True)
class Fitted:
    """The weights of one task that one part of the target terms was scored with."""

    task: str
    terms: tuple[str, ...]
    """The terms scored, none of which the weights saw; empty where the weights were given."""
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Combined:
    scores: tuple[Score, ...]
    fitted: tuple[Fitted, ...]


def task_of(score: Score) -> str:
    return score.slices.get("task", PAIRS)


def term_of(score: Score) -> str:
    return score.slices.get("target", score.item)


def aligned(members: Sequence[Mapping[str, Score]]) -> list[tuple[Score, ...]]:
    """Each item's score from every member."""
    return [tuple(member[item] for member in members) for item in members[0]]


def missing(row: Sequence[Score], names: Sequence[str]) -> str | None:
    silent = [name for name, score in zip(names, row, strict=True) if score.skipped is not None]
    return f"not answered by {' and '.join(silent)}" if silent else None


Combine = Callable[[Sequence[tuple[Score, ...]]], Combined]


def combined(rows: Sequence[tuple[Score, ...]], names: Sequence[str], combine: Combine) -> Combined:
    """Every item in its order: combined where all members answered, skipped with a reason where not."""
    whole = [row for row in rows if missing(row, names) is None]
    found = combine(whole)
    by_item = {score.item: score for score in found.scores}
    scores = [
        by_item.get(row[0].item)
        or replace(row[0], values={}, skipped=missing(row, names) or NO_OTHER, derived={})
        for row in rows
    ]
    return Combined(tuple(scores), found.fitted)


def _valued(row: Sequence[Score], values: Mapping[str, float]) -> Score:
    return replace(row[0], values=dict(values), derived={})


# -------------------------------------------------------------------------------------------- linear


def linear(
    rows: Sequence[tuple[Score, ...]], folds: int, seed: int, given: Weights | None = None
) -> Combined:
    """The linear weighted combination, cross-fitted by target term, or with the weights given."""
    parts = parts_of(
        sorted({(row[0].slices.get("domain", ""), term_of(row[0])) for row in rows}), folds, seed
    )
    scores: list[Score] = []
    fitted: list[Fitted] = []
    for task in dict.fromkeys(task_of(row[0]) for row in rows):
        of_task = [row for row in rows if task_of(row[0]) == task]
        if given is not None or not _has_unrelated(of_task):
            weights = np.array(given[task] if given is not None else np.ones(len(of_task[0])))
            scores += _scored(of_task, of_task, weights / weights.sum())
            fitted.append(Fitted(task, (), tuple(map(float, weights / weights.sum()))))
            continue
        for part in parts:
            held, seen = (
                [row for row in of_task if term_of(row[0]) in part],
                [row for row in of_task if term_of(row[0]) not in part],
            )
            if held and seen:
                weights = fit(*_comparisons(seen))
                scores += _scored(held, seen, weights)
                fitted.append(
                    Fitted(
                        task,
                        tuple(sorted({term_of(row[0]) for row in held})),
                        tuple(map(float, weights)),
                    )
                )
    return Combined(tuple(scores), tuple(fitted))


def _has_unrelated(rows: Sequence[tuple[Score, ...]]) -> bool:
    return all("unrelated" in score.values for row in rows for score in row)


def parts_of(terms: Sequence[tuple[str, str]], folds: int, seed: int) -> list[frozenset[str]]:
    """Target terms dealt by lot into parts, domain by domain, so that each part has some of every domain."""
    dealt = sorted(terms, key=lambda one: (one[0], digest_of([seed, *one])))
    order = list(dict.fromkeys(term for _, term in dealt))
    return [frozenset(order[part::folds]) for part in range(min(folds, len(order)))]


def _values(rows: Sequence[tuple[Score, ...]]) -> Floats:
    """Items x candidates x members."""
    return np.array(
        [[[score.values[name] for score in row] for name in row[0].values] for row in rows]
    )


def _scored(
    rows: Sequence[tuple[Score, ...]], seen: Sequence[tuple[Score, ...]], weights: Floats
) -> list[Score]:
    """Rows standardised as `seen` are, then weighed."""
    mean, spread = _standard(seen)
    totals = ((_values(rows) - mean) / spread) @ weights
    return [
        _valued(row, dict(zip(row[0].values, map(float, total), strict=True)))
        for row, total in zip(rows, totals, strict=True)
    ]


def _standard(rows: Sequence[tuple[Score, ...]]) -> tuple[Floats, Floats]:
    values = _values(rows).reshape(-1, len(rows[0]))
    spread = values.std(axis=0)
    return values.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _comparisons(rows: Sequence[tuple[Score, ...]]) -> tuple[Floats, Floats]:
    """Standardised meaningful minus unrelated, two a row, and what each weighs: every target term the same, as in lms."""
    values = _values(rows) / _standard(rows)[1]
    names = list(rows[0][0].values)
    unrelated = values[:, names.index("unrelated")]
    kinds = [values[:, names.index(name)] - unrelated for name in ("stereotype", "anti-stereotype")]
    terms = [term_of(row[0]) for row in rows]
    count = {term: terms.count(term) for term in set(terms)}
    share = np.array([1 / (2 * len(count) * count[term]) for term in terms])
    return np.concatenate(kinds), np.concatenate([share, share])


def fit(differences: Floats, shares: Floats) -> Floats:
    """Weights from 0 up, adding up to 1, with the least logistic loss over comparisons that should come out positive."""
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


# ------------------------------------------------------------------------------------ the authors' rule


def winners(rows: Sequence[tuple[Score, ...]], weights: Weights) -> Combined:
    """The released rule, on probabilities; a tie adds nothing."""
    readings = {
        task: _reading(task, rows) for task in dict.fromkeys(task_of(row[0]) for row in rows)
    }
    scores = []
    for row in rows:
        task = task_of(row[0])
        total = dict.fromkeys(row[0].values, 0.0)
        for score, weight, read in zip(row, weights[task], readings[task], strict=True):
            for name, gain in gains(
                {name: read(value) for name, value in score.values.items()}, weight
            ).items():
                total[name] += gain
        scores.append(_valued(row, total))
    return Combined(
        tuple(scores), tuple(Fitted(task, (), tuple(weights[task])) for task in readings)
    )


def gains(values: Mapping[str, float], weight: float) -> dict[str, float]:
    """What one member gives each candidate: weight x score for every other candidate it beats."""
    found = dict.fromkeys(values, 0.0)
    for one, other in combinations(values, 2):
        if values[one] != values[other]:
            winner = one if values[one] > values[other] else other
            found[winner] += weight * values[winner]
    return found


def _reading(task: str, rows: Sequence[tuple[Score, ...]]) -> list[Callable[[float], float]]:
    """How each member's numbers become probabilities: those that already are stay as they are (decision 3)."""
    inverse = _from_odds if task == "intersentence" else exp
    columns = zip(*[row for row in rows if task_of(row[0]) == task], strict=True)
    return [
        _same
        if all(0 <= value <= 1 for score in column for value in score.values.values())
        else inverse
        for column in columns
    ]


def _same(value: float) -> float:
    return value


def _from_odds(value: float) -> float:
    return 1 / (1 + exp(-value)) if value > 0 else exp(value) / (1 + exp(value))


@cache
def released_weights() -> Mapping[str, tuple[str, Mapping[str, float]]]:
    """`ensemble_weights.csv`: the family and the weights of each system the authors combine, by task."""
    text = (
        resources.files("stereometer.findings.ensemble")
        .joinpath("ensemble_weights.csv")
        .read_text("utf-8")
    )
    tasks = ("intrasentence", "intersentence")
    return {
        row["system"]: (row["family"], {task: float(row[task]) for task in tasks})
        for row in csv.DictReader(text.splitlines())
    }


def weights_for(name: str, family: str) -> Mapping[str, float] | None:
    """The authors' weights of a system they name, else of its family; None where neither is known."""
    table = released_weights()
    if name in table:
        return table[name][1]
    return next((weights for of, weights in table.values() if of == family), None)
