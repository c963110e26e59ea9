"""Isolated rating: each candidate by itself, from 1 to 7, so that nothing stands beside it.

Where the model gives the probabilities of the numbers, the rating is what is to be expected of
them; otherwise it is read from what is written. The higher rating wins, equal ones are a tie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum
from typing import Any, ClassVar

from stereometer.core.asking.conversation import Conversation, heard, why_unread
from stereometer.core.asking.forced_choice import (
    MOST_TOKENS,
    Presentation,
    Questions,
    RatingOptions,
    shares,
    within,
)
from stereometer.core.asking.habits import OPTION_MASS, decided, shares_held, withheld
from stereometer.core.asking.options import LOW_MASS, MASS_FLOOR
from stereometer.core.asking.wordings import named, wording
from stereometer.core.methods.declared import OURS, answers_of
from stereometer.core.types import (
    UNNAMED,
    Answer,
    Backend,
    Estimate,
    Exchanged,
    Generate,
    Method,
    Options,
    Requests,
    Score,
    Settings,
    Skip,
    Variant,
)
from stereometer.core.types.names import IN_WORDS

ALONE, AFTER = "rating", "next-rating"
MOST_UNNAMED = 0.01
"""Share of what the options hold up to which numbers that a server does not name are left out."""
OUT_OF_SEVEN = re.compile(r"(?<![\d.,])([1-7])\s*(?:/|out\s+of)\s*7(?!\d)")
NUMBER = re.compile(r"(?<![\w.,-])([1-7])(?!\w|[.,]\d)")


@dataclass(frozen=True)
class IsolatedRating(Questions):
    """Candidates of an item, one at a time."""

    graded: bool = True
    tasks: ClassVar[tuple[str, str]] = (AFTER, ALONE)

    @property
    def read_as(self) -> Mapping[str, Any]:
        return {"mass_floor": MASS_FLOOR} if self.graded else {"max_tokens": MOST_TOKENS}

    def plan(self, item: Any) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        return {name: [self._request(item, name)] for name in self.shown.candidates}

    def _request(self, item: Any, name: str) -> Options | Generate:
        asked = self.fields(item, candidate=name)
        if self.graded:
            return Options(**asked, options=self.worded(item).options)
        return self.written(asked)

    def score(self, item: Any, exchanged: Exchanged) -> Score:
        answers = {name: answers_of(exchanged, name)[0] for name in self.shown.candidates}
        said = tuple(_said(name, answer) for name, answer in answers.items())
        reason = next((each["skipped"] for each in said if "skipped" in each), None)
        if reason:
            return Score(item.id, item.slices, {}, reason, item.texts, answers=said)
        ratings = {each["asked"]: float(each["rating"]) for each in said}
        won = {}
        for left, right in self.shown.comparisons:
            ours, theirs = ratings[left], ratings[right]
            won[f"{left}>{right}"] = 0.5 if ours == theirs else float(ours > theirs)
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
        for task in IsolatedRating.tasks:
            wording(task, options.wording)
        conversation = Conversation.of(backend, options.chat, options.system, variant)
        read = () if graded else (IN_WORDS,)
        name = self.label(options=(*named(options.wording), *read))
        return IsolatedRating(name, self.shown, conversation, options.wording, graded=graded)


def rating_method(kind: str, shown: Presentation) -> RatingMethod:
    needs: Mapping[str, Sequence[frozenset[str]]] = {
        kind: [frozenset({Options.kind}), frozenset({Generate.kind})]
    }
    source = f"{OURS}: each candidate rated by itself"
    return RatingMethod(f"{kind}-isolated-rating", kind, needs, shown=shown, source=source)
