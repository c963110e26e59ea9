"""The digest by which values are told apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
"""Made once: `json.dumps` would make one for every request."""


def digest_of_rows(rows: Iterable[object]) -> str:
    """The digest of a list, of which one entry at a time is held as text."""
    hashed, comma = hashlib.sha256(b"["), b""
    for row in rows:
        hashed.update(comma + _canonical(row))
        comma = b","
    hashed.update(b"]")
    return hashed.hexdigest()


def digest_of(value: object) -> str:
    """The sha256 of a value's canonical JSON; equal values give equal digests on every machine."""
    return hashlib.sha256(_canonical(value)).hexdigest()


def digest_of_file(path: Path) -> str:
    """The sha256 of its bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _canonical(value: object) -> bytes:
    return CANONICAL.encode(value).encode("utf-8", "surrogatepass")
