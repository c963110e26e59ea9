"""The last questions: who the raters are, every question optional, and what they want to say."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.errors import DataError
from stereometer.studies.fields import Choice, Field, Form, Number, Text
from stereometer.studies.kinds.kind import Page, Person
from stereometer.studies.study import Study
from stereometer.studies.texts import Texts

DEMOGRAPHICS = "demographics"
COMMENTS = "comments"
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


def last_pages(study: Study, person: Person) -> Sequence[Page]:
    texts = study.texts(person.language)
    questions = [_question(texts, name) for name in study.config.demographics]
    comments = Text(COMMENTS, texts.word("comments"), 2000, required=False, rows=5)
    pages = [Page(DEMOGRAPHICS, "demographics.html", Form(questions))] if questions else []
    return [*pages, Page(COMMENTS, "comments.html", Form([comments]))]


def _question(texts: Texts, name: str) -> Field:
    label = texts.word(f"demographics_{name}")
    if name in NUMBERS:
        return Number(name, label, *NUMBERS[name])
    if name in TEXTS:
        return Text(name, label, TEXTS[name], required=False)
    if name not in CHOICES:
        raise DataError(
            f"study.toml: there is no question {name!r} about participants. "
            f"Write any of {', '.join(QUESTIONS)}."
        )
    words = [(value, texts.word(f"{name}_{value.replace('-', '_')}")) for value in CHOICES[name]]
    options = (*words, (NO_ANSWER, texts.word("prefer_not_to_say")))
    return Choice(name, label, options, required=False)
