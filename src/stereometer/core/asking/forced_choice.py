"""Forced choice as a method.

Every pair of candidates is asked in both orders. A candidate that is chosen in both wins; one that
is chosen because of where it stands wins once and loses once, which is a tie: the preference for a
position cancels, and is reported beside the scores. Where most comparisons follow the position
there is no score: ties alone would look like the ideal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from stereometer.core.asking.conversation import Conversation, filled_in
from stereometer.core.asking.habits import (
    chosen,
    first_position,
    order_agreement,
    withheld,
)
from stereometer.core.asking.reading import read
from stereometer.core.asking.wordings import FIRST, wording
from stereometer.core.methods.declared import OURS, Bound, answers_of
from stereometer.core.types import (
    Backend,
    Estimate,
    Exchanged,
    Generate,
    Method,
    Notes,
    Requests,
    Score,
    Settings,
    Skip,
    Slice,
    Variant,
    digest_of,
)

MOST_TOKENS = 8
WITHIN, ACROSS = "sentence", "next-sentence"
"""Two tasks: two sentences, or two ways to go on after a context."""

Comparison = tuple[str, str]
"""Two candidates by name, in the order in which they are compared."""


def template(name: str) -> str:
    return wording(name, FIRST).template()


def prompt(name: str, first: str, second: str, context: str = "") -> str:
    return filled_in(template(name), {"first": first, "second": second, "context": context})


@dataclass(frozen=True)
class ChoiceOptions:
    """How candidates are put to the model."""

    chat: bool | None = None
    """As messages of a conversation; by default wherever the model has a chat template."""
    system: str = ""


@dataclass(frozen=True)
class Presentation:
    """How the candidates of one shape are presented and counted."""

    candidates: tuple[str, ...]
    texts: Callable[[Any], Mapping[str, str]]
    context: Callable[[Any], str | None]
    """What the candidates follow; None where they stand alone."""
    summarize: Callable[[Iterable[Score], Settings], list[Estimate]]


@dataclass(frozen=True)
class ForcedChoice(Bound):
    """Candidates of an item, two at a time, in both orders."""

    name: str
    shown: Presentation
    conversation: Conversation

    @property
    def recorded(self) -> dict[str, Any]:
        """What a result records of the asking."""
        prompts = digest_of([template(name) for name in (ACROSS, WITHIN)])[:16]
        asking = {"temperature": 0.0, "max_tokens": MOST_TOKENS, "prompts": prompts}
        return {"chat": self.conversation.chat} | asking | self.conversation.recorded

    @property
    def comparisons(self) -> list[Comparison]:
        return list(combinations(self.shown.candidates, 2))

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        return items, self.conversation.notes

    def plan(self, item: Any) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        return {
            f"{left}>{right}": [self._request(item, *pair) for pair in orders(left, right)]
            for left, right in self.comparisons
        }

    def _request(self, item: Any, first: str, second: str) -> Generate:
        texts, context = self.shown.texts(item), self.shown.context(item)
        name = WITHIN if context is None else ACROSS
        question = prompt(name, texts[first], texts[second], context or "")
        asked = self.conversation.fields(question, f"{question}\nAnswer:")
        stop = () if self.conversation.chat else ("\n",)
        return Generate(**asked, max_tokens=MOST_TOKENS, stop=stop)

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        """For each comparison the share of orders that chose the first; for each candidate its
        share of all it was in."""
        texts = self.shown.texts(item)
        readings: list[Mapping[str, str]] = []
        values: dict[str, float] = {}
        for left, right in self.comparisons:
            comparison = f"{left}>{right}"
            answers = zip(orders(left, right), answers_of(exchanged, comparison), strict=True)
            both = [
                read(answer, [texts[name] for name in pair]) | {"asked": ">".join(pair)}
                for pair, answer in answers
            ]
            readings += both
            values[comparison] = sum(chosen(reading) == left for reading in both) / len(both)
        reason = next((answer["skipped"] for answer in readings if "skipped" in answer), None)
        shares = {} if reason else _shares(values, self.comparisons)
        return Score(item.id, item.slices, shares, reason, item.texts, answers=tuple(readings))

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        every = list(scores)
        estimates = self.shown.summarize(every, settings)
        slices = {_place(estimate.slice): estimate.slice for estimate in estimates} | {(): {}}
        decided = {
            place: order_agreement(slice_, within(every, slice_), settings)
            for place, slice_ in slices.items()
        }
        kept = [
            withheld(estimate, decided[()], decided[_place(estimate.slice)])
            for estimate in estimates
        ]
        return [*kept, first_position(every, settings), *decided.values()]


def orders(left: str, right: str) -> tuple[Comparison, Comparison]:
    return (left, right), (right, left)


def _shares(values: Mapping[str, float], comparisons: Sequence[Comparison]) -> dict[str, float]:
    """Each candidate's share of the orders it was in; with three candidates the comparisons too,
    which decide ss and lms."""
    won: dict[str, list[float]] = {}
    for left, right in comparisons:
        won.setdefault(left, []).append(values[f"{left}>{right}"])
        won.setdefault(right, []).append(1 - values[f"{left}>{right}"])
    shares = {name: sum(parts) / len(parts) for name, parts in won.items()}
    return shares | (dict(values) if len(comparisons) > 1 else {})


def _place(slice_: Slice) -> tuple[tuple[str, str], ...]:
    return tuple(slice_.items())


def within(scores: Iterable[Score], slice_: Slice) -> list[Score]:
    return [score for score in scores if slice_.items() <= score.slices.items()]


@dataclass(frozen=True)
class ChoiceMethod(Method):
    """Forced choice on one kind."""

    options: type[Any] = ChoiceOptions
    own_ties: bool = True
    in_words: bool = True
    shown: Presentation = field(kw_only=True)

    def bind(self, backend: Backend, variant: Variant, options: ChoiceOptions) -> ForcedChoice:
        self.needed_way(backend, self.reads)
        conversation = Conversation.of(backend, options.chat, options.system, variant)
        return ForcedChoice(self.label(), self.shown, conversation)


def choice_method(kind: str, shown: Presentation) -> ChoiceMethod:
    """Forced choice between the candidates of a kind."""
    needs = {kind: [frozenset({Generate.kind})]}
    source = f"{OURS}: the items as questions"
    return ChoiceMethod(f"{kind}-forced-choice", kind, needs, shown=shown, source=source)
