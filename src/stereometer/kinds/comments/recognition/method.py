"""Recognition by prompting (Chiu et al. 2021) as a method: one for each setting of the study."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stereometer.core import types
from stereometer.core.asking.conversation import Conversation, no_system_prompt
from stereometer.core.asking.options import OptionShares, check_weighs, weighed
from stereometer.core.asking.wordings import FIRST, named, wording
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.methods.declared import answers_of
from stereometer.core.types.names import MeasureName
from stereometer.kinds.comments import metrics
from stereometer.kinds.comments.items import MISSPELLING, SETTINGS, Comment, Setting, categories_of
from stereometer.kinds.comments.recognition import likelihood, misspelling
from stereometer.kinds.comments.recognition.misspelling import read_edits, shipped_edits
from stereometer.kinds.comments.recognition.prompts import Prompts, check_folder
from stereometer.kinds.comments.recognition.questions import (
    STUDY_SIZE,
    Question,
    Sampling,
    questions,
)
from stereometer.kinds.comments.recognition.reading import AnswerReader

WARMEST = 2.0
"""The highest temperature that any server takes."""
SLIP = (
    "As printed: the overall F1 has the recall of one category in its numerator (f1_harmonic is "
    "the right one), and *_sd, the standard deviation over repeats, is what the study calls "
    "standard error."
)
"""The two slips of the study, reproduced only under `paper`."""


@dataclass(frozen=True)
class RecognitionOptions:
    """Which comments are asked about, and how questions are put besides their words."""

    repeats: int = 10
    temperature: float = 0.3
    chat: bool | None = None
    """As a message of a conversation; by default wherever the model has a chat template, except
    like the paper and where likelihoods are asked for, which are of raw text."""
    system: str = ""
    templates: Path | None = None
    likelihood: bool = False
    """Whether the probability of the label words is asked for too."""
    wording: str = FIRST
    """Which of our wordings; the paper has one."""
    graded: bool = False
    """Whether the answer is the label whose word is likeliest to come next, in place of what is
    written."""
    sample: types.Variant | None = None
    """How comments are drawn: `paper` or `sound`; None for the variant of the run."""
    size: int = STUDY_SIZE
    threshold: float = 0.5
    categories: Mapping[str, str] = field(default_factory=dict)
    """The word for each category; by default the benchmark's, or every label that occurs."""
    edits: Path | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise UsageError(
                f"{self.repeats} repeats were asked for. Without an answer there is nothing to "
                "score. Ask at least once."
            )
        if not 0 <= self.temperature <= WARMEST:
            raise UsageError(
                f"The temperature is {self.temperature:g}. It must lie between 0, always the "
                f"likeliest word, and {WARMEST:g}. The study used 0.3."
            )
        if self.size < 1:
            raise UsageError(
                f"The size is {self.size}. At least one comment of each kind is needed. "
                f"The study has {STUDY_SIZE}."
            )
        if self.sample not in (None, "paper", "sound"):
            raise UsageError(
                f"There is no sample '{self.sample}'. The samples are paper and sound. Leave it "
                "out for the variant's own."
            )
        if not 0 < self.threshold <= 1:
            raise UsageError(
                f"The threshold is {self.threshold:g}. It is a share of annotators. "
                "Choose a number above 0, up to 1."
            )
        if self.system and self.chat is False:
            raise no_system_prompt()
        if self.likelihood and self.chat:
            raise UsageError(
                "--likelihood was asked for with --chat. A conversation has no label words to "
                "score. Leave out one of them."
            )
        if self.graded and self.likelihood:
            raise UsageError(
                "--graded was asked for with --likelihood. Both are probabilities of label words, "
                "the one as an answer, the other beside it. Leave out one of them."
            )
        wording("zero-shot", self.wording, __package__)
        if self.templates is not None:
            check_folder(self.templates)
        if self.templates is not None and self.wording != FIRST:
            raise UsageError(
                "--wording was given with --templates. Both say how the question is put. Leave out "
                "one of them."
            )


@dataclass(frozen=True)
class Recognition:
    """One setting, bound to a model; without a model it reads what was answered elsewhere."""

    setting: Setting
    variant: types.Variant
    options: RecognitionOptions = field(default_factory=RecognitionOptions)
    backend: types.Backend | None = None
    version: str = "1"
    drawn: dict[str, Any] = field(default_factory=dict)
    """How comments were drawn, known once they are."""

    @property
    def name(self) -> str:
        chosen = named(self.options.wording, self.options.graded)
        return str(MeasureName(f"recognition-{self.setting.name}", self.version, chosen))

    @property
    def prompts(self) -> Prompts:
        options = self.options
        return Prompts(self.setting, self.variant, options.templates, options.wording)

    @property
    def asking(self) -> dict[str, Any]:
        """What a result records of the asking."""
        cold = self.setting is MISSPELLING or self.options.graded
        return {
            "setting": self.setting.name,
            "repeats": 1 if cold else self.options.repeats,
            "temperature": 0.0 if cold else self.options.temperature,
            "max_tokens": self.setting.max_tokens(self.variant),
            "stop": list(self.setting.stop(self.variant)),
            "prompts": self.prompts.digest,
            "likelihood": self.options.likelihood,
            **self.conversation.recorded,
        }

    @property
    def conversation(self) -> Conversation:
        able = self.backend.abilities if self.backend else types.Abilities(frozenset())
        chat, system = bool(self.options.chat), self.options.system
        return Conversation(chat, system, able.chat_template, able.room)

    @property
    def recorded(self) -> Mapping[str, Any]:
        return self.asking | self.drawn

    @property
    def notes(self) -> types.Notes:
        """What must be said with the numbers."""
        printed = self.variant == "paper" and not self.setting.mixed
        slips = (SLIP,) if printed and self.setting is not MISSPELLING else ()
        return (*slips, *self.conversation.notes)

    def items(self, items: Sequence[Comment]) -> tuple[Sequence[Question], types.Notes]:
        """The questions that the setting asks about a sample of the comments."""
        options = self.options
        known = sorted({name for comment in items for name in comment.scores})
        words = dict(options.categories) or {name: name for name in categories_of(items)}
        unknown = [name for name in words if name not in known]
        if unknown or not words:
            raise UsageError(
                f"There is no category '{(unknown or ['?'])[0]}' in the comments. Their categories "
                f"are {', '.join(known) or 'none'}. Name one of them with --category."
            )
        sampling = Sampling(
            options.sample or self.variant, options.seed, options.size, words, options.threshold
        )
        edits = read_edits(options.edits) if options.edits else shipped_edits()
        self.drawn.update(
            sample=sampling.variant,
            size=sampling.size,
            threshold=sampling.threshold,
            categories=words,
        )
        if self.setting is MISSPELLING:
            self.drawn["edits"] = types.digest_of(list(edits))[:16]
        return questions(self.setting, items, sampling, edits), self.notes

    def plan(self, item: Question) -> types.Requests:
        prompt, asking, options = self.prompts.prompt(item), self.asking, self.options
        question = self.conversation.fields(prompt)
        if options.graded:
            return {"options": [types.Options(**question, options=tuple(self.prompts.spelt(item)))]}
        question |= {
            "temperature": asking["temperature"],
            "max_tokens": asking["max_tokens"],
            "stop": tuple(asking["stop"]),
            "seed": options.seed,
        }
        requests: dict[str, Sequence[types.Request]] = {
            "answers": [types.Generate(**question, repeat=at) for at in range(asking["repeats"])]
        }
        if options.likelihood and self.backend is not None:
            requests["labels"] = likelihood.requests(prompt, self.prompts.words(item), self.backend)
        return requests

    def score(self, item: Question, exchanged: types.Exchanged) -> types.Score:
        reader, words = AnswerReader(self.setting, self.variant), self.prompts.words(item)
        if self.options.graded:
            (answer,) = answers_of(exchanged, "options")
            return graded(item, words, weighed(self.prompts.spelt(item), answer))
        readings = [reader.read(answer, words) for answer in answers_of(exchanged, "answers")]
        if "labels" not in exchanged:
            return scored(item, readings)
        return scored(item, readings, likelihood.logprobs(words, answers_of(exchanged, "labels")))

    def summarize(
        self, scores: Iterable[types.Score], settings: types.Settings
    ) -> list[types.Estimate]:
        if self.setting is MISSPELLING:
            return misspelling.summarize(scores, settings)
        if not self.options.likelihood:
            return metrics.summarize(scores, settings)
        every = list(scores)
        return metrics.summarize(every, settings) + likelihood.summarize(every, settings)


def scored(
    item: Question,
    readings: Sequence[Mapping[str, str]],
    derived: Mapping[str, float] | None = None,
) -> types.Score:
    """A question's score: the share of each label among its readable answers, and every answer."""
    labels = Counter(reading["label"] for reading in readings if "label" in reading)
    shares = {label: count / labels.total() for label, count in sorted(labels.items())}
    answers = tuple(readings)
    return types.Score(item.id, item.slices, shares, None, item.texts, derived or {}, answers)


def graded(item: Question, words: Mapping[str, str], found: OptionShares) -> types.Score:
    """The answer is the label whose word is likeliest; how likely each is, is kept."""
    if found.skipped:
        return scored(item, [{"text": "", "skipped": found.skipped}])
    label = max(found.shares, key=found.shares.__getitem__)
    derived = {f"probability {name}": share for name, share in found.shares.items()}
    reading = {"text": words[label], "label": label}
    return scored(item, [reading], {**derived, "mass": found.mass})


@dataclass(frozen=True)
class RecognitionMethod(types.Method):
    """A setting of the study."""

    reads: str = "comment"
    options: type[Any] = RecognitionOptions
    in_words: bool = True

    def bind(
        self, backend: types.Backend, variant: types.Variant, options: RecognitionOptions
    ) -> Recognition:
        able = backend.abilities
        if variant == "paper" and options.wording != FIRST:
            raise UsageError(
                f"Wording {options.wording} was asked for with the variant paper. The paper has "
                "prompts of its own. Leave out one of them."
            )
        if options.graded:
            check_weighs(backend)
        elif types.Generate.kind not in able.kinds:
            raise ModelError(
                f"{backend.card.name} cannot be asked in words. It answers {able}. "
                "Choose a causal model or a server."
            )
        wanted = False if options.likelihood and options.chat is None else options.chat
        chat = Conversation.of(backend, wanted, options.system, variant).chat
        options = replace(options, chat=chat)
        likelihoods = {types.CausalTokens.kind, types.Continuation.kind}
        if options.likelihood and not able.kinds & likelihoods:
            raise ModelError(
                f"{backend.card.name} gives no likelihoods of given text. It answers {able}. "
                "Leave out --likelihood."
            )
        return Recognition(SETTINGS[self.setting], variant, options, backend, self.version)


def _method(setting: Setting) -> RecognitionMethod:
    writes = [frozenset({types.Generate.kind})]
    name = f"recognition-{setting.name}"
    source = f"Detecting Hate Speech with GPT-3, Chiu et al. 2021, {setting.printed}"
    return RecognitionMethod(name, needs={"comment": writes}, setting=setting.name, source=source)


ZERO_SHOT, ONE_SHOT, FEW_SHOT_SINGLE, FEW_SHOT_MIXED, MIXED_INSTRUCTION, MISSPELT = map(
    _method, SETTINGS.values()
)
