"""What the verbs take as a model, and the options of one that is loaded or asked for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypedDict

from stereometer.backends.server.budget import budget_of
from stereometer.errors import UsageError, did_you_mean
from stereometer.runs.engines.pool.choice import Engines
from stereometer.runs.open import check_names, model_spec, open_model
from stereometer.types import Backend, System


class Pipeline(Protocol):
    """A pipeline of transformers, as far as it matters here."""

    @property
    def model(self) -> Any: ...

    @property
    def tokenizer(self) -> Any: ...


Model: TypeAlias = "str | Path | tuple[Any, Any] | Pipeline"
"""A name, a path, a pair of model and tokenizer in memory, or a pipeline."""


class ModelOptions(TypedDict, total=False):
    """How a model is loaded or a server is asked: the options of the command line, by name."""

    device: str
    dtype: str
    threads: int | None
    allow_pickle: bool
    trust_remote_code: bool
    head: str | Path
    negative_label: str | None
    budget: str | None
    price: str | None
    in_flight: int
    timeout: float
    option: Mapping[str, Any]


@contextmanager
def opened(
    model: Model, seed: int, options: Mapping[str, Any], engines: Engines | None = None
) -> Iterator[Backend | System]:
    """The model for as long as it is asked; one in memory is left as it was."""
    check_known(options)
    if isinstance(model, str | Path):
        check_names([str(model)], ())
        yield open_for(engines or Engines(), str(model), seed, options)
        return
    check_budget(options)
    from stereometer.backends.local.in_memory import held

    with held(model, options) as backend:
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


def check_budget(options: Mapping[str, Any]) -> None:
    """Raises for a budget that is misspelt, also for a model that costs nothing."""
    budget_of(options.get("budget"), options.get("price"))


def check_known(
    options: Mapping[str, Any],
    known: Mapping[str, Any] = ModelOptions.__annotations__,
    verb: Callable[..., Any] | None = None,
) -> None:
    """Raises for a keyword that no option has; the parameters of the verb itself may be meant."""
    own = signature(verb).parameters if verb else ()
    for name in options:
        if name not in known:
            nearest = did_you_mean(name, {each: each for each in (*own, *known)})
            raise UsageError(
                f"There is no parameter '{name}'. {nearest or 'It would change nothing.'} "
                f"help(stereometer.{verb.__name__ if verb else 'run'}) explains all of them."
            )
