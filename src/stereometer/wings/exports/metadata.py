"""What is said of every result and estimate wherever a format has room for text."""

from dataclasses import dataclass
from datetime import UTC, datetime

from stereometer.core import catalog
from stereometer.core.gate.bars import distances
from stereometer.core.runs.store import RESULT
from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.types import Estimate, Result, digest_of

BESIDE = (
    *("verdict", "interval", "scope", "n", "asked", "ties", "ideal", "terms"),
    *("test", "p_adjusted", "tests", "correction"),
)
"""What an estimate says of its number."""


def made_at(run: Run) -> datetime:
    """When the result was stored, to the second."""
    file = run.folder / RESULT
    seconds = file.stat().st_mtime if file.exists() else 0
    return datetime.fromtimestamp(int(seconds), UTC)


def identity(run: Run) -> str:
    """Alike for the same result: exporting twice writes one file."""
    return digest_of([run.folder.name, run.result.as_json()])


def sample(result: Result) -> str:
    """How much of the set was asked."""
    of, stopped = result.data["of"], result.stopped
    if stopped:
        return f"{stopped['asked']:,} of {of:,} items asked, until the bars were decided"
    limit = result.settings["limit"]
    return f"limited to {limit:,} of {of:,} items" if limit else f"all {of:,} items"


def measured(result: Result) -> str:
    """How, and on what."""
    digest = str(result.data["digest"])[:12]
    return f"{result.measure}, variant {result.variant}, {sample(result)}, data {digest}"


def tags(result: Result) -> dict[str, str]:
    """What makes two numbers comparable, all as text."""
    stopped = result.stopped  # how much was asked, where that depended on the scores
    leading = _overall(result, catalog.shape(result.kind).leading(result).name)
    return {
        "benchmark": result.benchmark,
        "data_digest": str(result.data["digest"]),
        "items": str(result.data["items"]),
        "of": str(result.data["of"]),
        "limit": str(result.settings.get("limit") or "none"),
        "measure": result.measure,
        "variant": result.variant,
        "model": result.model,
        "model_digest": str(result.model_card["digest"]),
        "scoring": result.scoring,
        "statistics": str(result.statistics),
        "stereometer": result.versions.get("stereometer", "unknown"),
        **({"until_decided": f"{stopped['asked']} of {stopped['of']} items"} if stopped else {}),
        **({"verdict": f"{leading.name}: {numbers.verdict(leading)}"} if leading else {}),
    }


def _overall(result: Result, name: str) -> Estimate | None:
    return next((row for row in result.estimates if row.name == name and not row.slice), None)


def headlines(result: Result) -> list[Estimate]:
    """The overall values of the metrics that stand in a first table."""
    shape = catalog.shape(result.kind)
    names = [metric.name for metric in shape.metrics_of(result) if metric.headline]
    overall = {row.name: row for row in result.estimates if not row.slice}
    return [overall[name] for name in names if name in overall]


def details(estimate: Estimate) -> dict[str, str]:
    """What is to be read beside a number, all as text."""
    stated = {name: getattr(estimate, name) for name in BESIDE}
    texts = {key: str(value) for key, value in stated.items() if value is not None}
    return texts | {f"slice.{key}": value for key, value in estimate.slice.items()}


def placed(estimate: Estimate) -> str:
    """What a name ends with in formats that have one name a number."""
    return "".join(f" [{key}={value}]" for key, value in estimate.slice.items())


def line(estimate: Estimate) -> str:
    """A number in one line: value, interval, items used and verdict."""
    spoken = f"{estimate.name} {numbers.with_interval(estimate)}, {numbers.used(estimate)} items"
    return f"{spoken}: {numbers.verdict(estimate)}"


TOPS = (100.0, 1.0)
"""Ideals that are the upper end of their scale: percent, shares and correlations."""


@dataclass(frozen=True)
class Ranked:
    """A number with a best end."""

    name: str
    value: float
    low: float | None
    high: float | None
    lower_is_better: bool


def ranked(estimate: Estimate) -> Ranked | None:
    """The value itself where its ideal is the top; otherwise how far it is from its ideal; None
    where there is no value or no ideal."""
    value, ideal = estimate.value, estimate.ideal
    if value is None or ideal is None:
        return None
    if ideal in TOPS:
        return Ranked(estimate.name, value, estimate.low, estimate.high, False)
    low, high = estimate.low, estimate.high
    if low is not None and high is not None:
        low, high = distances(low, high, ideal)
    return Ranked(f"|{estimate.name} - {ideal:g}|", abs(value - ideal), low, high, True)


def headline(result: Result) -> Estimate | None:
    """The overall value that stands for a result where there is room for one number."""
    shape = catalog.shape(result.kind)
    return _overall(result, shape.summary_metric or shape.leading(result).name)
