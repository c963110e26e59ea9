"""Where tests find data, a home of their own for caches and user folders, and the count of what was
skipped."""

from __future__ import annotations

import os
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

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
    """No test reads or writes the user's cache, data folder or working folder, or hangs on the
    width of a terminal."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("STEREOMETER_CACHE", str(home / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg-cache"))
    monkeypatch.delenv("COLUMNS", raising=False)
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


CACHES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
"""Read before tests get a home of their own."""


def default_model(name: str) -> Any:
    """A default model where it is on this machine, otherwise a skip that says so."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        pytest.skip("torch and transformers are not installed")
    from stereometer import catalog
    from stereometer.runs.open import open_model

    os.environ.setdefault("STEREOMETER_MODELS", str(CACHES / "stereometer" / "models"))
    model = catalog.find("model", name)
    if model.source is None and not model.folder.exists():
        pytest.skip(f"{name} is not on this machine: `stereometer model add {name}`")
    return open_model(name, options={"threads": 1})


class Skipped:
    """Counts skipped tests; where the data are there, a skipped golden test is a failure, and so is
    one that is skipped for want of a program named in STEREOMETER_NO_SKIP."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.golden: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.reasons.append(
                f"{report.nodeid}:"
                f" {report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr}"
            )
            if "golden" in report.keywords:
                self.golden.append(report.nodeid)

    @property
    def inexcusable(self) -> list[str]:
        """What should have run: golden tests beside the data, and those of installed programs."""
        programs = os.environ.get("STEREOMETER_NO_SKIP", "").split()
        wanting = [
            reason
            for reason in self.reasons
            if any(f"{program} is not installed" in reason for program in programs)
            or any(f"{program} cannot be started" in reason for program in programs)
        ]
        return [*(self.golden if os.environ.get("STEREOMETER_DATA") else ()), *wanting]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.inexcusable:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(f"skipped tests: {len(self.reasons)}")
        for reason in self.reasons:
            terminalreporter.write_line(f"  {reason}")
        for reason in self.inexcusable:
            terminalreporter.write_line(
                f"skipped although it could run, which is a failure: {reason}"
            )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skipped(), "skipped-tests")
