"""How items are asked: a Method of one paper, and the Measure it becomes when bound to a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from stereometer.types.answers import Answer
from stereometer.types.backend import Backend
from stereometer.types.items import Score, Variant
from stereometer.types.requests import Request
from stereometer.types.results import Estimate
from stereometer.types.settings import Settings

Requests: TypeAlias = Mapping[str, Sequence[Request]]
"""What is asked for an item, by candidate."""
Exchanged: TypeAlias = Mapping[str, Sequence[tuple[Request, Answer]]]
"""What was asked for an item, each request with its answer."""
Notes: TypeAlias = tuple[str, ...]
Needs: TypeAlias = Mapping[str, Sequence[frozenset[str]]]
"""By part of a benchmark, alternatives of what a model must be able to do: the first that it can is
taken."""


@dataclass(frozen=True)
class NoOptions:
    """A method that has no options of its own."""


class Measure(Protocol):
    """A method in one variant, bound to a model."""

    @property
    def name(self) -> str:
        """As results name it: `pair-likelihood@1`."""
        ...

    @property
    def recorded(self) -> Mapping[str, Any]:
        """What else decides the answers: prompts, temperature. It goes into the plan and the
        result."""
        ...

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        """What is asked about, of the benchmark's items, and what is said of the rest."""
        ...

    def plan(self, item: Any) -> Requests:
        """The requests of an item; raises Skip with a reason."""
        ...

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        """What the answers give the item; raises Skip with a reason."""
        ...

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]: ...


class Method(Protocol):
    """One method of one paper: what the catalog names."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Another one where numbers change."""
        ...

    @property
    def source(self) -> str:
        """The paper and the tables it belongs to."""
        ...

    @property
    def own_ties(self) -> bool:
        """Whether it has a rule of its own for ties, so that many of them withhold no score."""
        ...

    @property
    def in_words(self) -> bool:
        """Whether it asks in words: a method of `ask`."""
        ...

    @property
    def setting(self) -> str:
        """Under which setting of `ask`; empty where it has none."""
        ...

    @property
    def reads(self) -> str:
        """The shape of the items it works on."""
        ...

    @property
    def kind(self) -> str:
        """The shape of its results: what it reads, unless it has metrics of its own."""
        ...

    @property
    def variants(self) -> tuple[Variant, ...]: ...

    @property
    def needs(self) -> Needs: ...

    @property
    def options(self) -> type[Any]:
        """A dataclass: what a user can set."""
        ...

    def bind(self, backend: Backend, variant: Variant, options: Any) -> Measure:
        """Raises ModelError for a model that cannot be asked this."""
        ...


class Completed:
    """A method of another package that says less of itself, with what holds where it is silent."""

    version: str = "1"
    source: str = ""
    own_ties: bool = False
    in_words: bool = False
    setting: str = ""

    def __init__(self, method: Any) -> None:
        said = (name for name in dir(method) if not name.startswith("__"))
        vars(self).update({name: getattr(method, name) for name in said})


def completed(method: Any) -> Method:
    """The method, able to answer for all of the protocol."""
    silent = any(not hasattr(method, name) for name in Completed.__annotations__)
    return cast(Method, Completed(method) if silent else method)
