"""The application: participants' pages, the researcher's page, and what guards both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from stereometer.studies.pages import admin, participant
from stereometer.studies.pages.errors import Refusals
from stereometer.studies.pages.visitor import Cookies
from stereometer.studies.participation import Participation
from stereometer.web.headers import SecurityHeaders
from stereometer.web.limits import AddressLimit, BodyLimit, RateLimit

MOST_BYTES = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "testserver")


@dataclass(frozen=True)
class Limits:
    """Requests a second, and how many may come at once: by participant and by address (a class
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
    app.mount("/static", StaticFiles(directory=_static()), name="static")
    app.add_exception_handler(HTTPException, refusals.refused)
    app.add_exception_handler(DBAPIError, refusals.not_stored)
    addresses = RateLimit(*limits.address)
    app.add_middleware(AddressLimit, rates=addresses, refuse=refusals.too_often)
    app.add_middleware(BodyLimit, most=MOST_BYTES)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(SecurityHeaders)
    return app


def _static() -> Path:
    return Path(str(resources.files("stereometer.studies.pages").joinpath("static")))
