"""Templates with everything escaped, and what all pages are given."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from stereometer.studies.study import Study
from stereometer.studies.texts import Texts


@cache
def environment() -> Environment:
    return Environment(
        loader=PackageLoader("stereometer.studies.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(
    study: Study, texts: Texts, template: str, status: int = 200, **values: Any
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
