"""Context Association Tests (Nadeem et al. 2021, section 6): how a candidate is scored, by what a
model can answer.

`cat-likelihood` asks how well the candidate fits (next-sentence prediction across sentences), a
token; `cat-sum-likelihood` the same with log-probabilities added up, under its own name because
short candidates then win more often; `cat-pseudo-likelihood` asks how well the rest fits the
candidate. The table RULES is the whole of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.methods.declared import (
    OURS,
    Bound,
    Scoring,
    WithinWord,
    answers_of,
    check_first_token,
    scored,
)
from stereometer.core.types import (
    Backend,
    Exchanged,
    Method,
    Notes,
    Requests,
    Score,
    Skip,
    Variant,
    WritesTokens,
)
from stereometer.kinds.cats import metrics
from stereometer.kinds.cats.items import LABELS, TASKS, Cat
from stereometer.kinds.cats.rules import RULES, CatRule

NO_HEAD = "the model cannot say whether a sentence follows"


@dataclass(frozen=True)
class ContextAssociation(Bound):
    """A CAT measure bound to what a model can answer."""

    name: str
    rules: Mapping[str, CatRule]
    """By task; a task without a rule is skipped and counted."""
    how: Scoring
    summarize = staticmethod(metrics.summarize)

    def items(self, items: Sequence[Cat]) -> tuple[Sequence[Cat], Notes]:
        return items, (NOTE,) if self.how.before else ()

    def plan(self, item: Cat) -> Requests:
        if item.unscorable:
            raise Skip(item.unscorable)
        if item.task not in self.rules:
            raise Skip(NO_HEAD)
        rule = self.rules[item.task]
        return {label: rule.requests(item, label, self.how) for label in LABELS}

    def score(self, item: Cat, exchanged: Exchanged) -> Score:
        check_first_token(exchanged)
        rule, variant = self.rules[item.task], self.how.variant
        return scored(
            item,
            {label: rule.reduce(answers_of(exchanged, label), variant) for label in LABELS},
        )


@dataclass(frozen=True)
class CatMethod(Method):
    """A row of the methods table."""

    reads: str = "cat"
    options: type[Any] = WithinWord
    rules: Mapping[str, Sequence[CatRule]] = field(default_factory=dict)
    """By task."""
    needed: tuple[str, ...] = ("intrasentence",)
    """The tasks without which it is not worth asking; the other half of a likelihood needs a
    next-sentence head."""

    padded: bool = False
    """Whether `paper` puts a paragraph before what XLNet-like models read."""

    def bind(self, backend: Backend, variant: Variant, options: WithinWord) -> ContextAssociation:
        for task in self.needed:
            self.needed_way(backend, task)
        if variant not in self.variants:
            raise ModelError(
                f"{self.name} has no variant `{variant}`: the authors did not compute it. Use "
                "`sound`, or another measure."
            )
        ways = {task: self.way(backend, task) for task in TASKS}
        rules = {task: self.rules[task][way] for task, way in ways.items() if way is not None}
        asks = {kind for rule in rules.values() for kind in rule.needs}
        hides = options.within_word and any(rule.hides for rule in rules.values())
        decode = backend.decode if isinstance(backend, WritesTokens) else None
        mask = backend.abilities.mask
        padded = variant == "paper" and self.padded and backend.abilities.any_order
        before = PARAGRAPH if padded else ""
        how = Scoring(variant, backend.encode, options.within_word, mask, decode, before)
        return ContextAssociation(self.label(backend, asks, hides), rules, how)


def cat_method(name: str, **more: Any) -> CatMethod:
    rules = RULES[name]
    needs = {task: [rule.needs for rule in rules[task]] for task in TASKS}
    return CatMethod(name, needs=needs, rules=rules, **more)


STEREOSET = "StereoSet, Nadeem et al. 2021"
LIKELIHOOD = cat_method("cat-likelihood", padded=True, source=f"{STEREOSET}, Tables 4 and 6")
SUM_LIKELIHOOD = cat_method(
    "cat-sum-likelihood", variants=("sound",), source=f"{OURS}: cat-likelihood, summed"
)
PSEUDO_LIKELIHOOD = cat_method(
    "cat-pseudo-likelihood", needed=TASKS, source=f"{STEREOSET}, Tables 5 and 7"
)


PARAGRAPH = (
    "In the spring the river below the mill rose higher than anyone in the valley could remember, "
    "and for nine days the ferry stayed fastened to its wooden post. A letter that should have "
    "travelled to the harbour lay on the counter of the small post office, underneath a jar of "
    "boiled sweets. On the tenth morning the water finally subsided. The ferryman swept the heavy "
    "mud from the landing, counted his ropes, and rang the bell twice, as the custom was. Seven "
    "passengers came down the path carrying baskets, a ladder and a crate of clocks. By afternoon "
    "the boat had crossed four times, the letter was on its way, and the miller had opened the "
    "sluice again. <eod>"
)
"""119 words and the mark for the end of a document, as theirs."""
NOTE = (
    "As in the released code, XLNet-like models are asked without a permutation mask, at a mask "
    "token, with every sentence after the same paragraph. The paragraph is ours, of as many words "
    "as the authors'; scores differ from those with theirs."
)
