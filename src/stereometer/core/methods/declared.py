"""What the methods of every paper share: what their rules may use, and what a bound one does unless
it says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.core.types import (
    Answer,
    Encode,
    Exchanged,
    Item,
    Notes,
    OutOfScope,
    Score,
    Variant,
    WholeText,
)
<<<<<<< HEAD
=======
from stereometer.core.types.names import AFTER_FIRST, WITHIN_WORD, MeasureName


@dataclass(frozen=True)
class Declared:
    """A method as the catalog names it; what it becomes when bound to a model is the subclass's
    `bind`."""

    name: str
    reads: str
    needs: Needs = field(default_factory=dict)
    version: str = "1"
    variants: tuple[Variant, ...] = ("paper", "sound")
    options: type[Any] = NoOptions
    own_ties: bool = False
    in_words: bool = False
    setting: str = ""
    manner: str = ""

    @property
    def kind(self) -> str:
        return self.reads

    @property
    def source(self) -> str:
        return SOURCES.get(self.name, "")

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
>>>>>>> 777d69c9 (Candidates are weighed by probability, rated by themselves, and asked in six wordings)


@dataclass(frozen=True)
class WithinWord:
    """The option of measures that hide tokens one at a time."""

    within_word: bool = False
    """Hide the later pieces of a word with each of its pieces (Kauf and Ivanova 2023), so that a
    word does not give itself away."""


OURS = "not from a paper"
"""The source of methods that we added."""
OTHER_FIRST = "the candidates differ in their first token, which has no number"
"""Why an item is skipped then: what follows does not say which candidate is likelier."""


def check_first_token(exchanged: Exchanged) -> None:
    """Raises where candidates are not alike in a first token that has no number."""
    exchanges = (each for candidate in exchanged.values() for each in candidate)
    if len({answer.text for asked, answer in exchanges if isinstance(asked, WholeText)}) > 1:
        raise OutOfScope(OTHER_FIRST)


@dataclass(frozen=True)
class Scoring:
    """What a rule may use besides the item."""

    variant: Variant
    encode: Encode
    within_word: bool = False
    mask: str | None = None
    """The text of the mask token, for models that have one."""
    decode: Callable[[Sequence[int]], str] | None = None
    """From tokens to their text, for models that can write them."""
    before: str = ""
    """A text that every masked text stands after."""
    seed: int = 0


class Bound:
    """A measure that asks about every item and records nothing besides."""

    @property
    def recorded(self) -> Mapping[str, Any]:
        return {}

    def items(self, items: Sequence[Any]) -> tuple[Sequence[Any], Notes]:
        return items, ()


def answers_of(exchanged: Exchanged, name: str) -> list[Answer]:
    """The answers about one candidate, in the order in which they were asked for."""
    return [answer for _, answer in exchanged[name]]


def scored(item: Item, values: Mapping[str, float]) -> Score:
    return Score(item.id, item.slices, values, texts=item.texts)
<<<<<<< HEAD
=======


STEREOSET = "StereoSet, Nadeem et al. 2021"
CROWS_PAIRS = "CrowS-Pairs, Nangia et al. 2020"
SENSITIVITY = "SeT, Cao et al. 2022"
BIAS_BENCH = "CrowS-Pairs as bias-bench computes it, Meade et al. 2022"
RECOGNITION = "Detecting Hate Speech with GPT-3, Chiu et al. 2021"
OURS = "not from a paper"

SOURCES = {
    "cat-likelihood": f"{STEREOSET}, Tables 4 and 6",
    "cat-sum-likelihood": f"{OURS}: cat-likelihood, summed",
    "cat-pseudo-likelihood": f"{STEREOSET}, Tables 5 and 7",
    "cat-forced-choice": f"{OURS}: the items as questions",
    "cat-graded-choice": f"{OURS}: the items as questions, read by probability",
    "cat-isolated-rating": f"{OURS}: each candidate rated by itself",
    "pair-likelihood": f"{CROWS_PAIRS}, Table 2",
    "pair-random-masks-likelihood": f"{CROWS_PAIRS}, section 3",
    "pair-all-masks-likelihood": f"{CROWS_PAIRS}, section 3",
    "pair-modified-likelihood": f"{BIAS_BENCH}, for masked models",
    "pair-sentence-likelihood": "CrowS-Pairs as lm-evaluation-harness computes it",
    "pair-sentence-mean-likelihood": f"{BIAS_BENCH}, for causal models",
    "pair-after-change-likelihood": f"{OURS}: the causal counterpart of pair-likelihood",
    "pair-forced-choice": f"{OURS}: the items as questions",
    "pair-graded-choice": f"{OURS}: the items as questions, read by probability",
    "pair-isolated-rating": f"{OURS}: each candidate rated by itself",
    "fact-likelihood": f"{OURS}: facts against their contradiction",
    "set": f"{SENSITIVITY}, Tables 5 and 6",
    "ilps": f"ILPS, Kurita et al. 2019; {SENSITIVITY}, Table 6",
    "ilps-star": f"{SENSITIVITY}, Table 6",
    "causal-set": f"{OURS}: SeT for causal models",
    "causal-ilps": f"{OURS}: ILPS for causal models",
    "ceat": f"CEAT, Guo and Caliskan 2021; {SENSITIVITY}, Table 6",
    "ceat-two-group": "CEAT, Guo and Caliskan 2021",
    "recognition-zero-shot": f"{RECOGNITION}, Table 1",
    "recognition-one-shot": f"{RECOGNITION}, Table 2",
    "recognition-few-shot-single": f"{RECOGNITION}, Table 3",
    "recognition-few-shot-mixed": f"{RECOGNITION}, Tables 4 to 6",
    "recognition-few-shot-mixed-instruction": f"{RECOGNITION}, Table 7",
    "recognition-misspelling": f"{RECOGNITION}, Tables 22 and 23",
    "survey": f"{OURS}: the survey of Cao et al. 2022, section 4, put to a model",
}
>>>>>>> 777d69c9 (Candidates are weighed by probability, rated by themselves, and asked in six wordings)
