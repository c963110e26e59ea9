"""The survey with a model as participant.

A repeat is a participant. For every group two repeats get the same page, its scales in an order
that is drawn for the two, half of them, at random, with their poles exchanged in the first and the
other half in the second. So a liking for one end of the scale, or for a number at a place on the
page, does not look like a view of a group: within the two it cancels, and such a pair is what
values and tests are of.

Graded, a model is asked for one scale of the page at a time, from 1 to 7. Its rating is the mean of
these numbers, each by the probability that it is written, put on the scale from 0 to 100.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from stereometer.core import types
from stereometer.core.asking.conversation import (
    Conversation,
    filled_in,
    heard,
    no_system_prompt,
    why_unread,
)
from stereometer.core.asking.options import check_weighs, weighed
from stereometer.core.asking.wordings import FIRST, named, wording
from stereometer.core.errors import UsageError
from stereometer.core.methods.declared import OURS, answers_of
from stereometer.core.types.names import MeasureName
from stereometer.kinds.traits import metrics

TOKENS_A_SCALE = 10
BEGUN = "1:"
"""What a model that continues a text is given of its answer."""
MOST = 100.0


@dataclass(frozen=True)
class SurveyOptions:
    """How the survey is put."""

    repeats: int = 10
    temperature: float = 0.3
    scales: int = 0
    """Scales that are asked together; 0 for a whole page, as people see it."""
    chat: bool | None = None
    """As messages of a conversation; by default wherever the model has a chat template."""
    system: str = ""
    seed: int = 0
    own: Mapping[str, str] = field(default_factory=dict)
    """A study's own `model_page`, `model_scale` and `model_cue`; ours where it has none."""
    wording: str = FIRST
    """Which of our wordings."""
    graded: bool = False
    """Whether ratings are read from the probabilities of the numbers, not from what is written."""

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.scales < 0 or not 0 <= self.temperature <= 2:
            raise UsageError(
                f"{self.repeats} repeats, {self.scales} scales together, temperature "
                f"{self.temperature:g}: one of them is out of range. Ask at least once, at a "
                "temperature from 0 to 2."
            )
        if self.repeats % 2:
            raise UsageError(
                f"{self.repeats} repeats are an odd number. The poles of every scale are exchanged "
                f"in one of two repeats, so that a liking for one end cancels. Take "
                f"{self.repeats + 1}."
            )
        wording("page", self.wording, __package__)
        if self.own and named(self.wording, self.graded):
            raise UsageError(
                "The study has a page of its own for models, so that our wordings and graded "
                "scales do not apply to it. It is put as its folder says. Leave out --wording and "
                "--graded."
            )

    @property
    def numbers(self) -> tuple[str, ...]:
        """Those that a graded scale offers."""
        return wording("one", self.wording, __package__).options

    def text(self, part: str, own: str = "") -> str:
        """A part of ours, or the study's own, with the ends of the scale put in."""
        ours = self.own.get(own) or wording(part, self.wording, __package__).text
        ends = (self.numbers[0], self.numbers[-1]) if self.graded else ("0", f"{MOST:g}")
        return filled_in(ours, dict(zip(("least", "most"), ends, strict=True)))

    @property
    def template(self) -> str:
        asked = self.text("one" if self.graded else "all")
        return filled_in(self.text("page", "model_page"), {"answer": asked})

    @property
    def cue(self) -> str:
        return self.text("cue", "model_cue")

    def prompt(self, page: Sequence[ShownScales], place: int) -> str:
        line = self.text("scale", "model_scale")
        lines = "\n".join(f"{at}. {shown.line(line)}" for at, shown in enumerate(page, 1))
        scale = page[0].scale
        slots = {"society": scale.society, "group": scale.group.label, "scales": lines}
        return filled_in(self.template.strip(), {**slots, "place": str(place)})


@dataclass(frozen=True)
class ShownScales:
    """A scale as it stands on a page."""

    scale: Any
    turned: bool

    def line(self, wording: str) -> str:
        ends = self.scale.texts["left"], self.scale.texts["right"]
        low, high = reversed(ends) if self.turned else ends
        return filled_in(wording, {"low": low, "high": high})


@dataclass(frozen=True)
class ScaleQuestion(types.ItemDefaults):
    """A scale that a participant rates, and what stands on the page with it."""

    scale: types.Item
    repeat: int
    page: tuple[ShownScales, ...] = field(repr=False)
    place: int
    """On the page, from 1."""

    @property
    def id(self) -> str:
        return f"{self.slices['template']}/{self.scale.id}"

    @property
    def slices(self) -> types.Slice:
        return {**self.scale.slices, "template": f"repeat-{self.repeat + 1:03}"}

    @property
    def texts(self) -> Mapping[str, str]:
        return self.scale.texts


@dataclass(frozen=True)
class ModelSurvey:
    """The survey, bound to a model."""

    name: str
    options: SurveyOptions
    conversation: Conversation
    summarize = staticmethod(metrics.summarize_ratings)

    @property
    def recorded(self) -> Mapping[str, Any]:
        own, ours = self.options.own, f"{self.options.template}\n"
        return {
            "repeats": self.options.repeats,
            "temperature": 0.0 if self.options.graded else self.options.temperature,
            "scales": self.options.scales,
            "prompts": types.digest_of(sorted(own.items()) if own else ours)[:16],
            **self.conversation.recorded,
        }

    def items(self, items: Sequence[Any]) -> tuple[Sequence[ScaleQuestion], types.Notes]:
        by_group: dict[str, list[Any]] = {}
        for scale in items:
            by_group.setdefault(scale.slices["group"], []).append(scale)
        pages = product(range(self.options.repeats), by_group.values())
        questions = [question for page in pages for question in self._questions(*page)]
        return questions, (
            f"{self.options.repeats} repeats stand for participants: intervals are about other "
            "repeats of this model, not about people.",
        )

    def _questions(self, repeat: int, scales: Sequence[Any]) -> Iterable[ScaleQuestion]:
        seed, group = self.options.seed, scales[0].slices["group"]
        by_lot = random.Random(f"{seed}/{repeat // 2}/{group}")
        turned = by_lot.sample([at % 2 == repeat % 2 for at in range(len(scales))], len(scales))
        shown = [ShownScales(scale, turn) for scale, turn in zip(scales, turned, strict=True)]
        by_lot.shuffle(shown)
        together = self.options.scales or len(shown)
        for start in range(0, len(shown), together):
            page = tuple(shown[start : start + together])
            for place, each in enumerate(page, 1):
                yield ScaleQuestion(each.scale, repeat, page, place)

    def plan(self, item: ScaleQuestion) -> types.Requests:
        options, text = self.options, self.options.prompt(item.page, item.place)
        begun = f"{item.place}:" if options.graded else BEGUN
        asked = self.conversation.fields(text, f"{text}\n\n{options.cue}\n{begun}")
        if options.graded:
            return {"scale": [types.Options(**asked, options=options.numbers)]}
        asked |= {
            "temperature": options.temperature,
            "max_tokens": TOKENS_A_SCALE * len(item.page),
            "seed": options.seed,
            "repeat": item.repeat,
        }
        if not self.conversation.chat and len(item.page) == 1:
            asked["stop"] = ("\n",)
        return {"page": [types.Generate(**asked)]}

    def score(self, item: ScaleQuestion, exchanged: types.Exchanged) -> types.Score:
        if self.options.graded:
            return self._graded(item, *answers_of(exchanged, "scale"))
        (answer,) = answers_of(exchanged, "page")
        text = answer.text or ""
        if not self.conversation.chat and text and not text.lstrip().startswith(BEGUN):
            answer = replace(answer, text=f"{BEGUN}{text}")
        rated, why = read(answer, len(item.page))
        if item.place in rated:
            return rated_score(item, rated[item.place])
        said = (heard(answer)[0] | {"skipped": why},)
        return types.Score(item.id, item.slices, {}, why, item.texts, answers=said)

    def _graded(self, item: ScaleQuestion, answer: types.Answer) -> types.Score:
        """The mean of the numbers by their shares of the probability, on the scale to 100."""
        numbers = self.options.numbers
        found = weighed(dict(zip(numbers, numbers, strict=True)), answer)
        if found.skipped:
            return types.Score(item.id, item.slices, {}, found.skipped, item.texts)
        steps = len(numbers) - 1
        mean = sum(at * share for at, share in enumerate(found.shares.values()))
        return rated_score(item, MOST * mean / steps, {"mass": found.mass})


def rated_score(
    item: ScaleQuestion, answered: float, more: Mapping[str, float] | None = None
) -> types.Score:
    rating = MOST - answered if item.page[item.place - 1].turned else answered
    derived = {"rating": rating, "answered": answered, **(more or {})}
    values = {"effect": rating - metrics.MIDDLE}
    return types.Score(item.id, item.slices, values, texts=item.texts, derived=derived)


@dataclass(frozen=True)
class SurveyMethod(types.Method):
    options: type[Any] = SurveyOptions
    in_words: bool = True

    def bind(
        self, backend: types.Backend, variant: types.Variant, options: SurveyOptions
    ) -> ModelSurvey:
        if options.graded:
            check_weighs(backend)
        self.needed_way(backend, self.reads)
        conversation = Conversation.of(backend, options.chat, options.system, variant)
        if options.system and not conversation.chat:
            raise no_system_prompt()
        name = str(MeasureName(self.name, self.version, named(options.wording, options.graded)))
        return ModelSurvey(name, options, conversation)


SURVEY = SurveyMethod(
    "survey",
    "survey",
    {"survey": [frozenset({types.Generate.kind})]},
    source=f"{OURS}: the survey of Cao et al. 2022, section 4, put to a model",
)


# --------------------------------------------------------------------------------------- reading

NUMBER = r"\d{1,3}(?:\.\d+)?"
RATED = re.compile(
    rf"^\W*(?:scale\s+)?(\d{{1,2}})[\s*_]*[.:)=–-]+[\s*_]*({NUMBER})(?![\d.]*\d)",
    re.IGNORECASE | re.MULTILINE,
)
"""`3: 40`, `3. 40`, `Scale 3 - 40`."""
ALONE = re.compile(rf"(?<![\d.\-])({NUMBER})(?![\d.]*\d)")
LABEL = re.compile(r"^\s*1:")
"""The number of the first scale, which a model that continues a text is given: it is no rating."""
OUT_OF = re.compile(r"(?:/|\bout of|\bfrom 0 to|\b0 to)\s*100\b", re.IGNORECASE)


def read(answer: types.Answer, count: int) -> tuple[Mapping[int, float], str]:
    """The rating of each scale by its number on the page, and why those that are not there are not.
    A scale that is rated twice, and not alike, has no rating."""
    record, end = heard(answer)
    if end:
        return {}, end
    text = record["text"]
    plain = OUT_OF.sub("", text)
    rated: dict[int, set[float]] = {}
    for number, value in RATED.findall(plain):
        rated.setdefault(int(number), set()).add(float(value))
    known = {
        number: values.pop()
        for number, values in rated.items()
        if len(values) == 1 and 1 <= number <= count and max(values) <= MOST
    }
    return known if rated else _bare(plain, count), why_unread(text.replace("’", "'"))


def _bare(text: str, count: int) -> Mapping[int, float]:
    """Ratings without their numbers, where there are as many as scales."""
    values = [float(value) for value in ALONE.findall(LABEL.sub("", text))]
    if len(values) != count or max(values) > MOST:
        return {}
    return dict(enumerate(values, 1))
