"""Bars in a file: what each demands, and of which estimates.

[[bars]]
require = "|ss-50|<=5"
benchmark = "stereoset"
slice = { domain = "gender" }

[[bars]]
no_worse = "lms"
margin = 1.0
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stereometer.errors import DataError, UsageError
from stereometer.files import read_text
from stereometer.findings.gate.bars import Bar, read_bar
from stereometer.types import Result, Slice
from stereometer.types.names import MeasureName
from stereometer.types.results import full_name

PLACES = ("benchmark", "measure", "variant", "model")
"""What a rule may fix of a result; what it leaves out may be anything."""
KEYS = ("require", "no_worse", "margin", "slice", *PLACES)


@dataclass(frozen=True)
class Rule:
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

    def among(self, names: Collection[str]) -> Rule:
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


def read_rules(path: Path) -> list[Rule]:
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


def _rule(row: Any, name: str) -> Rule:
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
        return Rule(_bar(row["require"], name), where=fixed, slice=slice_)
    return Rule(None, *_no_worse(row, name), fixed, slice_)


def _bar(text: Any, name: str) -> Bar:
    try:
        return read_bar(str(text))
    except UsageError as error:
        raise DataError(f"{name}: {error}") from None


def _no_worse(row: Mapping[str, Any], name: str) -> tuple[str, float]:
    metric, margin = row["no_worse"], row.get("margin", 0.0)
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not isinstance(metric, str) or not is_number or not 0 <= margin < float("inf"):
        raise DataError(
            f"{name} needs the name of a metric and a margin of at least 0. The margin is in the "
            'metric\'s own points. For instance no_worse = "lms", margin = 1.0.'
        )
    return metric, float(margin)
