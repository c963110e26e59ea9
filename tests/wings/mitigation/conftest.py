"""Tiny models and a text, once a session; without torch there is nothing to collect here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

NEEDED = ("torch", "transformers", "concept_erasure", "sentencex")
collect_ignore_glob = [] if all(map(find_spec, NEEDED)) else ["test_*.py"]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred sentences are enough: tiny models need not be good."""
    from stereometer.wings.mitigation.methods import sentences

    monkeypatch.setattr(sentences, "LEAST", 100)


@pytest.fixture(scope="session")
def shipped() -> Callable[[], Any]:
    """The benchmarks that need no released data, read once."""
    from stereometer.wings.mitigation.methods import sentences

    return cache(sentences._benchmarks.__wrapped__)


@pytest.fixture(autouse=True)
def few_benchmarks(
    request: pytest.FixtureRequest, shipped: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Released data are looked through in test_leaks alone: a second for every text."""
    if not request.module.__name__.endswith("test_leaks"):
        monkeypatch.delenv("STEREOMETER_DATA", raising=False)
        monkeypatch.setattr("stereometer.wings.mitigation.methods.sentences._benchmarks", shipped)


@pytest.fixture(scope="session")
def gendered_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.builders.gendered import text

    return text(tmp_path_factory.mktemp("text") / "text.jsonl")
