"""Isolated rating: each candidate by itself, from 1 to 7, so that nothing stands beside it.

Where the model gives the probabilities of the numbers, the rating is what is to be expected of
them; otherwise it is read from what is written. The higher rating wins, equal ones are a tie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum
from typing import Any

from stereometer.core.asking.conversation import Conversation, heard, why_unread
from stereometer.core.asking.forced_choice import MOST_TOKENS, Presentation, shares, within
from stereometer.core.asking.graded_choice import LOW_MASS, MASS_FLOOR
from stereometer.core.asking.habits import OPTION_MASS, decided, shares_held, withheld
from stereometer.core.asking.wordings import FIRST, Wording, wording
from stereometer.core.methods.declared import OURS, Bound, answers_of
from stereometer.core.types import (
    UNNAMED,
    Answer,
    Backend,
    Estimate,
    Exchanged,
    Generate,
    Method,
    Notes,
    Options,
    Requests,
    Score,
    Settings,
    Skip,
    Variant,
    digest_of,
)
from stereometer.core.types.names import IN_WORDS, WORDING

ALONE, AFTER = "rating", "next-rating"
MOST_UNNAMED = 0.01
"""Share of what the options hold up to which numbers that a server does not name are left out."""
OUT_OF_SEVEN = re.compile(r"(?<![\d.,])([1-7])\s*(?:/|out\s+of)\s*7(?!\d)")
NUMBER = re.compile(r"(?<![\w.,-])([1-7])(?!\w|[.,]\d)")


@dataclass(frozen=True)
class RatingOptions:
    """How candidates are put to the model."""

    chat: bool | None = None
    system: str = ""
    wording: str = FIRST


@dataclass(frozen=True)
class IsolatedRating(Bound):
    """Candidates of an item, one at a time."""

    name: str
    shown: Presentation
    conversation: Conversation
    wording: str
    graded: bool

    @property
    def recorded(self) -> dict[str, Any]:
        """What a result records of the asking."""
        worded = [wording(task, self.wording).template() for task in (AFTER, ALONE)]
        read = {"mass_floor": MASS_FLOOR} if self.graded else {"max_tokens": MOST_TOKENS}
        return {"prompts": digest_of(worded)[:16], **read, **self.conversation.recorded}

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        return items, self.conversation.notes

    def plan(self, item: Any) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        return {name: [self._request(item, name)] for name in self.shown.candidates}

    def _worded(self, item: Any) -> Wording:
        return wording(ALONE if self.shown.context(item) is None else AFTER, self.wording)

    def _request(self, item: Any, name: str) -> Options | Generate:
        worded, context = self._worded(item), self.shown.context(item) or ""
        question = worded.question({"candidate": self.shown.texts(item)[name], "context": context})
        asked = self.conversation.fields(question, f"{question}\nAnswer:")
        if self.graded:
            return Options(**asked, options=worded.options)
        stop = () if self.conversation.chat else ("\n",)
        return Generate(**asked, max_tokens=MOST_TOKENS, stop=stop)

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        answers = {name: answers_of(exchanged, name)[0] for name in self.shown.candidates}
        said = tuple(_said(name, answer) for name, answer in answers.items())
        reason = next((each["skipped"] for each in said if "skipped" in each), None)
        if reason:
            return Score(item.id, item.slices, {}, reason, item.texts, answers=said)
        ratings = {each["asked"]: float(each["rating"]) for each in said}
        won = {
            f"{left}>{right}": (1 + _sign(ratings[left] - ratings[right])) / 2
            for left, right in self.shown.comparisons
        }
        derived = {f"rating {name}": rating for name, rating in ratings.items()}
        if self.graded:
            masses = [answer.column("mass")[0] for answer in answers.values()]
            derived[OPTION_MASS] = fsum(masses) / len(masses)
        return Score(
            item.id, item.slices, shares(won), texts=item.texts, derived=derived, answers=said
        )

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        """Without a score where most comparisons are ties."""
        every = list(scores)
        whole, found = decided({}, every, settings), []
        for estimate in self.shown.summarize(every, settings):
            here = decided(estimate.slice, within(every, estimate.slice), settings)
            found.append(withheld(estimate, whole, here, why=TIED))
        held = [shares_held(OPTION_MASS, every, settings)] if self.graded else []
        return [*found, whole, *held]


TIED = "only {share:.0f} % of the comparisons have a higher rating; ties would look like 50"


def _said(name: str, answer: Answer) -> dict[str, str]:
    """The rating of a candidate, or why there is none."""
    if answer.rows and answer.text is None:
        rating, why = _expected(answer)
        record = {"text": f"{rating:.2f} of 7", "asked": name}
        return record | ({"skipped": why} if why else {"rating": repr(rating)})
    record, end = heard(answer)
    text = record["text"]
    found = {match[1] for match in OUT_OF_SEVEN.finditer(text)}
    found = found or {match[1] for match in NUMBER.finditer(text)}
    if end or len(found) != 1:
        return record | {"asked": name, "skipped": end or why_unread(text)}
    return record | {"asked": name, "rating": found.pop()}


def _expected(answer: Answer) -> tuple[float, str]:
    """The mean of the numbers, each as likely as the model has it, and why it does not count."""
    chances = [exp(value) for value in answer.column("logprob")]
    mass, total = answer.column("mass")[0], fsum(chances)
    rating = fsum(at * chance for at, chance in enumerate(chances, 1)) / total
    unnamed = answer.end == UNNAMED and total - mass > MOST_UNNAMED * mass
    return rating, LOW_MASS if mass < MASS_FLOOR else UNNAMED if unnamed else ""


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


@dataclass(frozen=True)
class RatingMethod(Method):
    """Isolated rating of the candidates of one kind."""

    options: type[Any] = RatingOptions
    own_ties: bool = True
    in_words: bool = True
    manner: str = "isolated"
    shown: Presentation = field(kw_only=True)

    def bind(self, backend: Backend, variant: Variant, options: RatingOptions) -> IsolatedRating:
        graded = self.needed_way(backend, self.reads) == 0
        for task in (ALONE, AFTER):
            wording(task, options.wording)
        conversation = Conversation.of(backend, options.chat, options.system, variant)
        worded = () if options.wording == FIRST else (f"{WORDING}{options.wording}",)
        name = self.label(options=(*worded, *(() if graded else (IN_WORDS,))))
        return IsolatedRating(name, self.shown, conversation, options.wording, graded)


def rating_method(kind: str, shown: Presentation) -> RatingMethod:
    """Isolated rating of the candidates of a kind."""
    needs: Mapping[str, Sequence[frozenset[str]]] = {
        kind: [frozenset({Options.kind}), frozenset({Generate.kind})]
    }
    source = f"{OURS}: each candidate rated by itself"
    return RatingMethod(f"{kind}-isolated-rating", kind, needs, shown=shown, source=source)
