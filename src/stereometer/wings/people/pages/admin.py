"""The researcher's page: progress, agreement, cost, pause, downloads; no raw ids."""

import secrets
from dataclasses import dataclass

from fastapi import APIRouter
from itsdangerous import URLSafeTimedSerializer
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from stereometer.wings.people.export import zipped_export
from stereometer.wings.people.pages.participant import fresh
from stereometer.wings.people.pages.showing import render
from stereometer.wings.people.participation import Participation
from stereometer.wings.people.progress import progress_of
from stereometer.wings.people.secrets import Secrets, admin_hash, read_secrets
from stereometer.wings.serving.limits import RateLimit, address

COOKIE = "researcher"
HOURS = 12
TRIES = (1 / 10, 5)
"""Tokens that somebody may try, and times that a token may be: five at once, then one every ten
seconds. A browser that has opened the page is somebody of its own, so that others behind the same
address do not keep it out."""
BROWSER = "browser"


def routes(participation: Participation, secure: bool) -> APIRouter:
    office = Office(participation, secure, RateLimit(*TRIES))
    router = APIRouter(prefix="/admin")
    router.get("")(office.show)
    router.post("/enter")(office.enter)
    router.post("/pause")(office.pause)
    router.get("/export.zip")(office.download)
    return router


@dataclass(frozen=True)
class Office:
    participation: Participation
    secure: bool
    tries: RateLimit

    async def show(self, request: Request) -> Response:
        study = self.participation.study
        texts = study.texts(study.config.languages[0])
        if not self._entered(request):
            response = render(study, texts, "admin_enter.html", wrong=False)
            if not self._browser(request):
                self._set(response, BROWSER, secrets.token_urlsafe(16))
            return response
        progress = await run_in_threadpool(progress_of, study, self.participation.database)
        paused = await run_in_threadpool(self.participation.paused)
        token = str(self._signer("form").dumps("researcher"))
        return render(study, texts, "admin.html", progress=progress, paused=paused, token=token)

    async def enter(self, request: Request) -> Response:
        study = self.participation.study
        form = await request.form(max_files=0, max_fields=5)
        token = str(form.get("token", ""))
        somebody = self._browser(request) or address(request)
        allowed = [self.tries.allows(key) for key in (somebody, admin_hash(token))]
        if not all(allowed):
            raise HTTPException(429, "Too many tries. Please wait ten seconds.")
        if not self._secrets().is_admin(token):
            texts = study.texts(study.config.languages[0])
            return render(study, texts, "admin_enter.html", 403, wrong=True)
        response = RedirectResponse("/admin", 303)
        self._set(response, COOKIE, "researcher")
        return response

    def _set(self, response: Response, name: str, value: str) -> None:
        response.set_cookie(
            name,
            str(self._signer(name).dumps(value)),
            max_age=HOURS * 3600,
            path="/admin",
            httponly=True,
            samesite="strict",
            secure=self.secure,
        )

    async def pause(self, request: Request) -> Response:
        form = await request.form(max_files=0, max_fields=5)
        if not self._entered(request) or not self._is_ours("form", str(form.get("token", ""))):
            raise HTTPException(403, "Please enter the token first.")
        await run_in_threadpool(self.participation.pause, form.get("paused") == "yes")
        return RedirectResponse("/admin", 303)

    async def download(self, request: Request) -> Response:
        if not self._entered(request):
            raise HTTPException(403, "Please enter the token first.")
        study, database = self.participation.study, self.participation.database
        content = await run_in_threadpool(zipped_export, study, database)
        headers = {"content-disposition": 'attachment; filename="export.zip"'}
        return Response(content, media_type="application/zip", headers=headers)

    def _entered(self, request: Request) -> bool:
        return self._is_ours(COOKIE, request.cookies.get(COOKIE, ""))

    def _browser(self, request: Request) -> str:
        """What tells a browser that has opened the page from others; empty where none was."""
        return self._signed(BROWSER, request.cookies.get(BROWSER, ""))

    def _is_ours(self, salt: str, value: str) -> bool:
        return self._signed(salt, value) == "researcher"

    def _signed(self, salt: str, value: str) -> str:
        return str(fresh(self._signer(salt), value, HOURS) or "")

    def _signer(self, salt: str) -> URLSafeTimedSerializer:
        """A key of the token in force: a new one ends every session of the old."""
        keys = self._secrets()
        return URLSafeTimedSerializer(keys.session_key + keys.admin_hash, f"admin-{salt}")

    def _secrets(self) -> Secrets:
        """As they are now: a new token counts without a restart."""
        return read_secrets(self.participation.study.folder)
