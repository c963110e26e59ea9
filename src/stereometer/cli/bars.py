"""Bars that overall values must reach: `--require 'icat>=70'`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from stereometer.errors import ThresholdError, UsageError
from stereometer.types import Job, Result

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
BAR = re.compile(r"\s*(\w+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Bar:
    metric: str
    sign: str
    number: float

    def missed_by(self, value: float | None) -> bool:
        return value is None or not OPERATORS[self.sign](value, self.number)

    def __str__(self) -> str:
        return f"{self.metric}{self.sign}{self.number:g}"


def bars(texts: Sequence[str] | None) -> list[Bar]:
    return [_bar(text) for text in texts or ()]


def _bar(text: str) -> Bar:
    parts = BAR.fullmatch(text)
    if not parts:
        raise UsageError(
            f"--require '{text}' is not understood. It takes a name, one of "
            f"{' '.join(OPERATORS)} and a number. For instance 'icat>=70'."
        )
    return Bar(parts[1], parts[2], float(parts[3]))


def bearing(jobs: Sequence[Job], wanted: Sequence[Bar]) -> Sequence[Job]:
    """The jobs, unless a bar names a metric of other kinds of items or misspells one of theirs.

    Any other name may be a metric of a method's own: whether it is shows when the job is done.
    """
    from stereometer import catalog

    here, anywhere = _metrics(job.kind for job in jobs), _metrics(catalog.names("shape"))
    for bar in wanted:
        if bar.metric not in here and (
            bar.metric in anywhere or get_close_matches(bar.metric, here, n=1)
        ):
            raise _unknown(bar, here)
    return jobs


def _metrics(kinds: Iterable[str]) -> list[str]:
    from stereometer import catalog

    shapes = (catalog.shape(kind) for kind in dict.fromkeys(kinds))
    return list(dict.fromkeys(metric.name for shape in shapes for metric in shape.metrics))


def _unknown(bar: Bar, names: Iterable[str]) -> UsageError:
    return UsageError(
        f"--require names '{bar.metric}', which is not measured here. "
        f"Names are {', '.join(names)}. Choose one of those or leave the bar out."
    )


def check(results: Sequence[Result], wanted: Sequence[Bar]) -> None:
    """Raises if overall values miss bars, and names all that do, or if there is no such value."""
    missed: list[str] = []
    overall = [
        (result.model, estimate)
        for result in results
        for estimate in result.estimates
        if not estimate.slice
    ]
    for bar in wanted:
        values = [pair for pair in overall if pair[1].name == bar.metric]
        if not values:
            raise _unknown(bar, dict.fromkeys(estimate.name for _, estimate in overall))
        missed += [
            f"{model}: {bar.metric} is "
            f"{'not available' if estimate.value is None else f'{estimate.value:.2f}'}. "
            f"The bar is {bar}."
            for model, estimate in values
            if bar.missed_by(estimate.value)
        ]
    if missed:
        raise ThresholdError(f"{' '.join(missed)} The results are stored all the same.")
