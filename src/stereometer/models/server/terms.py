"""What a server takes of the parameters of a question, learnt from its refusals.

Services take different parameters, and newer models of one fewer. What a refusal names is renamed,
said in another way or left out, and the question asked again; it stays so for the run.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from stereometer.core.asking.conversation import NO_THINKING
from stereometer.models.server.refusals import NotThere, RefusedRequest
from stereometer.models.server.wire import Wire, Wires

LOG = logging.getLogger("stereometer")
LIMIT, RENAMED_LIMIT = "max_tokens", "max_completion_tokens"
"""What the length of an answer is called: by most servers, and in conversations by some newer."""
EFFORT, EFFORTS = "reasoning_effort", ("none", "minimal", "low")
"""How services are told not to think, the least first: each knows some of these words."""
TEMPLATE = "chat_template_kwargs"
DISPENSABLE = ("top_p", "seed", TEMPLATE, EFFORT, "stop", "temperature")
"""What can be left out; where a refusal names several, in this order."""
SAMPLING = {"temperature": 0.0, "top_p": 1, "seed": 1, "stop": ["\n\n"]}
"""What questions of a run say beside their words, as a probe says it."""
UNTHINKING = {TEMPLATE: NO_THINKING, EFFORT: EFFORTS[0]}


@dataclass(frozen=True)
class QuestionTerms:
    """How questions are put to one server."""

    limit: str = LIMIT
    effort: str = EFFORTS[0]
    left_out: tuple[str, ...] = ()

    def applied(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A question as this server takes it."""
        asked = {name: value for name, value in body.items() if name not in self.left_out}
        if EFFORT in asked:
            asked[EFFORT] = self.effort
        if "messages" in asked and LIMIT in asked:
            asked[self.limit] = asked.pop(LIMIT)
        return asked

    def after(self, refused: Mapping[str, Any], named: Collection[str]) -> QuestionTerms | None:
        """Other terms, where a refusal named what was asked and can be changed."""
        if EFFORT in refused and EFFORT in named and self.effort != EFFORTS[-1]:
            return replace(self, effort=EFFORTS[EFFORTS.index(self.effort) + 1])
        for name in DISPENSABLE:
            if name in refused and name in named:
                return self.without(name)
        is_limit = LIMIT in refused and {LIMIT, RENAMED_LIMIT} & set(named)
        return replace(self, limit=RENAMED_LIMIT) if is_limit and "messages" in refused else None

    def without(self, *names: str) -> QuestionTerms:
        return replace(self, left_out=tuple(sorted({*self.left_out, *names})))

    @property
    def notes(self) -> Iterator[str]:
        """What a reader of the model's card must know."""
        if self.limit != LIMIT:
            yield f"The server takes the length of an answer as {self.limit}."
        if "temperature" in self.left_out:
            yield "The server refuses temperature: temperature is the server's own: answers vary."
        if others := [name for name in self.left_out if name != "temperature"]:
            yield f"Left out, because the server refuses it: {', '.join(others)}."


class Negotiation:
    """Asks one server by the terms that it takes."""

    def __init__(self, wire: Wire | Wires, terms: QuestionTerms | None = None) -> None:
        self.wire, self.terms, self._lock = wire, terms or QuestionTerms(), Lock()

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The first choice of the answer."""
        while True:
            terms = self.terms
            asked = terms.applied(body)
            try:
                return self.wire.post(path, asked)
            except NotThere:
                raise
            except RefusedRequest as refusal:
                self._learn(terms, asked, refusal)

    def _learn(
        self, terms: QuestionTerms, asked: Mapping[str, Any], refusal: RefusedRequest
    ) -> None:
        """Raises where nothing can be changed."""
        with self._lock:
            if self.terms != terms:  # another question has learnt something meanwhile
                return
            other = terms.after(asked, refusal.named)
            if other is None:
                raise self._final(asked, refusal) from None
            self.terms = other
        if self.wire.acquainted.is_set():  # too late for the model's card
            LOG.warning("%s: %s. %s", self.wire.base, refusal.reason, " ".join(other.notes))

    def _final(self, asked: Mapping[str, Any], refusal: RefusedRequest) -> RefusedRequest:
        if not {LIMIT, RENAMED_LIMIT} & asked.keys() & refusal.named:
            return refusal
        return RefusedRequest(
            f"{self.wire.base} does not take the limit on the length of an answer, without which "
            f"nothing bounds what it costs: {refusal.reason}; ask another model, or with another "
            "--room.",
            refusal.reason,
        )

    def first(self, path: str, body: Mapping[str, Any], *extras: Mapping[str, Any]) -> Any:
        """An answer with as many of the extras as the server takes, also where its refusal names
        none of them."""
        for count in range(len(extras), 0, -1):
            beside = {name: value for each in extras[:count] for name, value in each.items()}
            try:
                choice = self.post(path, {**body, **beside})
            except NotThere:
                raise
            except RefusedRequest:
                continue
            self._give_up(extras[count:])
            return choice
        choice = self.post(path, body)
        self._give_up(extras)
        return choice

    def _give_up(self, extras: Collection[Mapping[str, Any]]) -> None:
        self.terms = self.terms.without(*(name for each in extras for name in each))
