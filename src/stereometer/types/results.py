"""Estimates, and the Result that `result.json` holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from stereometer.errors import UnknownName, UsageError, did_you_mean
from stereometer.types import summary
from stereometer.types.document import Document
from stereometer.types.items import Slice, Variant
from stereometer.types.typed import typed


@dataclass(frozen=True)
class Published:
    """A value that somebody printed for the same data, method and variant."""

    value: float
    source: str


@dataclass(frozen=True)
class Estimate:
    """One number with everything needed to read it."""

    name: str
    slice: Slice
    value: float | None
    low: float | None
    high: float | None
    n: int
    """Items used."""
    asked: int
    """Items asked."""
    ties: int
    ideal: float | None
    verdict: str | None = None
    beyond_noise: bool | None = None
    """Whether the test finds an effect after the correction; None where nothing is tested."""
    interval: str | None = None
    """How low and high were found."""
    scope: str | None = None
    """What the interval speaks of: `terms like these`, `these terms`, `pairs like these`."""
    least: float | None = None
    """The value if every tie were lost."""
    most: float | None = None
    """The value if every tie were won."""
    equivalent: bool | None = None
    """Whether the 90 % interval lies within `delta` points of an ideal of 50."""
    detectable: float | None = None
    """The difference from 50 that one test, before correction, finds with 80 % power."""
    p: float | None = None
    p_adjusted: float | None = None
    tests: int | None = None
    """How many tests the adjustment counts: the slices shown together."""
    correction: str | None = None
    """How p was adjusted, and over what."""
    terms: int | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    why: str | None = None
    """Why there is no value."""
    published: Published | None = None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Estimate:
        return typed(cls, value)


RESULT_SCHEMA = "result@1"
STATISTICS = 2
"""The edition of intervals, tests and verdicts (docs/decisions/0013-statistics-2.md)."""


@dataclass(frozen=True, repr=False)
class Result(Document):
    """One system measured once on one benchmark: what `result.json` holds."""

    benchmark: str
    measure: str
    variant: Variant
    model: str
    scoring: str
    """`computed` from a model's answers, `replayed` from a file of scores, `constructed` from the
    gold labels."""
    model_card: Mapping[str, Any]
    data: Mapping[str, Any]
    """Digest, source, counts, licence and citation of the items."""
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    notes: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    kind: str = ""
    """The shape of what was counted: it says how the numbers are read, paired and shown."""
    scores_digest: str = ""
    """SHA-256 of `scores.jsonl`; empty in results written before it was recorded."""
    statistics: int = STATISTICS
    """The edition of its intervals, tests and verdicts."""
    schema: str = RESULT_SCHEMA

    @property
    def stopped(self) -> Mapping[str, Any] | None:
        """What a run that asked only until its bars were decided says of that: its bars, how many
        items were `asked` and `of` how many. None for a run of all its items."""
        return self.settings.get("until_decided")

    def estimate(self, name: str, **fixed: str) -> Estimate:
        """The estimate of this name in exactly this slice: `result.estimate("ss",
        domain="gender")`."""
        named = [candidate for candidate in self.estimates if candidate.name == name]
        for candidate in named:
            if dict(candidate.slice) == fixed:
                return candidate
        raise self._no_estimate(name, fixed, named)

    def _no_estimate(
        self, name: str, fixed: Mapping[str, str], named: Sequence[Estimate]
    ) -> UsageError:
        """What was meant, where the name or the slice is not there."""
        if not named:
            names = dict.fromkeys(estimate.name for estimate in self.estimates)
            return UnknownName("estimate", name, names, "result.rows() holds all of them.")
        slices = {_written(each.slice): _written(each.slice) for each in named if each.slice}
        place = f"for {_written(fixed)}" if fixed else "overall"
        nearest = did_you_mean(_written(fixed), slices) or "No slice is like that."
        return UsageError(
            f"{name} is not estimated {place}. {nearest} result.rows() holds all slices."
        )

    def __str__(self) -> str:
        return summary.as_text(self)

    def __repr__(self) -> str:
        return f"<Result {summary.title(self)}: {len(self.estimates)} estimates>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return summary.as_html(self)

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one an estimate: `pandas.DataFrame(result.rows())`."""
        head = {
            "benchmark": self.benchmark,
            "measure": self.measure,
            "variant": self.variant,
            "model": self.model,
        }
        return [head | _flat(estimate) for estimate in self.estimates]

    def metrics(self, *, slices: bool = False) -> dict[str, float]:
        """Numbers under names of their own, for a tracker: `mlflow.log_metrics(result.metrics())`.
        Overall values, with `slices` all; a value that is missing is left out."""
        head = "/".join((self.benchmark, self.measure.partition("@")[0], self.variant))
        return {
            f"{head}/{name}": number
            for estimate in self.estimates
            if slices or not estimate.slice
            for name, number in _numbers(estimate)
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Result:
        return typed(cls, {"statistics": 1, **value})


def _written(slice_: Slice) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in slice_.items())


def _numbers(estimate: Estimate) -> Iterator[tuple[str, float]]:
    """A distance may be sorted where the value itself may not."""
    known = estimate.value is not None and estimate.ideal is not None
    away = abs((estimate.value or 0) - (estimate.ideal or 0)) if known else None
    parts = {
        "": estimate.value,
        "_low": estimate.low,
        "_high": estimate.high,
        "_n": estimate.n,
        "_asked": estimate.asked,
        "_from_ideal": away,
    }
    place = "".join(f"/{key}.{_trackable(value)}" for key, value in estimate.slice.items())
    for end, number in parts.items():
        if number is not None:
            yield f"{estimate.name}{end}{place}", float(number)


def _trackable(name: str) -> str:
    """Trackers take letters, digits and few signs in a name."""
    return re.sub(r"[^\w .-]", "_", name, flags=re.ASCII)


def _flat(estimate: Estimate) -> dict[str, Any]:
    record = asdict(estimate)
    record["published"] = estimate.published.value if estimate.published else None
    slices = record.pop("slice")
    record["skipped"] = sum(estimate.skipped.values())
    return {"name": record.pop("name"), **slices, **record}
