"""How results are counted."""

from __future__ import annotations

from dataclasses import fields, replace

from stereometer.types import Method, Result, Settings


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
