"""The application: participants' pages, the researcher's page, and what guards both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from stereometer.errors import DataError
from stereometer.studies.pages import admin, participant
from stereometer.studies.pages.errors import TOO_OFTEN, Refusals
from stereometer.studies.pages.visitor import Cookies
from stereometer.studies.participation import OtherVisit, Participation
from stereometer.web.headers import SecurityHeaders
from stereometer.web.limits import AddressLimit, BodyLimit, RateLimit

PAGES = "stereometer.studies.pages"
MOST_BYTES = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "testserver")


@dataclass(frozen=True)
class Limits:
    """Requests per second, and how many may come at once: by participant and by address (a class
    may share one)."""

    person: tuple[float, float] = (5, 40)
    address: tuple[float, float] = (100, 1000)


def make_app(
    participation: Participation,
    hosts: Sequence[str] = LOOPBACK,
    secure: bool = False,
    limits: Limits = Limits(),  # noqa: B008
) -> FastAPI:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    cookies = Cookies(participation.study.secrets.session_key, secure)
    people = RateLimit(*limits.person)
    refusals = Refusals(participation.study, cookies)
    app.include_router(participant.routes(participation, cookies, people))
    app.include_router(admin.routes(participation, secure))
    app.mount("/static", StaticFiles(packages=[(PAGES, "static")]), name="static")
    app.add_exception_handler(HTTPException, refusals.refused)
    app.add_exception_handler(DataError, refusals.changed)
    app.add_exception_handler(OtherVisit, refusals.other_visit)
    app.add_exception_handler(DBAPIError, refusals.not_stored)
    too_often = partial(refusals.page, status=TOO_OFTEN, key="too_often")
    app.add_middleware(AddressLimit, rates=RateLimit(*limits.address), refuse=too_often)
    app.add_middleware(BodyLimit, most=MOST_BYTES)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(SecurityHeaders)
    return app
