"""Every page of a study in every language, rendered before anybody sees one."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.studies.config import OUTCOMES
from stereometer.studies.kinds.kind import INSTRUCTIONS, Person
from stereometer.studies.pages.showing import (
    FULL,
    consent_page,
    end_page,
    leave_page,
    notice_page,
    task_page,
)
from stereometer.studies.participation import Standing, pages_of
from stereometer.studies.study import Study

TRIAL = "trial"
NOTICES = ("unknown_arrival", "paused", FULL, "no_such_page", "other_visit", "form_expired")


def render_everything(study: Study) -> None:
    """Raises what a participant would have met: the study's own texts in all of its pages."""
    for language in study.config.languages:
        consent_page(study, language, TRIAL)
        leave_page(study, language, TRIAL)
        for standing in _standings(study, language):
            fields = standing.page.form.fields if standing.page else ()
            complaints = {field.name: "missing_text" for field in fields}
            task_page(standing, TRIAL, {}, {})
            task_page(standing, TRIAL, {}, complaints)
        for outcome in (*OUTCOMES, FULL):
            end_page(study, language, outcome, TRIAL)
        for key in NOTICES:
            notice_page(study, study.texts(language), 200, key)


def _standings(study: Study, language: str) -> Iterator[Standing]:
    """Somebody on each page, who was given every unit."""
    person = Person(TRIAL, tuple(unit.name for unit in study.units), {}, language)
    drawn = study.kind.arrangement(study, person)
    person = Person(TRIAL, person.units, {INSTRUCTIONS: drawn}, language)
    for page in pages_of(study, person):
        yield Standing(study, person, page, None, 1, 0)
