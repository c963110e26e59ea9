"""Estimates, and the Result that `result.json` holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from stereometer.core.errors import ModelError, UnknownName, UsageError, did_you_mean
from stereometer.core.types.document import UNSTORED, Document, typed
from stereometer.core.types.items import Slice, Variant
from stereometer.core.types.names import MeasureName
from stereometer.core.types.requests import FILTERED, NO_ROOM
from stereometer.core.types.shown import RESULTS, Tabular, WithFigures


@dataclass(frozen=True)
class Published:
    """A value that somebody printed for the same data, method and variant."""

    value: float
    source: str


MOST_MISSING = 0.02
"""Share of unanswered items up to which an interval speaks of the answered ones alone."""


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
    """The difference from 50 that its test, corrected over its family, finds with 80 % power."""
    p: float | None = None
    test: str | None = None
    """How p was found: there is none without it."""
    free: float | None = None
    """Degrees of freedom that its standard error is known with; None where it is taken as known."""
    p_adjusted: float | None = None
    tests: int | None = None
    """How many tests the adjustment counts: the slices shown together."""
    correction: str | None = None
    """How p was adjusted, and over what."""
    terms: int | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    """Of those skipped, the ones that were asked and gave no answer that counts."""
    missing_low: float | None = None
    """The low end of the interval if all of these, and all ties, were lost."""
    missing_high: float | None = None
    """The high end of the interval if all of these, and all ties, were won."""
    why: str | None = None
    """Why there is no value."""
    published: Published | None = None

    def __post_init__(self) -> None:
        if self.p is not None and not self.test:
            raise ValueError(f"{self.name} has a p and does not say by which test")

    @property
    def is_doubtful(self) -> bool:
        """Whether so many answers are missing that what they would have said matters."""
        return self.missing > MOST_MISSING * (self.n + self.missing)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The interval that verdicts and bars go by, whatever too many missing answers hide."""
        known = self.is_doubtful and self.missing_low is not None
        return (self.missing_low, self.missing_high) if known else (self.low, self.high)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Estimate:
        return typed(cls, value)


RESULT_SCHEMA = "stereometer-result@1"
STATISTICS = 1
"""The edition of intervals, tests and verdicts
(docs/decisions/0030-the-overall-row-is-its-own-family.md)."""


@dataclass(frozen=True, repr=False)
class Result(Tabular, WithFigures, Document):
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
    """SHA-256 of `scores.jsonl`; empty until they are stored."""
    statistics: int = STATISTICS
    """The edition of its intervals, tests and verdicts."""
    schema: str = RESULT_SCHEMA
    folder: Path | None = field(default=None, compare=False, metadata=UNSTORED)
    """Where it is stored with its scores; None where it is not."""

    def view(self, slices: bool = False) -> Any:
        return import_module(RESULTS).results([self], slices)

    @property
    def folders(self) -> tuple[Result | Path]:
        return (self.folder or self,)

    @property
    def stopped(self) -> Mapping[str, Any] | None:
        """What a run that asked only until its bars were decided says of that: its bars, how many
        items were `asked` and `of` how many. None for a run of all its items."""
        return self.settings.get("until_decided")

    @property
    def skipped(self) -> Mapping[str, int]:
        """Why items or answers of the whole say nothing, with counts."""
        overall = (estimate for estimate in self.estimates if not estimate.slice)
        return next((estimate.skipped for estimate in overall if estimate.skipped), {})

    @property
    def measured_by(self) -> MeasureName:
        """The measure's name, taken apart."""
        return MeasureName.parse(self.measure)

    @property
    def asked_as(self) -> str:
        """`conversation`, through a chat template, or `raw text`: numbers of the two are never set
        side by side. Empty where nothing was asked in words, or it is not known how."""
        chat = self.settings.get("chat")
        return "" if chat is None else "conversation" if chat else "raw text"

    def estimate(self, name: str, **fixed: str) -> Estimate:
        """The estimate of this name in exactly this slice: `result.estimate("ss",
        domain="gender")`."""
        meant = full_name(name, [candidate.name for candidate in self.estimates])
        named = [candidate for candidate in self.estimates if candidate.name == meant]
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

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one per estimate."""
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
        head = "/".join((self.benchmark, self.measured_by.name, self.variant))
        return {
            f"{head}/{name}": number
            for estimate in self.estimates
            if slices or not estimate.slice
            for name, number in _numbers(estimate)
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Result:
        return typed(cls, {**value, "folder": None})


STORED = "The results are stored anyway."
ADVICE = {
    NO_ROOM: "No room to answer ({} times): add --room 1024, or more, or --no-thinking.",
    FILTERED: "Held back by a filter of the service, not refused by the model ({} times).",
}
"""What is said of answers that are missing for these reasons."""


HABIT = (
    "Most choices follow the position: --graded reads the probabilities of the options, where the "
    "model gives them."
)


def advice(skipped: Mapping[str, int]) -> str:
    return " ".join(words.format(skipped[why]) for why, words in ADVICE.items() if skipped.get(why))


def _told(result: Result) -> Iterator[str]:
    """What a user can do about answers that say nothing."""
    if told := advice(result.skipped) if result.skipped else "":
        yield told
    overall = {row.name: row.value for row in result.estimates if not row.slice}
    agreed = overall.get("order_agreement")
    if agreed is not None and agreed < 50 and "position_effect" not in overall:
        yield HABIT


class Outcomes(Protocol):
    """Bars held against results."""

    def check(self, remark: str = "") -> None:
        """Raises unless all are met."""


def full_name(name: str, known: Collection[str]) -> str:
    """A metric by its name, or as tables head it, by the end of it: `preference` for
    `pair_preference`."""
    ends = {each for each in known if each.endswith(f"_{name}")}
    return ends.pop() if name not in known and len(ends) == 1 else name


class Results(Tabular, WithFigures, list[Result]):
    """What `run` and `ask` return: a list that shows those measured alike side by side."""

    __repr__ = list.__repr__
    gate: Outcomes | None = None
    """How the results stand to the bars that were asked for."""

    @property
    def remarks(self) -> list[str]:
        """What a command says of them on standard error."""
        lines = []
        for result in self:
            measure = f" ({result.measure})" if len(self) > 1 else ""
            stopped = [result.notes[0].partition(". ")[0]] if result.stopped else []
            told = [f"{each}{measure}" for each in _told(result)]
            lines += [*stopped, *told, f"Stored in {result.folder}{measure}"]
        return lines

    def check(self) -> None:
        """Raises where bars are missed or undecided, and where nothing was scored."""
        if self.gate is not None:
            self.gate.check(STORED)
        overall = [[row for row in each.estimates if not row.slice] for each in self]
        if overall and all(rows and not any(row.n for row in rows) for rows in overall):
            first = self[0]
            why = ", ".join(f"{reason}: {n}" for reason, n in first.skipped.items())
            raise ModelError(
                f"{first.model} gave nothing to score on {first.benchmark} ({why or 'no items'}). "
                f"{advice(first.skipped) or 'Look at the items and at its answers.'} {STORED}"
            )

    def as_json(self) -> dict[str, Any]:
        return {"schema": "runs@1", "results": [result.as_json() for result in self]}

    def view(self, slices: bool = False) -> Any:
        return import_module(RESULTS).results(self, slices)

    @property
    def folders(self) -> list[Result | Path]:
        return [folder for result in self for folder in result.folders]

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one per estimate of each result."""
        return [row for result in self for row in result.rows()]


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
    # Trackers take letters, digits and few signs in a name.
    values = {k: re.sub(r"[^\w .-]", "_", v, flags=re.ASCII) for k, v in estimate.slice.items()}
    place = "".join(f"/{key}.{value}" for key, value in values.items())
    for end, number in parts.items():
        if number is not None:
            yield f"{estimate.name}{end}{place}", float(number)


def _flat(estimate: Estimate) -> dict[str, Any]:
    record = asdict(estimate)
    record["published"] = estimate.published.value if estimate.published else None
    slices = record.pop("slice")
    record["skipped"] = sum(estimate.skipped.values())
    return {"name": record.pop("name"), **slices, **record}
