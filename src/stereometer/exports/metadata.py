"""What is said of every result and estimate wherever a format has room for text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from stereometer import catalog
from stereometer.runs.store import RESULT
from stereometer.show import numbers
from stereometer.types import Estimate, Finished, Result, digest_of


def made_at(finished: Finished) -> datetime:
    """When the result was stored, to the second."""
    file = finished.folder / RESULT
    seconds = file.stat().st_mtime if file.exists() else 0
    return datetime.fromtimestamp(int(seconds), UTC)


def identity(finished: Finished) -> str:
    """The same for the same result: exporting twice writes one file."""
    return digest_of([finished.folder.name, finished.result.as_json()])


def tags(result: Result) -> dict[str, str]:
    """What makes two numbers comparable, all as text."""
    return {
        "benchmark": result.benchmark,
        "data_digest": str(result.data["digest"]),
        "items": str(result.data.get("items", "")),
        "limit": str(result.settings.get("limit") or "none"),
        "measure": result.measure,
        "variant": result.variant,
        "model": result.model,
        "model_digest": str(result.model_card["digest"]),
        "scoring": result.scoring,
        "statistics": str(result.statistics),
        "stereometer": result.versions.get("stereometer", "unknown"),
        **_stopped(result),
        **_verdict(result),
    }


def _stopped(result: Result) -> dict[str, str]:
    """How much was asked, where that hung on the scores."""
    stopped = result.stopped
    return {"until_decided": f"{stopped['asked']} of {stopped['of']} items"} if stopped else {}


def _verdict(result: Result) -> dict[str, str]:
    """Of the metric that leads the result, overall."""
    name = catalog.shape(result.kind).leading(result).name
    for row in result.estimates:
        if row.name == name and not row.slice:
            return {"verdict": f"{name}: {numbers.verdict(row)}"}
    return {}


def shown(result: Result) -> Iterator[Estimate]:
    """The estimates of the first tables: not those of every single term."""
    shape = catalog.shape(result.kind)
    return (row for row in result.estimates if shape.headline_slice(row.slice))


def headlines(result: Result) -> list[Estimate]:
    """The overall values of the metrics that stand in a first table."""
    shape = catalog.shape(result.kind)
    names = [metric.name for metric in shape.metrics_of(result) if metric.headline]
    overall = {row.name: row for row in result.estimates if not row.slice}
    return [overall[name] for name in names if name in overall]


def details(estimate: Estimate) -> dict[str, str]:
    """What is to be read beside a number, all as text."""
    stated = {
        "verdict": estimate.verdict,
        "interval": estimate.interval,
        "scope": estimate.scope,
        "n": estimate.n,
        "asked": estimate.asked,
        "ties": estimate.ties,
        "ideal": estimate.ideal,
        "terms": estimate.terms,
        "p_adjusted": estimate.p_adjusted,
        "tests": estimate.tests,
        "correction": estimate.correction,
    }
    texts = {key: str(value) for key, value in stated.items() if value is not None}
    return texts | {f"slice.{key}": value for key, value in estimate.slice.items()}


def line(estimate: Estimate) -> str:
    """A number in one line: value, interval, items used and verdict."""
    spoken = f"{estimate.name} {numbers.with_interval(estimate)}, {numbers.used(estimate)} items"
    return f"{spoken}: {numbers.verdict(estimate)}"
