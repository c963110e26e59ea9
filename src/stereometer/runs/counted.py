"""How stored results were counted, and runs whose scores are those that were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from stereometer.runs import store
from stereometer.types import Finished, Method, Result, Settings


def with_ties(settings: Settings, scoring: str, method: Method | None = None) -> Settings:
    """Intended ties do not count as missing answers: those of constructed scores, and those for
    which a method has a rule of its own."""
    meant = scoring == "constructed" or (method is not None and method.own_ties)
    return replace(settings, ties=1.0) if meant else settings


def settings_of(result: Result) -> Settings:
    """What a result was counted with."""
    names = {field.name for field in fields(Settings)}
    stored = {name: value for name, value in result.settings.items() if name in names}
    return Settings(**{"variant": result.variant, **stored})


def load_counted(path: Path) -> Result:
    """A stored result, whose scores, where they are there, are those that were counted."""
    result, folder = store.load_result(path), store.run_folder(path)
    if (folder / store.SCORES).exists():
        store.check_scores(folder, result)
    return result


def finished_in(paths: Sequence[store.Stored]) -> list[Finished]:
    """Stored runs, or those in folders of them, each once."""
    places = (
        (place.parent if place.name == store.RESULT else place).resolve()
        for path in store.folders_of(paths)
        for place in store.runs_in(path)
    )
    return [
        Finished(load_counted(place), place if place.is_dir() else place.parent)
        for place in dict.fromkeys(places)
    ]
