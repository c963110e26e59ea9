"""A study on the web: participants' pages, the researcher's page, what guards both, what people see
when a page cannot be shown, and the server that puts them together."""

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import uvicorn
from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from stereometer.core.errors import DataError, UsageError
from stereometer.core.options import verb
from stereometer.wings.people.database import open_database
from stereometer.wings.people.pages import admin, participant
from stereometer.wings.people.pages.participant import Cookies, wanted_language
from stereometer.wings.people.pages.showing import notice_page, render_everything
from stereometer.wings.people.participation import OtherVisit, Participation
from stereometer.wings.people.secrets import new_admin_token, read_secrets
from stereometer.wings.people.study import Study, open_answers, open_study
from stereometer.wings.people.verbs import LOG, Database, Folder
from stereometer.wings.serving.limits import AddressLimit, BodyLimit, RateLimit, SecurityHeaders

NO_PAGE = (404, 405)
TOO_OFTEN = 429
NOT_NOW = 503
WAIT = {TOO_OFTEN: "10", NOT_NOW: "60"}
"""Seconds after which it is worth trying again."""


@dataclass(frozen=True)
class Refusals:
    """Pages that say why there is no page; a key names one of the study's words."""

    study: Study
    cookies: Cookies

    def page(self, request: Request, status: int, key: str) -> Response:
        visitor = self.cookies.read(request)
        known = visitor.language if visitor else ""
        texts = self.study.texts(known or wanted_language(request, self.study.config.languages))
        response = notice_page(self.study, texts, status, key)
        if status in WAIT:
            response.headers["retry-after"] = WAIT[status]
        return response

    async def refused(self, request: Request, error: Exception) -> Response:
        match error:
            case HTTPException():
                key = "no_such_page" if error.status_code in NO_PAGE else error.detail
                return self.page(request, error.status_code, key)
            case OtherVisit():
                return self.page(request, 403, "other_visit")
            case DataError():  # another version was begun, and this server goes on with its own
                LOG.error("Nobody new is let in until the server is started again: %s", error)
                return self.page(request, NOT_NOW, "paused")
        LOG.error("The database refused: %s", error)  # what was stored before is safe
        return self.page(request, NOT_NOW, "not_stored")


PAGES = "stereometer.wings.people.pages"
MOST_BYTES = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "testserver")


@dataclass(frozen=True)
class Limits:
    """Requests per second, and at once: by participant, and by address, which a class may share."""

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
    for kind in (HTTPException, OtherVisit, DataError, DBAPIError):
        app.add_exception_handler(kind, refusals.refused)
    too_often = partial(refusals.page, status=TOO_OFTEN, key="too_often")
    app.add_middleware(AddressLimit, rates=RateLimit(*limits.address), refuse=too_often)
    app.add_middleware(BodyLimit, most=MOST_BYTES)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(SecurityHeaders)
    return app


def participation_of(folder: Path, database: str | None = None) -> Participation:
    study = open_study(folder)
    return Participation(study, open_database(study.folder, database))


@verb
def serve(
    folder: Folder,
    *,
    host: Annotated[str, "Address to listen on; only this machine can reach the default."] = (
        "127.0.0.1"
    ),
    port: Annotated[int, "Port to listen on."] = 8000,
    name: Annotated[Sequence[str], "Host name that people use; may be repeated."] = (),
    database: Database = None,
    https: Annotated[bool, "People come over HTTPS, through a proxy: send secure cookies."] = False,
    proxy: Annotated[
        Sequence[str], "Address of a proxy whose forwarded addresses are trusted; may be repeated."
    ] = (),
    announce: Callable[[str], None] = LOG.warning,
) -> None:
    """Serve a study until it is stopped; `announce` gets its addresses."""
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback and not name:
        raise UsageError(
            f"--host {host} lets other machines in. The study must know the name they use, so that "
            "nobody can pretend to be it. Add --name study.example.org."
        )
    study = open_study(folder)
    token = None if read_secrets(study.folder).admin_hash else new_admin_token(study.folder)
    render_everything(study)
    participation = Participation(study, open_answers(study, database))
    address = f"http{'s' if https else ''}://{name[0] if name else f'{host}:{port}'}"
    announce(f"{study.config.title}: {address}")
    announce(f"Researcher's page: {address}/admin")
    if token:
        announce(f"Its token, shown only now: {token}")
    app = make_app(participation, (*LOOPBACK, host, *name), https)
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        server_header=False,
        proxy_headers=bool(proxy),
        forwarded_allow_ips=list(proxy),
    )
