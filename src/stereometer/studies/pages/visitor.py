"""Who is at the browser: one signed cookie that expires, and the token that forms carry."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

COOKIE = "study"
HOURS = 24


@dataclass(frozen=True)
class Visitor:
    nonce: str
    language: str
    ids: Mapping[str, str] = field(default_factory=dict)
    """The panel's ids, until consent."""
    participant: str = ""

    @staticmethod
    def new(language: str, ids: Mapping[str, str]) -> Visitor:
        return Visitor(secrets.token_urlsafe(16), language, dict(ids))

    def enrolled(self, participant: str) -> Visitor:
        return replace(self, participant=participant, ids={})


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
        try:
            value: dict[str, Any] = self._signer("visit").loads(
                request.cookies.get(COOKIE, ""), max_age=HOURS * 3600
            )
            return Visitor(**value)
        except (BadSignature, TypeError):
            return None

    def write(self, response: Response, visitor: Visitor) -> None:
        value = {
            "nonce": visitor.nonce,
            "language": visitor.language,
            "ids": dict(visitor.ids),
            "participant": visitor.participant,
        }
        response.set_cookie(
            COOKIE,
            str(self._signer("visit").dumps(value)),
            max_age=HOURS * 3600,
            httponly=True,
            samesite="lax",
            secure=self.secure,
        )

    def form_token(self, visitor: Visitor) -> str:
        return str(self._signer("form").dumps(visitor.nonce))

    def is_form_token(self, visitor: Visitor, token: str) -> bool:
        try:
            nonce = self._signer("form").loads(token, max_age=HOURS * 3600)
        except BadSignature:
            return False
        return isinstance(nonce, str) and hmac.compare_digest(nonce, visitor.nonce)

    def _signer(self, salt: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.key, salt=salt)
