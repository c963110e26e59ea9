"""How far forced choice can be trusted: both readings of a model, compared item by item."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.options import verb
from stereometer.core.runs.store import check_whole
from stereometer.core.runs.stored import Stored, run_of
from stereometer.core.shapes.shape import Contrast
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Piece, View, aside, line
from stereometer.core.stats.intervals import wilson
from stereometer.core.stats.tests import sign_test
from stereometer.core.types import Result
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown

COUNTS = ("difference", "n", "agree", "disagree", "orders differ", "agreement of the decided")
"""Columns of the view."""
BANDS = 4
"""Items by how sure the likelihood is, in groups of the same size."""
LEVEL = 0.95


@dataclass(frozen=True)
class CalibrationBand:
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

    @property
    def cells(self) -> tuple[Cell, ...]:
        counts = (str(count) for count in (self.n, self.agree, self.disagree, self.undecided))
        rate = "none"
        if self.rate is not None:
            rate = f"{self.rate:.1f} [{self.rate_low:.1f}, {self.rate_high:.1f}]"
        differ = f"{self.low:.3g} - {self.high:.3g}"
        return (text(self.band), *map(number, (differ, *counts, rate)))


@dataclass(frozen=True, repr=False)
class Calibration(Shown, Document):
    benchmark: str
    model: str
    likelihood: str
    choice: str
    rows: Sequence[CalibrationBand]
    """All items, then from the least to the most sure; none where no item has both readings."""
    kappa: float | None
    """Agreement beyond what the two preferences give by chance."""
    p: float
    """That agreement and disagreement are equally likely."""
    numbers: Mapping[str, Mapping[str, float | None]]
    """The overall values of both measures."""
    verdict: str
    schema: str = "calibration@1"

    def view(self) -> View:
        columns = (text("items, by how sure the likelihood is"), *map(number, COUNTS))
        parts: list[Piece] = [Table(columns, tuple(row.cells for row in self.rows))]
        for name, values in self.numbers.items():
            likelihood, choice = (
                "none" if values[reading] is None else f"{values[reading]:.1f}"
                for reading in ("likelihood", "forced-choice")
            )
            parts.append(line(f"{name}: likelihood {likelihood}, forced choice {choice}"))
        kappa = "none" if self.kappa is None else f"{self.kappa:.2f}"
        said = f"{self.verdict} ({numbers.p_words(self.p)}; kappa {kappa}). Chance is 50."
        about = (f"{self.choice} against {self.likelihood}",)
        return View(self.benchmark, self.model, about, (*parts, *aside(said)))


@verb
def calibrate(
    likelihood: Annotated[Stored, "Folder of a run of a likelihood measure."],
    choice: Annotated[Stored, "Folder of a forced-choice run of the same model on the same items."],
) -> Calibration:
    """Check how far a model's forced choices agree with its likelihoods, item by item."""
    runs = run_of(likelihood), run_of(choice)
    first, second = (run.result for run in runs)
    check_whole([first, second])
    shape = _check(first, second)
    margins, choices = ([score for score in run.read() if score.skipped is None] for run in runs)
    if any(score.answers for score in margins) or not all(score.answers for score in choices):
        raise UsageError(
            f"The runs are of {first.measure} and {second.measure}. The first must be of a "
            "likelihood, the second of a forced choice. Swap them."
        )
    stereotype, opposite = shape.candidates[:2]
    sides = {score.item: shape.side(score, "sound") for score in choices}
    both = [
        (margin, sides[score.item])
        for score in margins
        if score.item in sides and (margin := score.values[stereotype] - score.values[opposite])
    ]
    rows = [_row("all", both), *_bands(both)] if both else []
    p = sign_test(rows[0].agree, rows[0].disagree) if rows else 1.0
    chosen = {row.name: row.value for row in reversed(second.estimates) if not row.slice}
    values = {
        row.name: {"likelihood": row.value, "forced-choice": chosen.get(row.name)}
        for row in first.estimates
        if not row.slice and row.name in shape.shares
    }
    about = (first.benchmark, first.model, first.measure, second.measure)
    return Calibration(*about, rows, _kappa(both), p, values, _verdict(rows, p))


def _check(first: Result, second: Result) -> Contrast:
    """The shape of the items of both runs."""
    if (first.benchmark, first.data["digest"]) != (second.benchmark, second.data["digest"]):
        raise UsageError(
            f"The runs are of {first.benchmark} and {second.benchmark}, or of other versions of "
            "it. Items are compared one by one. Name runs on the same items."
        )
    if first.model != second.model:
        raise UsageError(
            f"The runs are of {first.model} and {second.model}. Two readings of one model are "
            "compared. Name two runs of the same model."
        )
    shape = catalog.shape(first.kind)
    if not isinstance(shape, Contrast) or first.kind != second.kind:
        raise UsageError(
            "The runs are not of CATs or pairs. Only those have two sides. Name other runs."
        )
    return shape


def _bands(both: Sequence[tuple[float, int]]) -> Iterable[CalibrationBand]:
    ordered = sorted(both, key=lambda reading: abs(reading[0]))
    ends = [len(ordered) * at // BANDS for at in range(BANDS + 1)]
    for at, (start, end) in enumerate(pairwise(ends), 1):
        if start < end:
            yield _row(f"{at} of {BANDS}", ordered[start:end])


def _row(band: str, part: Sequence[tuple[float, int]]) -> CalibrationBand:
    agree = int(sum(np.sign(margin) == side for margin, side in part))
    decided = sum(side != 0 for _, side in part)
    sizes = [abs(margin) for margin, _ in part]
    counts = len(part), agree, decided - agree, len(part) - decided
    rate: tuple[float | None, ...] = (None, None, None)
    if decided:
        rate = (100 * agree / decided, *(100 * end for end in wilson(agree, decided, LEVEL)))
    return CalibrationBand(band, min(sizes), max(sizes), *counts, *rate)


def _kappa(both: Sequence[tuple[float, int]]) -> float | None:
    decided = [(margin > 0, side > 0) for margin, side in both if side]
    if not decided:
        return None
    observed = sum(a == b for a, b in decided) / len(decided)
    first, second = (sum(pair[at] for pair in decided) / len(decided) for at in (0, 1))
    expected = first * second + (1 - first) * (1 - second)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def _verdict(rows: Sequence[CalibrationBand], p: float) -> str:
    if not rows:
        nothing = "nothing can be said of how far they agree"
        return f"no item has both a choice and a likelihood: {nothing}"
    row = rows[0]
    decided = row.agree + row.disagree
    if not decided or row.undecided > decided:
        follow = "most choices follow the position of the option"
        return f"{follow}: forced choice says nothing about this model"
    if p >= 1 - LEVEL:
        nothing = "the forced-choice number says nothing about the likelihoods"
        return f"the two readings agree no more often than not: {nothing}"
    says = "agree more often than not" if row.agree > row.disagree else "contradict each other"
    return f"the two readings {says}"
