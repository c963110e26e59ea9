"""Fewer orders of groups than users get: each of these tests would show a fault with a few."""

from __future__ import annotations

import pytest

from stereometer.kinds.traits.align import agreement


@pytest.fixture(autouse=True)
def few_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as six groups have."""
    monkeypatch.setattr(agreement, "ORDERS", 720)
