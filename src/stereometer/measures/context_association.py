"""Context Association Tests (Nadeem et al. 2021, section 6): how a candidate is scored, by what a model can answer.

`cat-likelihood` asks how well the candidate fits (next-sentence prediction across sentences), a token; `cat-sum-likelihood`
the same with log-probabilities added up, under its own name because short candidates then win more often; `cat-pseudo-likelihood` asks how well the rest fits the candidate. The table RULES is the whole of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Protocol

from stereometer.errors import ModelError
from stereometer.measures.spans import (
    Span,
    left_to_right,
    one_at_a_time,
    scored_positions,
    tokens_in,
    versioned,
)
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.cat.metrics import CANDIDATES
from stereometer.types import (
    Answer,
    Backend,
    CausalTokens,
    Continuation,
    Encode,
    Encoding,
    Estimate,
    Follows,
    MaskedTokens,
    Request,
    Score,
    Settings,
    Skip,
    Variant,
    WholeText,
)


class CatItem(Protocol):
    """What the measure needs of an item."""

    @property
    def id(self) -> str: ...

    @property
    def task(self) -> str: ...

    @property
    def context(self) -> str: ...

    @property
    def texts(self) -> Mapping[str, str]: ...

    @property
    def unscorable(self) -> str | None: ...

    def filler(self, label: str) -> str | None: ...


def filled(item: CatItem, label: str, variant: Variant) -> tuple[str, list[Span]]:
    """The sentence and where its filler stands.

    `sound` builds it from the context; `paper` takes the candidate as released, 38 % of which are de-capitalised.
    """
    filler = item.filler(label)
    if filler is None:
        raise Skip("the sentence is not the context with its blank filled")
    parts, text, spans = item.context.split("BLANK"), "", []
    for part in parts[:-1]:
        text += part
        spans.append((len(text), len(text) + len(filler)))
        text += filler
    text += parts[-1]
    return (text if variant == "sound" else item.texts[label]), spans


# --------------------------------------------------------------------------------------------- rules


class Rule(Protocol):
    """One cell of the methods table: the requests of a candidate and how their rows become one number."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]: ...

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float: ...


@dataclass(frozen=True)
class Ask:
    """What a rule may use besides the item."""

    variant: Variant
    encode: Encode
    mask: str | None = None
    """The text of the mask token, for models that have one."""
    within_word: bool = False
    """Hide the later pieces of a word with each of its pieces (Kauf and Ivanova 2023), so that a word does not give itself away."""
    window: int | None = None
    """The longest sequence the model takes, where it has one."""
    check_pair: Callable[[str, str], object] | None = None
    """Raises Skip for two sentences that the model's next-sentence head cannot judge."""


class SentenceText:
    """The whole filled sentence, mean log-probability a token."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        return [WholeText(filled(item, label, ask.variant)[0])]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return mean(row for answer in answers for row in answer.column("logprob"))


class SentenceTokens(SentenceText):
    """The same from token ids: in one pass after the first-token mark, or (`paper`) the first token after it and the rest without it."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        encoding = ask.encode(filled(item, label, ask.variant)[0])
        first = scored_positions(encoding)[:1]
        if not first or len(encoding.ids) < 2:
            raise Skip("no token to score")
        start = max(1, first[0])
        if ask.variant == "sound" or first[0] == 0:
            return [CausalTokens(encoding.ids, start)]
        return [
            CausalTokens(encoding.ids[: start + 1], start),
            CausalTokens(encoding.ids[start:], 1),
        ]


class FillBlank:
    """The filler revealed piece by piece from the left.

    `sound`: every piece still to come is masked; mean log-probability. `paper`: one mask stands for the next piece and the
    pieces after it are absent; the filler is encoded without a space before it; mean of the probabilities.
    """

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        filler = item.filler(label)
        if filler is None:
            raise Skip("the sentence is not the context with its blank filled")
        if item.context.count("BLANK") != 1:
            raise Skip("several blanks")
        return (
            self._absent(item.context, filler, ask)
            if ask.variant == "paper"
            else self._masked(item, label, ask)
        )

    def _masked(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        text, spans = filled(item, label, ask.variant)
        encoding = ask.encode(text)
        pieces = tokens_in(text, encoding, spans)
        if not pieces:
            raise Skip(NO_FILLER)
        return [left_to_right(encoding, pieces)]

    def _absent(self, context: str, filler: str, ask: Ask) -> Sequence[Request]:
        if ask.mask is None:
            raise Skip("the model has no mask token to put into the blank")
        hole, alone = ask.encode(context.replace("BLANK", ask.mask)), ask.encode(filler)
        pieces = [alone.ids[at] for at in scored_positions(alone)]
        if not pieces:
            raise Skip(NO_FILLER)
        if ask.window is not None and len(hole.ids) + len(pieces) - 1 > ask.window:
            raise Skip("longer than the model's window")
        at = _position_of(ask.encode(ask.mask), hole)
        return [
            MaskedTokens(
                (*hole.ids[:at], *pieces[: k + 1], *hole.ids[at + 1 :]), (((at + k,), at + k),)
            )
            for k in range(len(pieces))
        ]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        row = [one for answer in answers for one in answer.column("logprob")]
        return mean(map(exp, row)) if variant == "paper" else mean(row)


def _position_of(mask: Encoding, hole: Encoding) -> int:
    """Where the mask stands in a text: the token that a text of the mask alone has and the rest does not repeat."""
    edge = set(hole.ids[:1]) | set(hole.ids[-1:])
    found = [index for index, one in enumerate(hole.ids) if one in set(mask.ids) - edge]
    if len(found) != 1:
        raise Skip("the mask cannot be found in the context")
    return found[0]


class ContextGivenFiller:
    """Every token but the filler's masked one at a time, the filler always visible; sum of log-probabilities."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        text, spans = filled(item, label, ask.variant)
        encoding = ask.encode(text)
        fillers = set(tokens_in(text, encoding, spans))
        if not fillers:
            raise Skip(NO_FILLER)
        return [
            one_at_a_time(
                encoding,
                [one for one in scored_positions(encoding) if one not in fillers],
                ask.within_word,
            )
        ]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return total(answers[0])


class NextSentence:
    """Log-odds that the candidate follows the context."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        if ask.check_pair is not None:
            ask.check_pair(item.context, item.texts[label])
        return [Follows(item.context, item.texts[label])]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return float(answers[0].column("logodds")[0])


class RatioText:
    """log p(candidate | context) - log p(candidate), tokens of the candidate only."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        # With the space that stands before it after the context, so that it has the same tokens alone.
        return [Continuation(item.context, item.texts[label]), WholeText(f" {item.texts[label]}")]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return total(answers[0]) - total(answers[1])


class RatioTokens(RatioText):
    """The same from token ids: the candidate keeps the tokens that it has after the context."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        text = f"{item.context} {item.texts[label]}"
        joined = ask.encode(text)
        after = tokens_in(text, joined, [(len(item.context) + 1, len(text))])
        if not after:
            raise Skip("no token to score")
        mark = scored_positions(joined)[0]
        alone = (*joined.ids[:mark], *joined.ids[after[0] :])
        lost = (
            0 if mark else 1
        )  # without a first-token mark the candidate's own first token has nothing before it
        if len(alone) <= max(1, mark):
            raise Skip("no token to score")
        return [CausalTokens(joined.ids, after[0] + lost), CausalTokens(alone, max(1, mark))]


class ContextGivenSentence:
    """The context's tokens masked one at a time, the candidate always visible; sum of log-probabilities."""

    def requests(self, item: CatItem, label: str, ask: Ask) -> Sequence[Request]:
        encoding = ask.encode(item.context, item.texts[label])
        positions = [one for one in scored_positions(encoding) if not encoding.second[one]]
        return [one_at_a_time(encoding, positions, ask.within_word)]

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return total(answers[0])


class Summed:
    """Log-probabilities added up instead of averaged."""

    def reduce(self, answers: Sequence[Answer], variant: Variant) -> float:
        return sum(map(total, answers))


class SummedBlank(Summed, FillBlank):
    """The filler as a whole."""


class SummedTokens(Summed, SentenceTokens):
    """The filled sentence as a whole."""


class SummedText(Summed, SentenceText):
    """The same from text."""


def total(answer: Answer) -> float:
    return sum(answer.column("logprob"))


def mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


Choice = tuple[frozenset[str], Rule]
_MASKED, _CAUSAL, _TEXT = (
    frozenset({"masked-tokens"}),
    frozenset({"causal-tokens"}),
    frozenset({"whole-text"}),
)
_FOLLOWS: Sequence[Choice] = [(frozenset({"follows"}), NextSentence())]

RULES: Mapping[tuple[str, str], Sequence[Choice]] = {
    ("cat-likelihood", "intrasentence"): [
        (_MASKED, FillBlank()),
        (_CAUSAL, SentenceTokens()),
        (_TEXT, SentenceText()),
    ],
    ("cat-likelihood", "intersentence"): _FOLLOWS,
    ("cat-sum-likelihood", "intrasentence"): [
        (_MASKED, SummedBlank()),
        (_CAUSAL, SummedTokens()),
        (_TEXT, SummedText()),
    ],
    ("cat-sum-likelihood", "intersentence"): _FOLLOWS,
    ("cat-pseudo-likelihood", "intrasentence"): [
        (_MASKED, ContextGivenFiller()),
        (_CAUSAL, SentenceTokens()),
        (_TEXT, SentenceText()),
    ],
    ("cat-pseudo-likelihood", "intersentence"): [
        (_MASKED, ContextGivenSentence()),
        (_CAUSAL, RatioTokens()),
        (_TEXT | {"continuation"}, RatioText()),
    ],
}
"""For each measure and task the kinds of request a rule needs; the first that a model supports is taken."""


# ------------------------------------------------------------------------------------------- measure


@dataclass(frozen=True)
class ContextAssociation:
    """A CAT measure bound to what a model can answer."""

    name: str
    rules: Mapping[str, Rule]
    """By task; a task without a rule is skipped and counted."""
    ask: Ask
    reads: str = "cat"

    def plan(self, item: CatItem) -> Mapping[str, Sequence[Request]]:
        if item.unscorable:
            raise Skip(item.unscorable)
        if item.task not in self.rules:
            raise Skip(NO_HEAD)
        return {
            label: self.rules[item.task].requests(item, label, self.ask) for label in CANDIDATES
        }

    def score(self, item: CatItem, answers: Mapping[str, Sequence[Answer]]) -> Mapping[str, float]:
        return {
            label: self.rules[item.task].reduce(answers[label], self.ask.variant)
            for label in CANDIDATES
        }

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return cat_metrics.summarize(scores, settings)


NO_FILLER = "the filler has no token of its own"
NO_HEAD = "the model cannot say whether a sentence follows"


@dataclass(frozen=True)
class Binder:
    """What the catalog names: a measure waiting for a model."""

    name: str
    reads: str = "cat"
    variants: tuple[Variant, ...] = ("paper", "sound")

    def __call__(
        self, backend: Backend, variant: Variant, within_word: bool = False
    ) -> ContextAssociation:
        found = {
            task: rule
            for task in cat_metrics.TASKS
            if (rule := _rule(self.name, task, backend)) is not None
        }
        for task in self._needed:
            if task not in found:
                raise ModelError(_refusal(self.name, task, backend))
        if variant not in self.variants:
            raise ModelError(
                f"{self.name} has no variant `{variant}`: the authors compute no such thing. Use `sound`, or another measure."
            )
        if (
            variant == "paper"
            and self.name == "cat-likelihood"
            and backend.card.family == "permuted"
        ):
            raise ModelError(
                f"{backend.card.name}: `paper` of {self.name} cannot be computed for XLNet-like models. The released code puts a text of others "
                "before every sentence and hides nothing. Use `sound`, or cat-pseudo-likelihood."
            )
        return ContextAssociation(
            versioned(self.name, within_word and self._hides(backend)),
            found,
            Ask(
                variant,
                backend.encode,
                getattr(backend, "mask_text", None),
                within_word,
                backend.card.settings.get("window"),
                getattr(backend, "check_pair", None),
            ),
        )

    def _hides(self, backend: Backend) -> bool:
        """Whether hiding the later pieces of a word changes anything."""
        return self.name == "cat-pseudo-likelihood" and backend.supports >= _MASKED

    @property
    def _needed(self) -> tuple[str, ...]:
        """A likelihood is worth having within sentences alone: its other half needs a next-sentence head."""
        return cat_metrics.TASKS if self.name == "cat-pseudo-likelihood" else ("intrasentence",)


LIKELIHOOD = Binder("cat-likelihood")
SUM_LIKELIHOOD = Binder("cat-sum-likelihood", variants=("sound",))
PSEUDO_LIKELIHOOD = Binder("cat-pseudo-likelihood")


def _rule(name: str, task: str, backend: Backend) -> Rule | None:
    return next((rule for needs, rule in RULES[name, task] if needs <= backend.supports), None)


def _refusal(name: str, task: str, backend: Backend) -> str:
    ways = " or ".join(" and ".join(sorted(needs)) for needs, _ in RULES[name, task])
    return f"{backend.card.name} cannot answer {name} on the {task} task. It needs {ways}; the model answers {', '.join(sorted(backend.supports))}. Choose another measure."
