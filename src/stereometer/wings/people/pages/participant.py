"""What a participant sees: consent, page after page, a way out, the end; and who is at the browser:
one signed cookie that expires, and the token that forms carry."""

import hmac
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from fastapi import APIRouter
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from stereometer.wings.people.config import PANELS
from stereometer.wings.people.pages import showing
from stereometer.wings.people.participation import PanelArrival, Participation, Standing
from stereometer.wings.people.secrets import arrival_ids
from stereometer.wings.people.study import digest
from stereometer.wings.serving.limits import RateLimit


def fresh(signer: URLSafeTimedSerializer, value: str, hours: float) -> Any:
    """What was signed; None where it is not ours or too old. A value from the near future was
    signed before the clock was set back, and is as good as any."""
    try:
        signed, at = signer.loads(value, return_timestamp=True)
    except BadSignature:
        return None
    return signed if abs(time.time() - at.timestamp()) <= 3600 * hours else None


COOKIE = "study"
VISIT = "visit"
"""What an open link gives in place of a panel's ids."""
HOURS = 24


@dataclass(frozen=True)
class Visitor:
    nonce: str
    language: str
    ids: Mapping[str, str] = field(default_factory=dict)
    """The panel's ids, until consent."""
    participant: str = ""

    def enrolled(self, participant: str) -> Self:
        """An open link is known again by the visit alone, which says nothing about anybody."""
        visit = {name: value for name, value in self.ids.items() if name == VISIT}
        return replace(self, participant=participant, ids=visit)


def wanted_language(request: Request, languages: Sequence[str]) -> str:
    """The one asked for, the first the browser accepts, or the study's first."""
    accepted = request.headers.get("accept-language", "").replace(";", ",").split(",")
    wanted = [request.query_params.get("lang", ""), *(part.strip()[:2] for part in accepted)]
    return next((language for language in wanted if language in languages), languages[0])


@dataclass(frozen=True)
class Cookies:
    key: str
    secure: bool

    def read(self, request: Request) -> Visitor | None:
        """None where there is no cookie, it is too old, or it is not ours."""
        value = fresh(self._signer("visit"), request.cookies.get(COOKIE, ""), HOURS)
        try:
            return Visitor(**value)
        except TypeError:
            return None

    def write(self, response: Response, visitor: Visitor) -> None:
        response.set_cookie(
            COOKIE,
            str(self._signer("visit").dumps(asdict(visitor))),
            max_age=HOURS * 3600,
            httponly=True,
            samesite="lax",
            secure=self.secure,
        )

    def form_token(self, visitor: Visitor) -> str:
        return str(self._signer("form").dumps(visitor.nonce))

    def is_form_token(self, visitor: Visitor, token: str) -> bool:
        nonce = fresh(self._signer("form"), token, HOURS)
        return isinstance(nonce, str) and hmac.compare_digest(nonce, visitor.nonce)

    def _signer(self, salt: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.key, salt=salt)


PREVIEW = "preview"
LATE = "late"


def routes(participation: Participation, cookies: Cookies, rates: RateLimit) -> APIRouter:
    desk = ParticipantPages(participation, cookies, rates)
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
class ParticipantPages:
    """The handlers, which share a study, its cookies and its limits."""

    participation: Participation
    cookies: Cookies
    rates: RateLimit

    # ------------------------------------------------------------------------------- coming in

    async def arrive(self, request: Request) -> Response:
        """Who is known goes on, or sees how it ended, whether or not there is room for others."""
        study, visitor = self.participation.study, self.cookies.read(request)
        language = wanted_language(request, study.config.languages)
        if visitor and visitor.participant and request.query_params.get("change"):
            return RedirectResponse("/page", 303)
        ids = self._ids(request, visitor)
        if ids is None:
            return showing.notice_page(study, study.texts(language), 400, "unknown_arrival")
        arrival = PanelArrival(study.config.panel.name, ids, language)
        # The same person at another tab: forms that are open there stay good.
        nonce = visitor.nonce if visitor and visitor.ids == ids else secrets.token_urlsafe(16)
        return await self._receive(Visitor(nonce, language, ids), arrival)

    async def _receive(self, visitor: Visitor, arrival: PanelArrival) -> Response:
        study, language = self.participation.study, arrival.language
        number = await run_in_threadpool(self.participation.known, arrival)
        if number is not None:
            return self._go_on(visitor.enrolled(number))
        if await run_in_threadpool(self.participation.paused):
            return showing.notice_page(study, study.texts(language), 503, "paused")
        if not await run_in_threadpool(self.participation.has_room):
            return showing.notice_page(study, study.texts(language), 200, showing.FULL)
        response = showing.consent_page(study, language, self.cookies.form_token(visitor))
        self.cookies.write(response, visitor)
        return response

    def _ids(self, request: Request, visitor: Visitor | None) -> Mapping[str, str] | None:
        """Those of the address, or the browser's own: of an open link, or in another language."""
        panel = self.participation.study.config.panel.name
        if visitor and visitor.ids and (request.query_params.get("change") or not PANELS[panel]):
            return visitor.ids
        key = self.participation.study.secrets.session_key
        return arrival_ids(panel, request.query_params, key)

    def _go_on(self, visitor: Visitor) -> Response:
        response = RedirectResponse("/page", 303)
        self.cookies.write(response, visitor)
        return response

    async def consent(self, request: Request) -> Response:
        visitor, form = await self._sent(request)
        study = self.participation.study
        if form.get("agree") != "yes":
            return showing.end_page(study, visitor.language, "declined")
        if not visitor.participant:
            arrival = PanelArrival(study.config.panel.name, visitor.ids, visitor.language)
            read_another = form.get("version") != study.cached(digest)
            if read_another or await run_in_threadpool(self.participation.paused):
                return await self._receive(visitor, arrival)
            number = await run_in_threadpool(self.participation.consent, arrival)
            if number is None:
                return showing.end_page(study, visitor.language, showing.FULL)
            visitor = visitor.enrolled(number)
        return self._go_on(visitor)

    # --------------------------------------------------------------------------- page after page

    async def show(self, request: Request) -> Response:
        visitor = self._visitor(request)
        standing = await self._standing(visitor)
        if standing.page is None:
            return RedirectResponse("/end", 303)
        late = replace(standing, expired=LATE in request.query_params)
        return showing.task_page(late, self.cookies.form_token(visitor), {}, {})

    async def submit(self, request: Request, key: str) -> Response:
        visitor, sent = await self._sent(request)
        standing = await self._standing(visitor)
        if standing.page is None or standing.page.key != key:
            return RedirectResponse("/page", 303)  # sent before, or not due: go on
        values, complaints = standing.page.form.read(sent)
        if sent.get("action") == PREVIEW or complaints:
            complaints = {} if sent.get("action") == PREVIEW else complaints
            return showing.task_page(standing, self.cookies.form_token(visitor), sent, complaints)
        after = await run_in_threadpool(self.participation.submit, visitor.participant, key, values)
        return RedirectResponse(f"/page?{LATE}=1" if after and after.expired else "/page", 303)

    # --------------------------------------------------------------------------------- the end

    async def ask_to_leave(self, request: Request) -> Response:
        visitor = self._visitor(request)
        token = self.cookies.form_token(visitor)
        return showing.leave_page(self.participation.study, visitor.language, token)

    async def leave(self, request: Request) -> Response:
        visitor, _ = await self._sent(request)
        if visitor.participant:
            await run_in_threadpool(self.participation.leave, visitor.participant)
            return RedirectResponse("/end", 303)
        return showing.end_page(self.participation.study, visitor.language, "declined")

    async def end(self, request: Request) -> Response:
        visitor = self._visitor(request)
        standing = await self._standing(visitor)
        if standing.outcome is None:
            return RedirectResponse("/page", 303)
        language, number = standing.person.language, visitor.participant
        return showing.end_page(
            standing.study, language, standing.outcome, number, standing.expired
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
        sent = {name: value for name, value in form.items() if isinstance(value, str)}
        if not self.cookies.is_form_token(visitor, sent.get("token", "")):
            raise HTTPException(403, "form_expired")
        return visitor, sent
