"""Bars that overall values must reach, held against the whole interval: `ss<=55`, `|ss-50|<=5`.

A bar is met where the whole interval satisfies it, missed where all of it violates it, and
undecided otherwise. `point(ss)<=55` is about the value alone.

Bars in a file: what each demands, and of which estimates.

[[bars]]
require = "|ss-50|<=5"
benchmark = "stereoset"
slice = { domain = "gender" }

[[bars]]
no_worse = "lms"
margin = 1.0
"""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from stereometer.core import catalog
from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import read_text
from stereometer.core.types import Estimate, Job, Result, Slice
from stereometer.core.types.names import MeasureName
from stereometer.core.types.results import full_name

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
NUMBER = r"-?\d+(?:\.\d+)?"
BAR = re.compile(rf"(point\()?(?:(\w+)|\|(\w+)-({NUMBER})\|)(?(1)\))(>=|<=|>|<)({NUMBER})")

Outcome = Literal["met", "missed", "undecided"]


@dataclass(frozen=True)
class Bar:
    metric: str
    sign: str
    number: float
    centre: float | None = None
    """What the distance is from, where the bar is about a distance."""
    point: bool = False
    """Whether it is about the value alone."""

    def outcome(self, estimate: Estimate) -> Outcome:
        """A value that is not there misses every bar; one that ties leave undetermined, or that
        has no interval, decides none."""
        if estimate.value is None:
            return "missed" if estimate.least is None else "undecided"
        low, high = (estimate.value,) * 2 if self.point else estimate.ends
        if low is None or high is None:
            return "undecided"
        ends = (low, high) if self.centre is None else distances(low, high, self.centre)
        satisfied = {OPERATORS[self.sign](end, self.number) for end in ends}
        return "undecided" if len(satisfied) > 1 else "met" if True in satisfied else "missed"

    def short_of(self, estimate: Estimate) -> float | None:
        """How many times as narrow the interval must be to lie on one side of the bar, if the value
        stays where it is; None where it lies on the bar."""
        if estimate.value is None or estimate.low is None or estimate.high is None:
            return None
        value = estimate.value if self.centre is None else abs(estimate.value - self.centre)
        away = abs(value - self.number)
        reach = max(estimate.high - estimate.value, estimate.value - estimate.low)
        return reach / away if away else None

    @property
    def marks(self) -> tuple[float, ...]:
        """The values at which it turns."""
        if self.centre is None:
            return (self.number,)
        return self.centre - self.number, self.centre + self.number

    def __str__(self) -> str:
        about = self.metric if self.centre is None else f"|{self.metric}-{self.centre:g}|"
        return f"{f'point({about})' if self.point else about}{self.sign}{self.number:g}"


def distances(low: float, high: float, centre: float) -> tuple[float, float]:
    """The smallest and the largest distance from a point that an interval leaves possible."""
    away = abs(low - centre), abs(high - centre)
    return 0.0 if low <= centre <= high else min(away), max(away)


def read_bar(text: str) -> Bar:
    parts = BAR.fullmatch("".join(text.split()))
    if not parts:
        raise UsageError(
            f"--require '{text}' is not understood. It takes a name, one of "
            f"{' '.join(OPERATORS)} and a number. For instance 'icat>=70', '|ss-50|<=5', or "
            "'point(ss)<=55' for the value without its interval."
        )
    point, name, of_distance, centre, sign, number = parts.groups()
    about = None if centre is None else float(centre)
    return Bar(name or of_distance, sign, float(number), about, point is not None)


PLACES = ("benchmark", "measure", "variant", "model")
"""What a rule may fix of a result; what it leaves out may be anything."""
KEYS = ("require", "no_worse", "margin", "slice", *PLACES)


@dataclass(frozen=True)
class BarRule:
    """One bar of a file: on an interval, or on the difference from a baseline."""

    bar: Bar | None = None
    no_worse: str = ""
    """The metric that must not get worse than the baseline's, by more than the margin."""
    margin: float = 0.0
    where: Mapping[str, str] = field(default_factory=dict)
    slice: Slice = field(default_factory=dict)

    @property
    def metric(self) -> str:
        return self.bar.metric if self.bar else self.no_worse

    def among(self, names: Collection[str]) -> BarRule:
        """With its metric as it is called here, where tables head it by the end of its name."""
        meant = full_name(self.metric, names)
        if self.bar is None:
            return replace(self, no_worse=meant)
        return replace(self, bar=replace(self.bar, metric=meant))

    def __str__(self) -> str:
        what = (
            str(self.bar) if self.bar else f"{self.no_worse} no worse by more than {self.margin:g}"
        )
        fixed = ", ".join(f"{key}={value}" for key, value in {**self.where, **self.slice}.items())
        return f"{what} ({fixed})" if fixed else what

    def is_about(self, result: Result) -> bool:
        return self.fits({name: getattr(result, name) for name in PLACES})

    def fits(self, facts: Mapping[str, str]) -> bool:
        """A measure is named with its version or without."""
        return all(
            facts[name] == value
            or (name == "measure" and MeasureName.parse(facts[name]).known_as == value)
            for name, value in self.where.items()
        )


def read_rules(path: Path) -> list[BarRule]:
    """All bars of a file; what is wrong with one of them is said with its number."""
    try:
        document = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(
            f"{path} is not TOML: {error}. Bars are tables called [[bars]]. Fix the file."
        ) from None
    rows = document.get("bars")
    if set(document) != {"bars"} or not isinstance(rows, list) or not rows:
        raise DataError(
            f"{path} has no bars, or something beside them. Every bar is a table [[bars]] with "
            "`require` or `no_worse`. See docs/howto/gate.md."
        )
    return [_rule(row, f"Bar {number} of {path}") for number, row in enumerate(rows, start=1)]


def _rule(row: Any, name: str) -> BarRule:
    if not isinstance(row, dict) or not set(row) <= set(KEYS):
        strange = ", ".join(sorted(set(row) - set(KEYS))) if isinstance(row, dict) else repr(row)
        raise DataError(f"{name} has {strange}. A bar has {', '.join(KEYS)}. Fix the file.")
    if ("require" in row) == ("no_worse" in row):
        raise DataError(
            f"{name} must have either `require` or `no_worse`. The first is about an interval, the "
            "second about the difference from --against. Write one of them."
        )
    fixed, slice_ = {key: row[key] for key in PLACES if key in row}, row.get("slice", {})
    if not isinstance(slice_, dict) or not all(
        isinstance(value, str) for value in (*fixed.values(), *slice_.values())
    ):
        raise DataError(
            f"{name} has a slice that is not text. `slice` is a table of texts, such as "
            '{ domain = "gender" }. Fix the file.'
        )
    if "require" in row:
        try:
            return BarRule(read_bar(str(row["require"])), where=fixed, slice=slice_)
        except UsageError as error:
            raise DataError(f"{name}: {error}") from None
    return BarRule(None, *_no_worse(row, name), fixed, slice_)


def _no_worse(row: Mapping[str, Any], name: str) -> tuple[str, float]:
    metric, margin = row["no_worse"], row.get("margin", 0.0)
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not isinstance(metric, str) or not is_number or not 0 <= margin < float("inf"):
        raise DataError(
            f"{name} needs the name of a metric and a margin of at least 0. The margin is in the "
            'metric\'s own points. For instance no_worse = "lms", margin = 1.0.'
        )
    return metric, float(margin)


def bearing(jobs: Sequence[Job], wanted: Sequence[BarRule]) -> Sequence[Job]:
    """The jobs, unless a bar names a metric of other kinds of items or misspells one of theirs.

    Any other name may be a metric of a method's own: whether it is shows when the job is done.
    """
    here, anywhere = metrics_of(job.kind for job in jobs), metrics_of(catalog.names("shape"))
    for rule in (each.among(here) for each in wanted):
        if rule.metric not in here and (
            rule.metric in anywhere or get_close_matches(rule.metric, here, n=1)
        ):
            raise UsageError(
                f"A bar names '{rule.metric}', which is not measured here. The metrics are "
                f"{', '.join(here)}. Choose one of those or leave the bar out."
            )
    return jobs


def metrics_of(kinds: Iterable[str]) -> list[str]:
    shapes = (catalog.shape(kind) for kind in dict.fromkeys(kinds))
    return list(dict.fromkeys(metric.name for shape in shapes for metric in shape.metrics))
