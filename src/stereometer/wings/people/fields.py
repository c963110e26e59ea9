"""The fields of a form: what a person may send, and what is wrong with what they sent.

A complaint is the name of a sentence in the study's words, so that it is said in their language.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

NO_ANSWER = "prefer-not-to-say"
CHOICES = {
    "gender": ("woman", "man", "non-binary", "another"),
    "race": ("asian", "black", "hispanic", "indigenous", "middle-eastern", "white", "another"),
    "education": ("school", "some-college", "college", "postgraduate"),
    "area": ("city", "suburb", "country"),
}
NUMBERS = {"age": (18, 110), "years": (0, 110)}
TEXTS = {"state": 60}
QUESTIONS = (*CHOICES, *NUMBERS, *TEXTS)
Values = Mapping[str, Any]
Complaints = Mapping[str, str]
"""What is wrong, by field."""
FORMULA_SIGNS = "=+-@＝＋－＠"
"""A table program takes a cell that begins so for a formula, in signs of either width."""
JOINER = re.compile(r"[\u200c\u200d]")
JOINING = re.compile(r"(?<=[^\s\x00-\x7f\u200c\u200d])[\u200c\u200d](?=[^\s\x00-\x7f\u200c\u200d])")
"""Between letters of Persian or Hindi a joiner is spelling; elsewhere it only hides."""


@dataclass(frozen=True)
class FormField(ABC):
    kind: ClassVar[str]
    """Names the macro that draws it."""
    name: str

    @abstractmethod
    def read(self, text: str) -> Any:
        """The value, or ValueError with the name of a complaint."""


@dataclass(frozen=True)
class ScaleField(FormField):
    """A whole number from 0 to 100 between two poles."""

    kind: ClassVar[str] = "scale"
    left: str
    right: str
    turned: bool = False
    """Whether the trait's right pole stands on the left: the number is turned back."""

    def read(self, text: str) -> int:
        if not text:
            raise ValueError("missing_rating")
        if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100):
            raise ValueError("wrong_rating")
        return 100 - int(text) if self.turned else int(text)


@dataclass(frozen=True)
class ChoiceField(FormField):
    """One of several options, or, where it is optional, none."""

    kind: ClassVar[str] = "choice"
    label: str
    options: tuple[tuple[str, str], ...]
    """Value and label of each."""
    required: bool = True
    listed: bool = False
    """As a drop-down list, where there are many."""

    def read(self, text: str) -> str | None:
        if not text and not self.required:
            return None
        if text not in dict(self.options):
            raise ValueError("missing_choice")
        return text


@dataclass(frozen=True)
class TextField(FormField):
    kind: ClassVar[str] = "text"
    label: str
    most: int = 200
    required: bool = True
    rows: int = 1
    withhold: str = ""
    """The label of a box to tick by those who would rather not say; none where it is empty."""

    def read(self, text: str) -> str:
        if self.withhold and text == NO_ANSWER:
            return NO_ANSWER
        text = tidy(text)
        if not text and self.required:
            raise ValueError("missing_text")
        if len(text) > self.most:
            raise ValueError("long_text")
        if self.required and text[0] in FORMULA_SIGNS:
            raise ValueError("odd_start")
        return text


@dataclass(frozen=True)
class NumberField(FormField):
    """A whole number that may be left out."""

    kind: ClassVar[str] = "number"
    label: str
    low: int
    high: int
    withhold: str = ""

    def read(self, text: str) -> int | str | None:
        if self.withhold and text == NO_ANSWER:
            return NO_ANSWER
        if not text:
            return None
        whole = text.isascii() and text.isdigit() and len(text) < 6
        if not whole or not self.low <= int(text) <= self.high:
            raise ValueError("wrong_number")
        return int(text)


def tidy(text: str) -> str:
    """One line, no control or invisible formatting characters, composed letters."""
    visible = "".join(
        " " if unicodedata.category(sign) in ("Cc", "Zl", "Zp") else sign
        for sign in text
        if JOINER.match(sign) or unicodedata.category(sign) not in ("Cf", "Cs", "Co")
    )
    line = " ".join(unicodedata.normalize("NFC", visible).split())
    joins = {match.start() for match in JOINING.finditer(line)}
    return JOINER.sub(lambda sign: sign[0] if sign.start() in joins else "", line)


def question(name: str, word: Callable[[str], str]) -> FormField:
    """What is asked of people themselves at the end, in the study's words."""
    label, withhold = word(f"demographics_{name}"), word("prefer_not_to_say")
    if name in NUMBERS:
        return NumberField(name, label, *NUMBERS[name], withhold=withhold)
    if name in TEXTS:
        return TextField(name, label, TEXTS[name], required=False, withhold=withhold)
    words = [(value, word(f"{name}_{value.replace('-', '_')}")) for value in CHOICES[name]]
    return ChoiceField(name, label, (*words, (NO_ANSWER, withhold)), required=False)


@dataclass(frozen=True)
class Form:
    fields: Sequence[FormField]
    rule: Callable[[Values], Complaints] = lambda values: {}
    """What is asked of the fields together, once each is fine."""
    stored: Mapping[str, str] = field(default_factory=dict)
    """What an answer is stored under, where that is not the name of its control: the name of what
    it is about, whatever its place on the page."""

    def read(self, sent: Mapping[str, str]) -> tuple[dict[str, Any], Complaints]:
        values: dict[str, Any] = {}
        complaints: dict[str, str] = {}
        for each in self.fields:
            try:
                value = each.read(sent.get(each.name, "").strip())
                values[self.stored.get(each.name, each.name)] = value
            except ValueError as error:
                complaints[each.name] = str(error)
        return values, complaints or self.rule(values)
