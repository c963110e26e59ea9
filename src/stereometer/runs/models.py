"""Models as verbs take them: by name, by pattern, or in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stereometer.backends.server.budget import budget_of
from stereometer.errors import UsageError
from stereometer.options import Model, Workers
from stereometer.runs.engines.pool.choice import Engines
from stereometer.runs.open import check_names, model_spec, open_model
from stereometer.runs.series import Member, members, names_for
from stereometer.types import Backend, System


@contextmanager
def opened(
    model: Model, seed: int, options: Mapping[str, Any], engines: Engines | None = None
) -> Iterator[Backend | System]:
    """The model for as long as it is asked; one in memory is left as it was."""
    if isinstance(model, str | Path):
        check_names([str(model)], ())
        yield open_for(engines or Engines(), str(model), seed, options)
        return
    check_budget(options)
    from stereometer.backends.local.in_memory import held

    with held(model, _of_the_model(options)) as backend:
        yield backend


def open_for(
    engines: Engines, name: str, seed: int, options: Mapping[str, Any]
) -> Backend | System:
    """The model, which workers, if there are any, will open too."""
    check_budget(options)
    loading = engines.loading(options)
    model = open_model(name, seed, loading, when_asked=True)
    if engines.hands.elsewhere and not isinstance(model, System):
        engines.remember(model, model_spec(name, seed, loading))
    return model


def _of_the_model(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says who answers, and whether."""
    others = {*Workers.__annotations__, "dry_run"}
    return {name: value for name, value in options.items() if name not in others}


def check_budget(options: Mapping[str, Any]) -> None:
    """Raises for a budget that is misspelt, also for a model that costs nothing."""
    budget_of(options.get("budget"), options.get("price"))


def named(
    model: Model | list[Model], name: str | Sequence[str] | None = None
) -> list[tuple[Model, Member, str | None]]:
    """Each model with its place in a series, and what it is called where that is not its own name;
    a pattern stands for several."""
    given = model if isinstance(model, list) else [model]
    models: list[tuple[Model, Member]] = []
    for each in given:
        if isinstance(each, str | Path):
            models += [(member.spec, member) for member in members(str(each))]
        else:
            models.append((each, Member("")))
    names = [name] if isinstance(name, str) else list(name or ())
    if names and len(names) != len(models):
        raise UsageError(
            f"--name is given {len(names)} times for {len(models)} models. It is not clear which "
            "model is meant. Give each --model its --name, or none."
        )
    own = names or names_for([member.spec or "in memory" for _, member in models])
    return [(each, member, called) for (each, member), called in zip(models, own, strict=True)]
