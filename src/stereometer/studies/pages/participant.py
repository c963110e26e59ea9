"""What a participant sees: consent, page after page, a way out, the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from stereometer.studies.fields import Complaints
from stereometer.studies.pages.templating import page as render
from stereometer.studies.pages.visitor import Cookies, Visitor, wanted_language
from stereometer.studies.panels import PANELS, arrival_ids
from stereometer.studies.participation import INSTRUCTIONS, Arrival, Participation, Standing
from stereometer.studies.payments import amount
from stereometer.web.limits import RateLimit

PREVIEW = "preview"
FORM_EXPIRED = "form_expired"


def routes(participation: Participation, cookies: Cookies, rates: RateLimit) -> APIRouter:
    desk = Desk(participation, cookies, rates)
    router = APIRouter()
    router.get("/")(desk.arrive)
    router.post("/consent")(desk.consent)
    router.get("/page")(desk.show)
    router.post("/page/{key}")(desk.submit)
    router.get("/leave")(desk.ask_to_leave)
    router.post("/leave")(desk.leave)
    router.get("/end")(desk.end)
    return router


@dataclass(frozen=True)
class Desk:
    """The handlers, which share a study, its cookies and its limits."""

    participation: Participation
    cookies: Cookies
    rates: RateLimit

    # ------------------------------------------------------------------------------- coming in

    async def arrive(self, request: Request) -> Response:
        study = self.participation.study
        panel, language = (
            PANELS[study.config.panel.name],
            wanted_language(request, study.config.languages),
        )
        if request.query_params.get("change") and (visitor := self.cookies.read(request)):
            ids: Mapping[str, str] | None = visitor.ids
        else:
            visitor, ids = None, arrival_ids(panel, request.query_params, study.secrets.session_key)
        texts = study.texts(language)
        if ids is None:
            return render(study, texts, "notice.html", 400, notice=texts.word("unknown_arrival"))
        if await run_in_threadpool(self.participation.paused):
            return render(study, texts, "notice.html", 503, notice=texts.word("paused"))
        if not await run_in_threadpool(self.participation.has_room):
            heading = texts.word("end_full")
            return render(study, texts, "notice.html", heading=heading, notice=texts.word("full"))
        visitor = Visitor.new(language, ids)
        response = self._consent_page(visitor)
        self.cookies.write(response, visitor)
        return response

    def _consent_page(self, visitor: Visitor) -> Response:
        study = self.participation.study
        texts, config = study.texts(visitor.language), study.config
        values = {
            "title": texts.name(config.title),
            "contact": texts.contact(config.contact),
            "minutes": f"{config.pay.minutes:g}",
            "pay": texts.money(config.pay.complete, config.pay.currency),
            "partial": texts.money(config.pay.left, config.pay.currency),
            "payment": texts.payment(config.pay),
            "society": texts.name(str(config.options.get("society", ""))),
        }
        return render(
            study,
            texts,
            "consent.html",
            token=self.cookies.form_token(visitor),
            consent=texts.page("consent", **values),
            warning=texts.page("warning", **values),
        )

    async def consent(self, request: Request) -> Response:
        visitor, form = await self._sent(request)
        study = self.participation.study
        if form.get("agree") != "yes":
            return self._outcome(visitor, "declined")
        if not visitor.participant:
            arrival = Arrival(study.config.panel.name, visitor.ids, visitor.language)
            if not visitor.ids:
                raise HTTPException(400, "open_link_again")
            number = await run_in_threadpool(self.participation.consent, arrival)
            if number is None:
                return self._outcome(visitor, "left", full=True)
            visitor = visitor.enrolled(number)
        response = RedirectResponse("/page", 303)
        self.cookies.write(response, visitor)
        return response

    # --------------------------------------------------------------------------- page after page

    async def show(self, request: Request) -> Response:
        visitor = self._visitor(request)
        return self._next(visitor, await self._standing(visitor))

    async def submit(self, request: Request, key: str) -> Response:
        visitor, sent = await self._sent(request)
        standing = await self._standing(visitor)
        if standing.page is None or standing.page.key != key:
            return RedirectResponse("/page", 303)  # sent before, or not due: go on
        values, complaints = standing.page.form.read(sent)
        if sent.get("action") == PREVIEW:
            return self._shown(visitor, standing, sent, {})
        if complaints:
            return self._shown(visitor, standing, sent, complaints)
        await run_in_threadpool(self.participation.submit, visitor.participant, key, values)
        return RedirectResponse("/page", 303)

    def _next(self, visitor: Visitor, standing: Standing) -> Response:
        if standing.page is None:
            return RedirectResponse("/end", 303)
        return self._shown(visitor, standing, {}, {})

    def _shown(
        self, visitor: Visitor, standing: Standing, sent: Mapping[str, str], complaints: Complaints
    ) -> Response:
        assert standing.page is not None
        study, due = self.participation.study, standing.page
        texts = study.texts(standing.person.language)
        society = texts.name(str(study.config.options.get("society", "")))
        return render(
            study,
            texts,
            due.template,
            422 if complaints else 200,
            token=self.cookies.form_token(visitor),
            page=due,
            sent=sent,
            complaints={name: texts.word(complaint) for name, complaint in complaints.items()},
            step=standing.done + 1,
            steps=standing.steps,
            text=(texts.page if due == INSTRUCTIONS else texts.aside)(
                "instructions", society=society
            ),
            beside=texts.aside("beside") if "beside" in texts.pages else "",
            feedback=due.feedback(sent),
        )

    # --------------------------------------------------------------------------------- the end

    async def ask_to_leave(self, request: Request) -> Response:
        visitor = self._visitor(request)
        study = self.participation.study
        texts, pay = study.texts(visitor.language), study.config.pay
        partial = texts.money(pay.left, pay.currency) if pay.left else ""
        token = self.cookies.form_token(visitor)
        return render(study, texts, "leave.html", token=token, partial=partial)

    async def leave(self, request: Request) -> Response:
        visitor, _ = await self._sent(request)
        if visitor.participant:
            await run_in_threadpool(self.participation.leave, visitor.participant)
            return RedirectResponse("/end", 303)
        return self._outcome(visitor, "declined")

    async def end(self, request: Request) -> Response:
        visitor = self._visitor(request)
        standing = await self._standing(visitor)
        if standing.outcome is None:
            return RedirectResponse("/page", 303)
        return self._outcome(visitor, standing.outcome)

    def _outcome(self, visitor: Visitor, outcome: str, full: bool = False) -> Response:
        study = self.participation.study
        texts, config = study.texts(visitor.language), study.config
        code = getattr(config.codes, outcome)
        secrets = study.secrets
        taken_part = bool(visitor.participant)
        return render(
            study,
            texts,
            "end.html",
            outcome="full" if full else outcome,
            code=code,
            link=config.panel.return_url.replace("{code}", code),
            withdrawal=secrets.withdrawal_code(visitor.participant) if taken_part else "",
            paid=bool(amount(config.pay, outcome)),
            debriefing=texts.page("debriefing", contact=texts.contact(config.contact))
            if taken_part
            else "",
        )

    # ------------------------------------------------------------------------------ who it is

    def _visitor(self, request: Request) -> Visitor:
        visitor = self.cookies.read(request)
        if visitor is None:
            raise HTTPException(403, "visit_ended")
        if not self.rates.allows(visitor.participant or visitor.nonce):
            raise HTTPException(429, "too_often")
        return visitor

    async def _standing(self, visitor: Visitor) -> Standing:
        if not visitor.participant:
            raise HTTPException(403, "consent_first")
        standing = await run_in_threadpool(self.participation.standing, visitor.participant)
        if standing is None:
            raise HTTPException(410, "withdrawn")
        return standing

    async def _sent(self, request: Request) -> tuple[Visitor, Mapping[str, str]]:
        visitor = self._visitor(request)
        form = await request.form(max_files=0, max_fields=200)
        sent = _texts_of(form)
        if not self.cookies.is_form_token(visitor, sent.get("token", "")):
            raise HTTPException(403, FORM_EXPIRED)
        return visitor, sent


def _texts_of(form: FormData) -> dict[str, str]:
    return {name: value for name, value in form.items() if isinstance(value, str)}
