"""What people see when a page cannot be shown, in their language."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from stereometer.studies.pages.participant import FORM_EXPIRED
from stereometer.studies.pages.templating import page as render
from stereometer.studies.pages.visitor import Cookies, wanted_language
from stereometer.studies.study import Study

NO_PAGE = (404, 405)


def error_page(
    study: Study, cookies: Cookies
) -> Callable[[Request, Exception], Awaitable[Response]]:
    """A handler of refusals; the detail of a refusal names one of the study's words."""

    async def shown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        visitor = cookies.read(request)
        known = visitor.language if visitor else ""
        texts = study.texts(known or wanted_language(request, study.config.languages))
        key = "no_such_page" if error.status_code in NO_PAGE else error.detail
        notice = texts.words.get(key, key)
        again = key == FORM_EXPIRED
        return render(study, texts, "notice.html", error.status_code, notice=notice, again=again)

    return shown
