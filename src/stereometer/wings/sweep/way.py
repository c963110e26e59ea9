"""One way of asking a question, and the ways in which a model can be asked in words."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from stereometer.core.asking.wordings import FIRST, wordings
from stereometer.core.types import Abilities, Result, Slice, Variant, names
from stereometer.core.types.names import WITHIN_WORD, MeasureName
from stereometer.wings.sweep.shape import WORDING

FORMS = ("raw", "chat")
NEUTRAL = ("not offered", "offered")
THINKING = ("no", "yes")
WORDS = "words"


@dataclass(frozen=True)
class Way:
    """One way of asking a question: a measure in a variant, with its options."""

    method: str
    variant: Variant
    why: str
    length: str = ""
    """Whether log-probabilities are added up or averaged."""
    hides: str = ""
    """What is hidden while a token is scored."""
    within_word: bool = False
    wordings: str = ""
    """The task whose wordings it may be asked in."""
    asking: str = ""
    """Whether candidates are compared or each is rated alone."""
    answer: str = ""
    """What is read: words, or their probabilities."""
    has_neutral: bool = False
    """Whether a third answer can be offered, that sides with neither."""
    with_asked: bool = False
    """Whether only `--asked` takes it."""
    wording: str = ""
    neutral: bool = False
    in_words: bool = False
    """Whether words were read where probabilities are where a model gives them."""
    form: str = ""
    """One of FORMS, where a model is asked in both."""
    thinking: str = ""
    """Whether the model may think first, where it is asked both ways."""

    @property
    def measured(self) -> MeasureName:
        """As results name it, without its version."""
        chosen = {
            WITHIN_WORD: self.within_word,
            f"{names.WORDING}{self.wording}": self.wording not in ("", FIRST),
            names.NEUTRAL: self.neutral,
            names.IN_WORDS: self.in_words,
        }
        return MeasureName.parse(self.method).plus(*(name for name, of in chosen.items() if of))

    @property
    def measure(self) -> str:
        return str(self.measured)

    @property
    def id(self) -> str:
        return way_id({"measure": self.measure, **self.choices})

    @property
    def choices(self) -> dict[str, str]:
        """What was chosen where another way of the same question may choose otherwise."""
        chosen = {"variant": str(self.variant), "length": self.length, "hides": self.hides}
        chosen |= {
            "asking": self.asking,
            "answer": WORDS if self.in_words else self.answer,
            WORDING: self.wording,
        }
        chosen |= {"neutral": NEUTRAL[self.neutral] if self.wording else ""}
        chosen |= {"form": self.form, "thinking": self.thinking}
        return {name: value for name, value in chosen.items() if value}

    def worded(self, able: Abilities) -> Iterator[Self]:
        """In every wording and every other way in which a model can be asked."""
        thinks = able.room > 0 and able.thinking
        chat, raw = bool(able.chat_template), able.continues and not thinks
        for form in ([FORMS[0]] if raw else []) + ([FORMS[1]] if chat else []):
            for neutral in (False, True)[: 1 + self.has_neutral]:
                for each in wordings(self.wordings):
                    yield replace(self, wording=each.id, neutral=neutral, form=form)

    def as_recorded(self, result: Result) -> Self:
        """As a stored run asked it."""
        said, told = result.measured_by.settings, result.settings
        chat = bool(told.get("chat"))
        thinks = chat and bool(told.get("room")) and told.get("thinking", True)
        return replace(
            self,
            wording=said.get("wording", FIRST),
            neutral=said.get("neutral", False),
            in_words=names.IN_WORDS in result.measured_by.options,
            form=FORMS[chat],
            thinking=THINKING[thinks],
        )


def way_id(place: Slice) -> str:
    """From what a reading's slice says."""
    named = (place.get(name) for name in ("measure", "variant", "form", "thinking"))
    return " ".join(each for each in named if each)
