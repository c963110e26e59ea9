"""A test that is skipped for want of a program fails the run where the program can be had."""

from __future__ import annotations

import pytest

from tests.conftest import Skipped


def test_only_programs_that_are_named_may_not_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = Skipped()
    skipped.reasons = [
        "a::b: PostgreSQL is not installed: apt-get install postgresql",
        "a::c: nginx is not installed: apt-get install nginx",
        "a::d: torch and transformers are not installed",
    ]
    monkeypatch.delenv("STEREOMETER_NO_SKIP", raising=False)
    assert skipped.inexcusable == []
    monkeypatch.setenv("STEREOMETER_NO_SKIP", "PostgreSQL chromium")
    assert skipped.inexcusable == skipped.reasons[:1]
