"""Who is at the browser: one signed cookie that expires, and the token that forms carry."""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response


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

    def enrolled(self, participant: str) -> Visitor:
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
