"""Where tests find data, and a home of their own for caches and user folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's cache, data folder or working folder."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("STEREOMETER_CACHE", str(home / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg-cache"))
    monkeypatch.chdir(home)
    return home


def released(relative: str) -> Path:
    """A file of the released data, or a skip that says what is missing."""
    folder = os.environ.get("STEREOMETER_DATA")
    if not folder:
        pytest.skip("STEREOMETER_DATA is not set")
    path = Path(folder) / relative
    if not path.exists():
        pytest.skip(f"STEREOMETER_DATA has no {relative}")
    return path
