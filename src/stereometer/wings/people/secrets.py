"""Keys of a study, in a file that only its owner can read, and the personal links they sign."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from itsdangerous import BadSignature, URLSafeSerializer

from stereometer.core.errors import DataError
from stereometer.core.files import read_json
from stereometer.wings.people.config import PANELS, SIGNED

FILE = "secrets.json"
MOST_CHARACTERS = 128
"""Of an id that a panel gives."""
CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True)
class Secrets:
    person_key: str
    """Turns a panel's id into the hash under which answers stand; chained studies share it."""
    session_key: str
    """Signs cookies, forms and personal links."""
    withdrawal_key: str
    admin_hash: str = ""
    """Of the token for the researcher's page."""

    def person(self, panel: str, ids: str) -> str:
        return _keyed(self.person_key, f"{panel}\n{ids}")[:32]

    def withdrawal_code(self, participant: str) -> str:
        number = int(_keyed(self.withdrawal_key, participant), 16)
        letters = []
        for _ in range(12):
            number, at = divmod(number, len(CODE_LETTERS))
            letters.append(CODE_LETTERS[at])
        return "-".join("".join(letters[at : at + 4]) for at in (0, 4, 8))

    def is_admin(self, token: str) -> bool:
        return bool(self.admin_hash) and hmac.compare_digest(admin_hash(token), self.admin_hash)


def _keyed(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def invitation(session_key: str, number: int) -> str:
    """The token of a personal link."""
    return str(_invitations(session_key).dumps(number))


def _invitations(session_key: str) -> URLSafeSerializer:
    return URLSafeSerializer(session_key, salt="invitation")


def arrival_ids(panel: str, query: Mapping[str, str], session_key: str) -> dict[str, str] | None:
    """The ids of who arrives; None where the address lacks one or it is not ours."""
    parameters = PANELS[panel]
    if not parameters:
        return {"visit": secrets.token_hex(16)}
    ids = {name: query.get(name, "")[:MOST_CHARACTERS] for name in parameters}
    if not all(value.isprintable() and value.strip() for value in ids.values()):
        return None
    if panel != SIGNED:
        return ids
    try:
        return {"invite": str(_invitations(session_key).loads(ids["invite"]))}
    except BadSignature:
        return None


def admin_hash(token: str) -> str:
    return hashlib.sha256(b"admin\n" + token.encode()).hexdigest()


def new_secrets(person_key: str | None = None) -> Secrets:
    return Secrets(
        person_key or secrets.token_hex(32), secrets.token_hex(32), secrets.token_hex(32)
    )


def new_admin_token(folder: Path) -> str:
    """A fresh token; only its hash is kept."""
    token = secrets.token_urlsafe(24)
    write_secrets(folder, replace(read_secrets(folder), admin_hash=admin_hash(token)))
    return token


def read_secrets(folder: Path) -> Secrets:
    path = folder / FILE
    value = read_json(path)
    try:
        return Secrets(**value)
    except TypeError:
        raise DataError(
            f"{path} does not hold the keys of a study. Without them nobody can be recognised. "
            "Restore it from a backup."
        ) from None


def write_secrets(folder: Path, keys: Secrets) -> None:
    part = folder / f".{FILE}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(keys), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, folder / FILE)
