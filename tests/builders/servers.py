"""Servers that misbehave, and backends opened on them."""

from __future__ import annotations

from typing import Any

from stereometer.runs.open import open_model
from stereometer.types import Generate
from tests.unit.backends.server.conftest import Stub


def opened(stub: Stub, **options: Any) -> Any:
    """With time enough that a busy machine never runs into it."""
    return open_model(
        f"server:{stub.url}#parrot",
        0,
        {"timeout": 30.0, "in_flight": 4, "wait_initial": 0.01, **options},
    )


def some(count: int = 3, **fields: Any) -> dict[str, Generate]:
    found = [Generate(f"Question {at}", **fields) for at in range(count)]
    return {one.key: one for one in found}
