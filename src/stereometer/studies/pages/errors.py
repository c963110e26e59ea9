"""What people see when a page cannot be shown, in their language."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from stereometer.studies.pages.showing import notice_page
from stereometer.studies.pages.visitor import Cookies, wanted_language
from stereometer.studies.study import Study

LOG = logging.getLogger("stereometer")
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
        assert isinstance(error, HTTPException)
        key = "no_such_page" if error.status_code in NO_PAGE else error.detail
        return self.page(request, error.status_code, key)

    async def not_stored(self, request: Request, error: Exception) -> Response:
        """The database cannot be reached or written; what was stored before is safe."""
        LOG.error("The database refused: %s", error)
        return self.page(request, NOT_NOW, "not_stored")

    async def changed(self, request: Request, error: Exception) -> Response:
        """Another version was begun while this server goes on with the one before."""
        LOG.error("Nobody new is let in until the server is started again: %s", error)
        return self.page(request, NOT_NOW, "paused")

    async def other_visit(self, request: Request, error: Exception) -> Response:
        return self.page(request, 403, "other_visit")
