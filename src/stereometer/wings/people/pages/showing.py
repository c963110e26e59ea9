"""The pages that participants see, from a study and where somebody is in it."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, Response

from stereometer.wings.people.config import OUTCOMES
from stereometer.wings.people.fields import Complaints
from stereometer.wings.people.kinds.kind import INSTRUCTIONS, Respondent
from stereometer.wings.people.participation import FIRST, Standing, pages_of
from stereometer.wings.people.study import Study, digest
from stereometer.wings.people.texts import StudyTexts


@cache
def environment() -> Environment:
    return Environment(
        loader=PackageLoader("stereometer.wings.people.pages"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(
    study: Study, texts: StudyTexts, template: str, status: int = 200, **values: Any
) -> HTMLResponse:
    html = (
        environment()
        .get_template(template)
        .render(
            title=texts.name(study.config.title),
            contact=study.config.contact,
            language=texts.folder.name,
            direction=texts.direction,
            languages={code: study.texts(code).word("language") for code in study.config.languages},
            word=texts.word,
            filled=texts.filled,
            **values,
        )
    )
    return HTMLResponse(html, status)


FULL = "full"
"""How it ends for who agrees after the last place was taken: nothing is stored or promised."""


def consent_page(study: Study, language: str, token: str) -> Response:
    texts, values = study.texts(language), study.values(language)
    return render(
        study,
        texts,
        "consent.html",
        token=token,
        version=study.cached(digest),
        consent=texts.page("consent", **values),
        warning=texts.page("warning", **values),
    )


def task_page(
    standing: Standing, token: str, sent: Mapping[str, str], complaints: Complaints
) -> Response:
    assert standing.page is not None
    study, due, language = standing.study, standing.page, standing.person.language
    texts, values = study.texts(language), study.values(language)
    instructions = texts.page if due == FIRST else texts.aside
    return render(
        study,
        texts,
        due.template,
        422 if complaints else 200,
        token=token,
        page=due,
        sent=sent,
        complaints={name: texts.word(complaint) for name, complaint in complaints.items()},
        step=standing.done + 1,
        steps=standing.steps,
        text=instructions("instructions", **values),
        beside=texts.aside("beside", **values) if "beside" in texts.pages else "",
        feedback=due.feedback(sent),
        lease=f"{study.config.quota.lease_minutes:g}",
        expired=standing.expired,
    )


def leave_page(study: Study, language: str, token: str) -> Response:
    texts, pay = study.texts(language), study.config.pay
    partial = texts.money(pay.left, pay.currency) if pay.left else ""
    return render(study, texts, "leave.html", token=token, partial=partial)


def end_page(
    study: Study, language: str, outcome: str, participant: str = "", expired: bool = False
) -> Response:
    texts, config = study.texts(language), study.config
    code = getattr(config.codes, "declined" if outcome == FULL else outcome)
    after: Mapping[str, Any] = {"withdrawal": "", "debriefing": ""}
    if participant:
        after = {
            "withdrawal": study.secrets.withdrawal_code(participant),
            "debriefing": texts.page("debriefing", **study.values(language)),
        }
    return render(
        study,
        texts,
        "end.html",
        outcome=outcome,
        why="expired" if expired else f"end_{outcome}_text",
        code=code,
        link=config.panel.return_url.replace("{code}", code),
        paid=bool(config.pay.amount(outcome)),
        **after,
    )


def notice_page(study: Study, texts: StudyTexts, status: int, key: str) -> Response:
    """A sentence of the study's words, or, where it has none of that name, the name itself."""
    heading = texts.word("end_full") if key == FULL else texts.name(study.config.title)
    notice, again = texts.words.get(key, key), key == "form_expired"
    return render(study, texts, "notice.html", status, heading=heading, notice=notice, again=again)


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
    person = Respondent(TRIAL, tuple(unit.name for unit in study.units), {}, language)
    drawn = study.kind.arrangement(study, person)
    person = Respondent(TRIAL, person.units, {INSTRUCTIONS: drawn}, language)
    for page in pages_of(study, person):
        yield Standing(study, person, page, None, 1, 0)
