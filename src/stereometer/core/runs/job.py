"""Jobs on the items of a benchmark: what is recorded of them, and what their results say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.benchmarks.published import Conditions, with_published
from stereometer.core.runs import store
from stereometer.core.shapes.points import copied, wording
from stereometer.core.shapes.shape import Shape
from stereometer.core.types import (
    Asking,
    Estimate,
    Item,
    Job,
    Method,
    ModelCard,
    Notes,
    Result,
    Score,
    Settings,
    digest_of,
)
from stereometer.core.types.method import check_limit
from stereometer.core.types.names import MeasureName


def limited(items: Sequence[Item], limit: int | None) -> Sequence[Item]:
    """At most `limit` items, drawn by a digest of their ids: a smaller draw is part of a larger
    one. The items themselves where nothing is left out: the whole set is no sample of itself."""
    check_limit(limit)
    if limit is None or limit >= len(items):
        return items
    drawn = {item.id for item in limited_order(items)[:limit]}
    return [item for item in items if item.id in drawn]


def limited_order(items: Sequence[Item]) -> list[Item]:
    """The order in which a limit draws items."""
    return sorted(items, key=lambda item: digest_of(item.id))


@dataclass(frozen=True)
class Measurement:
    """One model on the items of one benchmark."""

    benchmark: Benchmark
    items: Sequence[Item]
    measure: str
    card: ModelCard
    scoring: str
    settings: Settings
    limit: int | None = None
    notes: Notes = ()
    recorded: Mapping[str, Any] = field(default_factory=dict)
    """What else decides the answers: prompts, temperature, repeats."""
    claimed: bool = False
    """Whether the items are only said to be the benchmark's."""
    of: int | None = None
    """How many items there are, where a limit left some out."""

    def job(
        self,
        shape: Shape,
        source: Asking | Callable[[], Iterable[Score]],
        summarize: Callable[[Iterable[Score], Settings], list[Estimate]] | None = None,
    ) -> Job:
        """Scores come from asking a model, or exist already and are called for; `summarize` stands
        in for the shape's own."""
        count = summarize or shape.summarize
        return Job(
            plan=self.plan,
            kind=shape.name,
            source=source,
            summarize=lambda scores: count(scores, self.settings),
            describe=partial(self.result, shape),
            items=len(self.items),
            folder=self.folder,
            hidden=self.hidden,
        )

    @cached_property
    def hidden(self) -> Mapping[str, int]:
        hidden = [item for item in self.items if item.hidden]
        numbers = {words: at for at, words in enumerate(dict.fromkeys(map(wording, hidden)), 1)}
        return {item.id: numbers[wording(item)] for item in hidden}

    @property
    def plan(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark.name,
            "data": self.benchmark.digest,
            "measure": self.measure,
            "model": self.card.name,
            "identity": self.card.identity,
            "scoring": self.scoring,
            "limit": self.limit,
            **asdict(self.settings),
            **self.recorded,
        }

    @property
    def folder(self) -> str:
        """The name of its folder among several; a user's own files are told apart by name and
        content."""
        benchmark = self.benchmark
        name = benchmark.name
        if benchmark.is_own:
            file = Path(benchmark.source)
            name = f"{file.stem if file.suffix else name}-{benchmark.digest[:6]}"
        paper = ["paper"] if self.settings.variant == "paper" else []
        limit = [] if self.limit is None else [f"limit{self.limit}"]
        chat = ["chat"] if self.recorded.get("chat") else []
        chat += ["no-thinking"] if self.recorded.get("thinking") is False else []
        measure = MeasureName.parse(self.measure).unversioned
        return store.folder_name(name, self.card.name, measure, *paper, *chat, *limit)

    def result(self, shape: Shape, estimates: Sequence[Estimate]) -> Result:
        card, benchmark = self.benchmark.card, self.benchmark
        drawn = f"Limited to {len(self.items)} items, drawn at random."
        notes = (
            *((card.notice,) if card.notice else ()),
            *self.card.notes,
            *benchmark.notes,
            *self.notes,
            *copied(self.items, shape.unit_by),
            *((drawn,) if self.limit is not None else ()),
        )
        settings = asdict(self.settings)
        del settings["variant"]
        return Result(
            benchmark=benchmark.name,
            measure=self.measure,
            variant=self.settings.variant,
            model=self.card.name,
            scoring=self.scoring,
            model_card=asdict(self.card) | {"notes": list(self.card.notes)},
            data=self.data,
            settings=settings | {"limit": self.limit, **self.recorded},
            versions=versions(),
            notes=notes,
            estimates=tuple(self._published(estimates)),
            kind=shape.name,
        )

    @property
    def data(self) -> dict[str, Any]:
        card, benchmark = self.benchmark.card, self.benchmark
        own = f" ({benchmark.source})" if benchmark.is_own else ""
        drawn = "" if self.limit is None else f", {len(self.items)} items drawn"
        return {
            "title": f"{card.title}{own}{drawn}",
            "notice": card.notice,
            "publishable": card.publishable,
            "digest": benchmark.digest,
            "as_released": benchmark.as_released,
            "items": len(self.items),
            "of": self.of or len(self.items),
            "hidden": len(self.hidden),
            "source": benchmark.source,
            "licence": card.licence,
            "language": card.language,
            **({"country": card.country, "origin": card.origin} if card.origin else {}),
            "citation": card.citation,
            "population": card.population,
            "known_problems": list(card.known_problems),
            "not_concluded": list(card.not_concluded),
        }

    def _published(self, estimates: Sequence[Estimate]) -> Sequence[Estimate]:
        """Beside what somebody printed for the same data, method, variant and model."""
        if self.limit is not None:
            return estimates
        data = self.benchmark.card.digest if self.claimed else self.benchmark.digest
        name, variant = self.card.spec or self.card.name, self.settings.variant
        measured = Conditions(data, name, self.measure, variant, self.recorded, self.claimed)
        return with_published(estimates, measured)


@cache
def versions() -> dict[str, str]:
    return {name: version(name) for name in ("stereometer", "numpy", "scipy")}


def with_ties(settings: Settings, scoring: str, method: Method | None = None) -> Settings:
    """Intended ties do not count as missing answers: those of constructed scores, and those for
    which a method has a rule of its own."""
    meant = scoring == "constructed" or (method is not None and method.own_ties)
    return replace(settings, ties=1.0) if meant else settings
