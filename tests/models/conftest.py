"""The zoo of tiny models; without torch there is nothing to collect here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.models.zoo import Zoo

collect_ignore_glob = [] if find_spec("torch") and find_spec("transformers") else ["test_*.py"]
"""Language models are an optional part of the package."""


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    from tests.models.zoo import Zoo

    return Zoo(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hub, no progress bars."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TQDM_DISABLE", "1")
