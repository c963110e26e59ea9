"""Where tests find data, a home of their own for caches and user folders, and what was skipped."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.builders.models.zoo import Zoo

pytest_plugins = ("pytester",)
os.environ["HF_HUB_OFFLINE"] = "1"  # read once, where huggingface_hub is first imported
os.environ["TQDM_DISABLE"] = "1"
# The same examples everywhere; STEREOMETER_EXPLORE=1 draws new ones.
settings.register_profile(
    "any machine",
    deadline=None,
    derandomize="STEREOMETER_EXPLORE" not in os.environ,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")
# A shell that starts this in the background has it ignore SIGINT, and so would what tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's cache, data folder or working folder, or depends on
    the width of a terminal."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("STEREOMETER_CACHE", str(home / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg-cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that was written a moment ago is known by its files, as an older one is."""
    monkeypatch.setattr("stereometer.models.local.files.AT_REST", 0)


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """Tiny models of many families; needs torch and transformers."""
    pytest.importorskip("transformers")
    from tests.builders.models.zoo import Zoo

    return Zoo(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="session")
def local() -> Any:
    """A real model in this process;"""
    return default_model("smollm2-135m")


@pytest.fixture(scope="session")
def served(local: Any) -> Iterator[str]:
    """the same behind our own server."""
    from tests.builders.served import running

    with running(local) as server:
        yield server.url


def released(relative: str) -> Path:
    """A file of the released data, or a skip that says what is missing."""
    folder = os.environ.get("STEREOMETER_DATA")
    if not folder:
        pytest.skip("STEREOMETER_DATA is not set")
    path = Path(folder) / relative
    if not path.exists():
        pytest.skip(f"STEREOMETER_DATA has no {relative}")
    return path


CACHES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
"""Read before tests get a home of their own."""


def default_model(name: str) -> Any:
    """A default model where it is on this machine, otherwise a skip that says so."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        pytest.skip("torch and transformers are not installed")
    from stereometer.core import catalog
    from stereometer.core.runs.open import open_model

    os.environ.setdefault("STEREOMETER_MODELS", str(CACHES / "stereometer" / "models"))
    model = catalog.find("model", name)
    if model.source is None and not model.folder.exists():
        pytest.skip(f"{name} is not on this machine: `stereometer model add {name}`")
    return open_model(name, options={"threads": 1})


EXCUSED = "no docker engine is running"
"""The Dockerfile is built where it can be, and always linted."""


class Skipped:
    """Lists what was skipped and why; with `--no-skips` (`make test-all`) a skip is a failure."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed
        self.reasons: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        if report.skipped and not hasattr(report, "wasxfail") and EXCUSED not in str(reason):
            self.reasons.append(f"{report.nodeid}: {reason}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.reasons and not self.allowed:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        ending = "" if self.allowed or not self.reasons else ", which is a failure here"
        terminalreporter.write_line(f"skipped tests: {len(self.reasons)}{ending}")
        for reason in sorted(self.reasons):
            terminalreporter.write_line(f"  {reason}")


LONG_FOLDERS = {"browser", "golden", "howto", "simulations"}
RARE_BUILDS = {
    *("bert-real-vocabulary", "roberta-space", "albert", "distilbert", "electra", "deberta"),
    *("modernbert", "xlm-roberta", "gemma3", "gemma3-wide", "qwen2", "qwen3", "roberta", "llama"),
}
"""Tiny models that only `make test-all` tries; the others stand for their families."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is left to `make test-all` without saying so itself (decision 29)."""
    for item in items:
        folders = set(item.nodeid.partition("::")[0].split("/"))
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        builds = {value for value in parameters.values() if isinstance(value, str)} & RARE_BUILDS
        if folders & LONG_FOLDERS or builds:
            item.add_marker("long")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test is a failure")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        allowed = not config.getoption("--no-skips")
        config.pluginmanager.register(Skipped(allowed), "skipped-tests")
