"""The application: participants' pages, the researcher's page, and what guards both."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from stereometer.studies.pages import admin, participant
from stereometer.studies.pages.errors import error_page
from stereometer.studies.pages.visitor import Cookies
from stereometer.studies.participation import Participation
from stereometer.web.headers import SecurityHeaders
from stereometer.web.limits import AddressLimit, BodyLimit, RateLimit

LOG = logging.getLogger("stereometer")
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
    app.include_router(participant.routes(participation, cookies, people))
    app.include_router(admin.routes(participation, secure))
    app.mount("/static", StaticFiles(directory=_static()), name="static")
    app.add_exception_handler(HTTPException, error_page(participation.study, cookies))
    app.add_exception_handler(DBAPIError, _try_again)
    app.add_middleware(AddressLimit, rates=RateLimit(*limits.address))
    app.add_middleware(BodyLimit, most=MOST_BYTES)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(SecurityHeaders)
    return app


def _static() -> Path:
    return Path(str(resources.files("stereometer.studies.pages").joinpath("static")))


async def _try_again(request: Request, error: Exception) -> Response:
    """The database cannot be reached or written; what was stored before is safe."""
    LOG.error("The database refused: %s", error)
    text = "The study cannot store answers at the moment. Please reload this page in a minute.\n"
    return PlainTextResponse(text, 503, {"retry-after": "60"})
