"""Stored results in today's statistics: older ones are counted anew from their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from stereometer import catalog
from stereometer.runs import store
from stereometer.types import STATISTICS, Estimate, Finished, Method, Result, Score, Settings


def with_ties(settings: Settings, scoring: str, method: Method | None = None) -> Settings:
    """Ties that are meant are no want of an answer: those of constructed scores, and those that a
    method has a rule of its own for."""
    meant = scoring == "constructed" or (method is not None and method.own_ties)
    return replace(settings, ties=1.0) if meant else settings


def settings_of(result: Result) -> Settings:
    """What a result was counted with; an older one as it would be today."""
    names = {field.name for field in fields(Settings)}
    stored = {name: value for name, value in result.settings.items() if name in names}
    settings = Settings(**{"variant": result.variant, **stored})
    if "ties" in stored:
        return settings
    return with_ties(settings, result.scoring, catalog.method(result.measure))


def load_counted(path: Path) -> Result:
    """A stored result, counted anew where its statistics are older and its scores are there."""
    return counted_at(path, store.load_result(path))


def counted_at(path: Path, result: Result) -> Result:
    """The same of a result that is loaded already."""
    folder = store.run_folder(path)
    if not (folder / store.SCORES).exists():
        return result
    store.check_scores(folder, result)
    if result.statistics >= STATISTICS:
        return result
    return recounted(result, store.load_scores(folder, result))


def recounted(result: Result, scores: Iterable[Score]) -> Result:
    """An older result with today's intervals, tests and verdicts; its scores are what they were."""
    if result.statistics >= STATISTICS:
        return result
    settings = settings_of(result)
    counted = catalog.shape(result.kind).recounted(scores, settings)
    if counted is None:
        return result
    today = {_place(estimate): estimate for estimate in counted}
    estimates = tuple(_today(before, today.get(_place(before))) for before in result.estimates)
    added: Mapping[str, Any] = {"delta": settings.delta, "ties": settings.ties}
    return replace(
        result,
        estimates=estimates,
        settings={**result.settings, **added},
        statistics=STATISTICS,
    )


def _place(estimate: Estimate) -> tuple[str, frozenset[tuple[str, str]]]:
    return estimate.name, frozenset(estimate.slice.items())


def _today(before: Estimate, today: Estimate | None) -> Estimate:
    """What a method adds, or withholds for a reason of its own, stays as it was."""
    if today is None or before.value is None:
        return before
    return replace(today, published=before.published)


def finished_in(paths: Sequence[str | Path]) -> list[Finished]:
    """Stored runs, or those in folders of such, each once; older ones are counted anew."""
    places = (
        (place.parent if place.name == store.RESULT else place).resolve()
        for path in store.folders_of(paths)
        for place in store.runs_in(path)
    )
    return [
        Finished(load_counted(place), place if place.is_dir() else place.parent)
        for place in dict.fromkeys(places)
    ]
