"""Signed values that expire, on clocks that may step back."""

from __future__ import annotations

import time
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer


def fresh(signer: URLSafeTimedSerializer, value: str, hours: float) -> Any:
    """What was signed; None where it is not ours or too old. A value from the near future was
    signed before the clock was set back, and is as good as any."""
    try:
        signed, at = signer.loads(value, return_timestamp=True)
    except BadSignature:
        return None
    return signed if abs(time.time() - at.timestamp()) <= 3600 * hours else None
