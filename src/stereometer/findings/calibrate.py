"""How far forced choice can be trusted: a model that gives both readings, held against itself item by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.errors import UsageError
from stereometer.runs import store as runs
from stereometer.stats.intervals import wilson
from stereometer.stats.tests import sign_test
from stereometer.types import Result, Score

BANDS = 4
"""Items by how sure the likelihood is, in groups of the same size."""
SIDES = (("stereotype", "anti-stereotype"), ("sent_more", "sent_less"))
LEVEL = 0.95


@dataclass(frozen=True)
class Row:
    """Items whose likelihoods differ by so much."""

    band: str
    low: float
    high: float
    """Of the difference between the two candidates, whichever is ahead."""
    n: int
    agree: int
    disagree: int
    undecided: int
    """The two orders chose differently."""
    rate: float | None
    """Of the decided items, in percent, the share that agree."""
    rate_low: float | None
    rate_high: float | None


@dataclass(frozen=True)
class Calibration:
    benchmark: str
    model: str
    likelihood: str
    choice: str
    rows: Sequence[Row]
    """All items, then from the least to the most sure; none where no item has both readings."""
    kappa: float | None
    """Agreement beyond what the two preferences give by chance."""
    p: float
    """That agreement and disagreement are equally likely."""
    numbers: Mapping[str, Mapping[str, float | None]]
    """The overall values of both measures."""
    verdict: str

    def as_json(self) -> dict[str, Any]:
        return {"schema": "calibration@1", **asdict(self)}


def calibrate(likelihood: Path, choice: Path) -> Calibration:
    """From the folders of two runs of one model on the same items."""
    first, second = runs.load_result(likelihood), runs.load_result(choice)
    _check(first, second)
    chosen = {
        score.item: _side(score) for score in runs.load_scores(choice) if score.skipped is None
    }
    margins = {
        score.item: _margin(score)
        for score in runs.load_scores(likelihood)
        if score.skipped is None
    }
    both = [
        (margins[item], chosen[item]) for item in margins if item in chosen and margins[item] != 0
    ]
    rows = [_row("all", both), *_bands(both)] if both else []
    p = sign_test(rows[0].agree, rows[0].disagree) if rows else 1.0
    names = ("ss", "lms", "icat", "pair_preference")
    numbers = {
        one.name: {"likelihood": one.value, "forced-choice": _value(second, one.name)}
        for one in first.estimates
        if not one.slice and one.name in names
    }
    return Calibration(
        first.benchmark,
        first.model,
        first.measure,
        second.measure,
        rows,
        _kappa(both),
        p,
        numbers,
        _verdict(rows, p),
    )


def _check(first: Result, second: Result) -> None:
    if "forced-choice" in first.measure or "forced-choice" not in second.measure:
        raise UsageError(
            f"The runs are of {first.measure} and {second.measure}. The first must be of a likelihood, the second of a forced choice. Change their order."
        )
    if (first.benchmark, first.data["digest"]) != (second.benchmark, second.data["digest"]):
        raise UsageError(
            f"The runs are of {first.benchmark} and {second.benchmark}, or of other versions of it. Items are compared one by one. Name runs on the same items."
        )
    if first.model != second.model:
        raise UsageError(
            f"The runs are of the models {first.model} and {second.model}. A model is held against itself. Name two runs of one model."
        )


def _value(result: Result, name: str) -> float | None:
    return next((one.value for one in result.estimates if one.name == name and not one.slice), None)


def _sides(score: Score) -> tuple[str, str]:
    found = next((pair for pair in SIDES if pair[0] in score.values), None)
    if found is None:
        raise UsageError(
            "The runs are not of CATs or pairs. Only those have a stereotype and its opposite. Name other runs."
        )
    return found


def _margin(score: Score) -> float:
    left, right = _sides(score)
    return score.values[left] - score.values[right]


def _side(score: Score) -> int:
    """1 for the stereotype, -1 for its opposite, 0 where the orders disagree."""
    left, right = _sides(score)
    share = score.values.get(f"{left}>{right}", score.values[left])
    return int(np.sign(share - 0.5))


def _bands(both: Sequence[tuple[float, int]]) -> Iterable[Row]:
    ordered = sorted(both, key=lambda one: abs(one[0]))
    for number in range(BANDS):
        part = ordered[len(ordered) * number // BANDS : len(ordered) * (number + 1) // BANDS]
        if part:
            yield _row(f"{number + 1} of {BANDS}", part)


def _row(band: str, part: Sequence[tuple[float, int]]) -> Row:
    agree = sum(np.sign(margin) == side for margin, side in part)
    undecided = sum(side == 0 for _, side in part)
    decided = len(part) - undecided
    low, high = wilson(agree, decided, LEVEL) if decided else (None, None)
    sizes = [abs(margin) for margin, _ in part]
    return Row(
        band, min(sizes), max(sizes), len(part), int(agree), int(decided - agree), int(undecided),
        100 * agree / decided if decided else None, None if low is None else 100 * low, None if high is None else 100 * high,
    )  # fmt: skip


def _kappa(both: Sequence[tuple[float, int]]) -> float | None:
    decided = [(margin > 0, side > 0) for margin, side in both if side]
    if not decided:
        return None
    observed = sum(a == b for a, b in decided) / len(decided)
    first, second = (sum(pair[at] for pair in decided) / len(decided) for at in (0, 1))
    expected = first * second + (1 - first) * (1 - second)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _verdict(rows: Sequence[Row], p: float) -> str:
    if not rows:
        return (
            "no item has both a choice and a likelihood: nothing can be said of how far they agree"
        )
    row = rows[0]
    decided = row.agree + row.disagree
    if not decided or row.undecided > decided:
        return "most choices follow the position of the option: forced choice says nothing about this model"
    if p >= 1 - LEVEL:
        return "the two readings agree no more often than not: the forced-choice number says nothing about the likelihoods"
    return (
        "the two readings agree more often than not"
        if row.agree > row.disagree
        else "the two readings contradict each other"
    )
