"""Forced choice as a method.

Every pair of candidates is asked in both orders. A candidate that is chosen in both wins; one that
is chosen because of where it stands wins once and loses once, which is a tie: the preference for a
position cancels, and is reported beside the scores. Where most comparisons follow the position
there is no score: ties alone would look like the ideal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

from stereometer.core.asking.conversation import Conversation
from stereometer.core.asking.habits import (
    chosen,
    first_position,
    neutral_share,
    order_agreement,
    withheld,
)
from stereometer.core.asking.reading import read
from stereometer.core.asking.wordings import FIRST, Wording, named, wording
from stereometer.core.methods.declared import OURS, Bound, answers_of
from stereometer.core.types import (
    Backend,
    Estimate,
    Exchanged,
    Generate,
    Method,
    Notes,
    Request,
    Requests,
    Score,
    Settings,
    Skip,
    Slice,
    Variant,
    digest_of,
)
from stereometer.core.types.names import NEUTRAL

MOST_TOKENS = 8
WITHIN, ACROSS = "sentence", "next-sentence"
"""Two tasks: two sentences, or two ways to go on after a context."""

Comparison = tuple[str, str]
"""Two candidates by name, in the order in which they are compared."""


@dataclass(frozen=True)
class RatingOptions:
    """How candidates are put to the model."""

    chat: bool | None = None
    """As messages of a conversation; by default wherever the model has a chat template."""
    system: str = ""
    wording: str = FIRST


@dataclass(frozen=True)
class ChoiceOptions(RatingOptions):
    neutral: bool = False
    """Whether a third option prefers neither."""


@dataclass(frozen=True)
class Presentation:
    """How the candidates of one shape are presented and counted."""

    candidates: tuple[str, ...]
    texts: Callable[[Any], Mapping[str, str]]
    context: Callable[[Any], str | None]
    """What the candidates follow; None where they stand alone."""
    summarize: Callable[[Iterable[Score], Settings], list[Estimate]]

    @property
    def comparisons(self) -> list[Comparison]:
        return list(combinations(self.candidates, 2))


@dataclass(frozen=True)
class Questions(Bound, ABC):
    """Candidates of an item, put to a model in words."""

    name: str
    shown: Presentation
    conversation: Conversation
    wording: str = FIRST
    neutral: bool = False
    tasks: ClassVar[tuple[str, str]] = (ACROSS, WITHIN)
    """Of wordings: with a context, and without one."""

    @property
    def recorded(self) -> dict[str, Any]:
        worded = [wording(task, self.wording).template(self.neutral) for task in self.tasks]
        asking = {"prompts": digest_of(worded)[:16], **self.read_as}
        return asking | self.conversation.recorded

    @property
    @abstractmethod
    def read_as(self) -> Mapping[str, Any]:
        """How answers are read."""

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        return items, self.conversation.notes

    def worded(self, item: Any) -> Wording:
        across, within = self.tasks
        return wording(within if self.shown.context(item) is None else across, self.wording)

    def fields(self, item: Any, **slots: str) -> dict[str, Any]:
        """Of a request, whatever it asks of the answer; each slot is filled by a candidate."""
        texts = self.shown.texts(item)
        filled = {slot: texts[name] for slot, name in slots.items()}
        filled["context"] = self.shown.context(item) or ""
        question = self.worded(item).question(filled, self.neutral)
        return self.conversation.fields(question, f"{question}\nAnswer:")

    def written(self, fields: Mapping[str, Any]) -> Generate:
        """The request for an answer in words."""
        stop = () if self.conversation.chat else ("\n",)
        return Generate(**fields, max_tokens=MOST_TOKENS, stop=stop)

    @abstractmethod
    def score(self, item: Any, exchanged: Exchanged) -> Score: ...

    @abstractmethod
    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]: ...


@dataclass(frozen=True)
class PairedChoice(Questions):
    """Candidates of an item, two at a time, in both orders."""

    @property
    def recorded(self) -> dict[str, Any]:
        return {"chat": self.conversation.chat} | super().recorded

    def plan(self, item: Any) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        return {
            f"{left}>{right}": [self._request(item, *pair) for pair in orders(left, right)]
            for left, right in self.shown.comparisons
        }

    @abstractmethod
    def _request(self, item: Any, first: str, second: str) -> Request: ...


@dataclass(frozen=True)
class ForcedChoice(PairedChoice):
    """What the model writes is read: it takes the first candidate, or the second."""

    @property
    def read_as(self) -> Mapping[str, Any]:
        return {"temperature": 0.0, "max_tokens": MOST_TOKENS}

    def _request(self, item: Any, first: str, second: str) -> Generate:
        return self.written(self.fields(item, first=first, second=second))

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        """For each comparison the share of orders that chose the first, where the neutral option is
        half of one; for each candidate its share of all it was in."""
        texts, worded = self.shown.texts(item), self.worded(item)
        readings: list[Mapping[str, str]] = []
        values: dict[str, float] = {}
        for left, right in self.shown.comparisons:
            comparison = f"{left}>{right}"
            answers = zip(orders(left, right), answers_of(exchanged, comparison), strict=True)
            both = [
                read(answer, [texts[name] for name in pair], worded, self.neutral)
                | {"asked": ">".join(pair)}
                for pair, answer in answers
            ]
            readings += both
            points = [0.5 if NEUTRAL in each else float(chosen(each) == left) for each in both]
            values[comparison] = sum(points) / len(points)
        reason = next((answer["skipped"] for answer in readings if "skipped" in answer), None)
        won = {} if reason else shares(values)
        return Score(item.id, item.slices, won, reason, item.texts, answers=tuple(readings))

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        every = list(scores)
        estimates = self.shown.summarize(every, settings)
        places = dict.fromkeys([*(tuple(estimate.slice.items()) for estimate in estimates), ()])
        decided = {
            place: order_agreement(dict(place), within(every, dict(place)), settings)
            for place in places
        }
        kept = [
            withheld(estimate, decided[()], decided[tuple(estimate.slice.items())])
            for estimate in estimates
        ]
        neutral = [neutral_share(every, settings)] if self.neutral else []
        return [*kept, first_position(every, settings), *neutral, *decided.values()]


def orders(left: str, right: str) -> tuple[Comparison, Comparison]:
    return (left, right), (right, left)


def shares(values: Mapping[str, float]) -> dict[str, float]:
    """From comparisons, each candidate's share of those it was in; with three candidates the
    comparisons too, which decide ss and lms."""
    won: dict[str, list[float]] = {}
    for comparison, value in values.items():
        left, right = comparison.split(">")
        won.setdefault(left, []).append(value)
        won.setdefault(right, []).append(1 - value)
    found = {name: sum(parts) / len(parts) for name, parts in won.items()}
    return found | (dict(values) if len(values) > 1 else {})


def within(scores: Iterable[Score], slice_: Slice) -> list[Score]:
    return [score for score in scores if slice_.items() <= score.slices.items()]


@dataclass(frozen=True)
class ChoiceMethod(Method):
    """A choice between the candidates of one kind."""

    options: type[Any] = ChoiceOptions
    own_ties: bool = True
    in_words: bool = True
    shown: Presentation = field(kw_only=True)
    choice: type[PairedChoice] = ForcedChoice

    def bind(self, backend: Backend, variant: Variant, options: ChoiceOptions) -> PairedChoice:
        self.needed_way(backend, self.reads)
        for task in self.choice.tasks:
            wording(task, options.wording)
        conversation = Conversation.of(backend, options.chat, options.system, variant)
        neutral = (NEUTRAL,) if options.neutral else ()
        name = self.label(options=(*named(options.wording), *neutral))
        return self.choice(name, self.shown, conversation, options.wording, options.neutral)


def choice_method(kind: str, shown: Presentation) -> ChoiceMethod:
    needs = {kind: [frozenset({Generate.kind})]}
    source = f"{OURS}: the items as questions"
    return ChoiceMethod(f"{kind}-forced-choice", kind, needs, shown=shown, source=source)
