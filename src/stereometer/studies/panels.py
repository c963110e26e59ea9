"""How people arrive, and how they are told that they have finished: one row per panel."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from itsdangerous import BadSignature, URLSafeSerializer

MOST_CHARACTERS = 128


@dataclass(frozen=True)
class Panel:
    name: str
    parameters: tuple[str, ...]
    """What the panel puts into the address of the study."""
    person: tuple[str, ...]
    """Those of them that say who it is: the same person may come back in another session."""
    signed: bool = False
    """Whether its only parameter is a token of ours."""


PANELS = {
    panel.name: panel
    for panel in (
        Panel("open", (), ()),
        Panel("link", ("invite",), ("invite",), signed=True),
        Panel("prolific", ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"), ("PROLIFIC_PID",)),
        Panel("mechanical-turk", ("workerId", "assignmentId", "hitId"), ("workerId",)),
    )
}


def arrival_ids(panel: Panel, query: Mapping[str, str], session_key: str) -> dict[str, str] | None:
    """The ids of who arrives; None where the address lacks one or it is not ours."""
    if not panel.parameters:
        return {"visit": secrets.token_hex(16)}
    ids = {name: query.get(name, "")[:MOST_CHARACTERS] for name in panel.parameters}
    if not all(value.isprintable() and value.strip() for value in ids.values()):
        return None
    if panel.signed:
        return _invited(ids, session_key)
    return ids


def _invited(ids: Mapping[str, str], session_key: str) -> dict[str, str] | None:
    try:
        number = _invitations(session_key).loads(ids["invite"])
    except BadSignature:
        return None
    return {"invite": str(number)}


def invitation(session_key: str, number: int) -> str:
    """The token of a personal link."""
    return str(_invitations(session_key).dumps(number))


def _invitations(session_key: str) -> URLSafeSerializer:
    return URLSafeSerializer(session_key, salt="invitation")
