"""The digest by which values are told apart."""

from __future__ import annotations

import hashlib
import json


def digest_of(value: object) -> str:
    """The sha256 of a value's canonical JSON; equal values give equal digests on every machine."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
