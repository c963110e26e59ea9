"""The last questions: who the raters are, every question optional, and what they want to say."""

from __future__ import annotations

from collections.abc import Sequence

from stereometer.studies.fields import Choice, Field, Form, Number, Text
from stereometer.studies.kinds.kind import Page, Person
from stereometer.studies.questions import CHOICES, NO_ANSWER, NUMBERS, TEXTS
from stereometer.studies.study import Study
from stereometer.studies.texts import Texts

DEMOGRAPHICS = "demographics"
COMMENTS = "comments"


def last_pages(study: Study, person: Person) -> Sequence[Page]:
    texts = study.texts(person.language)
    questions = [_question(texts, name) for name in study.config.demographics]
    comments = Text(COMMENTS, texts.word("comments"), 2000, required=False, rows=5)
    pages = [Page(DEMOGRAPHICS, "demographics.html", Form(questions))] if questions else []
    return [*pages, Page(COMMENTS, "comments.html", Form([comments]))]


def _question(texts: Texts, name: str) -> Field:
    label = texts.word(f"demographics_{name}")
    if name in NUMBERS:
        return Number(name, label, *NUMBERS[name], withhold=texts.word("prefer_not_to_say"))
    if name in TEXTS:
        withhold = texts.word("prefer_not_to_say")
        return Text(name, label, TEXTS[name], required=False, withhold=withhold)
    words = [(value, texts.word(f"{name}_{value.replace('-', '_')}")) for value in CHOICES[name]]
    options = (*words, (NO_ANSWER, texts.word("prefer_not_to_say")))
    return Choice(name, label, options, required=False)
