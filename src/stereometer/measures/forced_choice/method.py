"""Forced choice as a method.

Every pair of candidates is asked in both orders. A candidate that is chosen in both wins; one that
is chosen because of where it stands wins once and loses once, which is a tie: the preference for a
position cancels, and is reported beside the scores. Where most comparisons follow the position
there is no score: ties alone would look like the ideal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations
from typing import Any

from stereometer.measures.cat_rules import filled
from stereometer.measures.declared import Bound, Declared, answers_of, in_chat
from stereometer.measures.forced_choice.habits import (
    chosen,
    first_position,
    order_agreement,
    withheld,
)
from stereometer.measures.forced_choice.reading import read
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.types import (
    Backend,
    Estimate,
    Exchanged,
    Generate,
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
"""The two templates: two sentences, or two ways to go on after a context."""

Comparison = tuple[str, str]
"""Two candidates by name, in the order in which they are compared."""


@cache
def template(name: str) -> str:
    folder = resources.files("stereometer.measures.forced_choice").joinpath("templates")
    return folder.joinpath(f"{name}.txt").read_text("utf-8").removesuffix("\n")


def prompt(name: str, first: str, second: str, context: str = "") -> str:
    slots = {"first": first, "second": second, "context": context}
    return re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]], template(name))


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


def _cat_texts(item: Cat) -> Mapping[str, str]:
    if item.task == "intersentence":
        return dict(item.texts)
    return {label: filled(item, label, "sound")[0] for label in cat_metrics.CANDIDATES}


CATS = Presentation(
    cat_metrics.CANDIDATES,
    _cat_texts,
    lambda item: item.context if item.task == "intersentence" else None,
    cat_metrics.summarize,
)
PAIRS = Presentation(
    pair_metrics.CANDIDATES, lambda item: item.texts, lambda item: None, pair_metrics.summarize
)


@dataclass(frozen=True)
class ForcedChoice(Bound):
    """Candidates of an item, two at a time, in both orders."""

    name: str
    shown: Presentation
    chat: bool
    system: str = ""
    template_by: str = ""
    """Whose chat template is applied."""

    @property
    def recorded(self) -> dict[str, Any]:
        """What a result records of the asking."""
        prompts = digest_of([template(name) for name in (ACROSS, WITHIN)])[:16]
        asking = {
            "chat": self.chat,
            "temperature": 0.0,
            "max_tokens": MOST_TOKENS,
            "prompts": prompts,
        }
        if not self.chat:
            return asking
        return asking | {"chat_template": self.template_by, "system": digest_of(self.system)[:16]}

    @property
    def comparisons(self) -> list[Comparison]:
        return list(combinations(self.shown.candidates, 2))

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        if not self.chat:
            return items, ()
        return items, (f"Asked as a conversation; chat template: {self.template_by}.",)

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
        if not self.chat:
            return Generate(f"{question}\nAnswer:", max_tokens=MOST_TOKENS, stop=("\n",))
        turns = ((("system", self.system),) if self.system else ()) + (("user", question),)
        return Generate(messages=turns, max_tokens=MOST_TOKENS)

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
        estimates = [
            estimate
            for estimate in self.shown.summarize(every, settings)
            if estimate.name != "confidence_median_difference"
        ]
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
class ChoiceMethod(Declared):
    """Forced choice on one shape."""

    options: type[Any] = ChoiceOptions
    own_ties: bool = True
    in_words: bool = True
    shown: Presentation = CATS

    def bind(self, backend: Backend, variant: Variant, options: ChoiceOptions) -> ForcedChoice:
        self.needed_way(backend, self.reads)
        template_by = backend.abilities.chat_template
        chat = in_chat(backend, options.chat, variant)
        return ForcedChoice(self.label(), self.shown, chat, options.system, template_by)


WRITES = [frozenset({Generate.kind})]
CAT = ChoiceMethod("cat-forced-choice", "cat", {"cat": WRITES}, shown=CATS)
PAIR = ChoiceMethod("pair-forced-choice", "pair", {"pair": WRITES}, shown=PAIRS)
