"""How items are asked and counted: settings, a Method of one paper, the Measure it becomes when
bound to a model, and the Job of one result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types.backend import Backend
from stereometer.core.types.items import VARIANTS, Item, Score, Variant
from stereometer.core.types.names import AFTER_FIRST, WITHIN_WORD, MeasureName
from stereometer.core.types.requests import Answer, Request, WholeText
from stereometer.core.types.results import Estimate, Result

LEAST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000
WHOLE = ("limit", "seed", "resamples")


def check_number(name: str, value: object) -> None:
    """Raises for what is no number, such as one in quotes."""
    whole = name in WHOLE
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        raise UsageError(
            f"{name} is {value!r}. It takes a {'whole ' if whole else ''}number. Write it without "
            f"quotes, such as {name}={'100' if whole else '0.5'}."
        )


def check_limit(limit: object) -> None:
    """Raises for a number of items that nothing could be measured on; None is no limit."""
    if limit is not None:
        check_number("limit", limit)
        if int(str(limit)) < 1:
            raise UsageError(
                f"The limit is {limit}. At least one item is needed. Leave it out for all of them."
            )


@dataclass(frozen=True)
class Settings:
    """What the numbers depend on besides scores."""

    variant: Variant = "sound"
    seed: int = 0
    resamples: int = 10_000
    level: float = 0.95
    coverage: float = 0.90
    """Below this share of answered items a slice has no score, only a reason."""
    delta: float = 5.0
    """How many points from 50 are close enough to be called equivalent."""
    ties: float = 0.10
    """Above this share of ties a slice has no score; 1 where ties are meant."""

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UsageError(
                f"There is no variant '{self.variant}'. The variants are {', '.join(VARIANTS)}. "
                "See docs/methods.md for what each computes."
            )
        for name in ("seed", "resamples", "level", "coverage", "delta", "ties"):
            check_number(name, getattr(self, name))
        if self.resamples < LEAST_RESAMPLES:
            raise UsageError(
                f"{self.resamples} resamples are too few for a 95 % interval. "
                f"At least {LEAST_RESAMPLES} are needed. The default is 10000."
            )
        if self.resamples > MOST_RESAMPLES:
            raise UsageError(
                f"{self.resamples} resamples are too many to hold in memory. "
                f"More than {MOST_RESAMPLES} change no digit that is shown. The default is 10000."
            )
        if self.seed < 0:
            raise UsageError(
                f"The seed is {self.seed}. A seed is a number from 0 up. The default is 0."
            )
        if not 0 <= self.coverage <= 1:
            raise UsageError(
                f"The coverage floor is {self.coverage}. It is a share of items. "
                "Choose a number from 0 to 1."
            )
        if not 0 < self.delta < 50:
            raise UsageError(
                f"Delta is {self.delta:g} points. It is a distance from 50. "
                "Choose a number between 0 and 50; the default is 5."
            )


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

    @property
    def recorded(self) -> Mapping[str, Any]:
        """What else decides the answers: prompts, temperature. It goes into the plan and the
        result."""

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        """What is asked about, of the benchmark's items, and what is said of the rest."""

    def plan(self, item: Any) -> Requests:
        """The requests of an item; raises Skip with a reason."""

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        """What the answers give the item; raises Skip with a reason."""

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]: ...


@dataclass(frozen=True)
class Method(ABC):
    """One method of one paper, which the catalog names; others inherit it."""

    name: str
    reads: str
    """The shape of the items it works on."""
    needs: Needs = field(default_factory=dict)
    version: str = "1"
    """Another one where numbers change."""
    variants: tuple[Variant, ...] = ("paper", "sound")
    options: type[Any] = NoOptions
    """A dataclass: what a user can set."""
    own_ties: bool = False
    """Whether it has a rule of its own for ties, so that many of them withhold no score."""
    in_words: bool = False
    """Whether it asks in words: a method of `ask`."""
    setting: str = ""
    """Under which setting of `ask`; empty where it has none."""
    manner: str = ""
    """Under which option of `ask` it stands in for another method; empty for the usual one."""
    source: str = field(default="", kw_only=True)
    """The paper and the tables it belongs to."""

    @abstractmethod
    def bind(self, backend: Backend, variant: Variant, options: Any) -> Measure:
        """Raises ModelError for a model that cannot be asked this."""

    @property
    def kind(self) -> str:
        """The shape of its results: what it reads, unless it has metrics of its own."""
        return self.reads

    def label(
        self,
        backend: Backend | None = None,
        asks: Iterable[str] = (),
        within_word: bool = False,
        options: tuple[str, ...] = (),
    ) -> str:
        """What `bind` calls a measure in results: with `after-first-token` where this model gives
        no number for a text's first token and the requests that it `asks` need one."""
        options = (WITHIN_WORD, *options) if within_word else options
        if backend and not backend.abilities.first_token and WholeText.kind in asks:
            options = (AFTER_FIRST, *options)
        return str(MeasureName(self.name, self.version, options))

    def way(self, backend: Backend, part: str) -> int | None:
        """The number of the first alternative that the model can answer for a part of the
        benchmark."""
        able = backend.abilities.all
        return next((at for at, needs in enumerate(self.needs[part]) if needs <= able), None)

    def needed_way(self, backend: Backend, part: str) -> int:
        """As `way`; raises where the model cannot be asked this."""
        way = self.way(backend, part)
        if way is not None:
            return way
        ways = " or ".join(" and ".join(sorted(needs)) for needs in self.needs[part])
        where = f" on the {part} task" if len(self.needs) > 1 else ""
        raise ModelError(
            f"{backend.card.name} cannot answer {self.name}{where}. It needs {ways}; "
            f"the model answers {backend.abilities}. Choose another measure."
        )


@dataclass(frozen=True)
class Asking:
    """Items that a model is asked about."""

    items: Sequence[Item]
    measure: Measure
    backend: Backend


class Stopping(Protocol):
    """Asks items in an order of its own, until enough is known."""

    def blocks(self) -> Iterator[Sequence[Item]]:
        """The items, a few at a time; ends early where the scores so far are enough."""

    def add(self, score: Score) -> None:
        """Called with every score before the next block is drawn."""


@dataclass(frozen=True)
class Job:
    """One result to be: run, ask, replay, ensemble, align and intersect build these and nothing
    else."""

    plan: Mapping[str, Any]
    """What a run folder is bound to; also what names it."""
    kind: str
    """The shape of what is counted."""
    source: Asking | Callable[[], Iterable[Score]]
    """What gives the scores: a model that is asked, or something that needs no asking."""
    summarize: Callable[[Iterable[Score]], list[Estimate]]
    describe: Callable[[Sequence[Estimate]], Result]
    items: int = 0
    folder: str = ""
    """The name of its folder among those of other runs, where the plan's own names do not do."""
    hidden: Mapping[str, int] = field(default_factory=dict)
    """Items whose texts are left out of what is stored, and the number of their wording."""
    stopping: Stopping | None = None
    """What ends the asking before all items are asked, where something does."""
    series: Mapping[str, Any] = field(default_factory=dict)
    """The pattern that found its model and the step, for the result's settings."""

    @property
    def title(self) -> str:
        return f"{self.plan['model']} on {self.plan['benchmark']}, {self.plan['measure']}"
