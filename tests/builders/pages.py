"""Report pages in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


CHROMIUM = shutil.which("chromium")


FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CATs by a fake model, a coin and one without lms; pairs by the fake model and an ideal."""
    home = tmp_path_factory.mktemp("report")
    chosen = {
        "cat-pseudo-likelihood": ("fake", "random", "stereotyped"),
        "pair-likelihood": ("fake", "ideal"),
    }
    places = [
        (home / f"{model}-{measure}", model, measure)
        for measure, models in chosen.items()
        for model in models
    ]
    for place, model, measure in places:
        stereometer.run(
            "starter", model=model, measure=[measure], resamples=100, out=place, cache=False
        )
    return write_report([place for place, _, _ in places], home / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=180_000)
        yield found
        found.close()


@dataclass
class Opened:
    """A page and all that it complained of or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def opened(browser: Any, report: Path, **settings: Any) -> Opened:
    page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | settings))
    page.set_default_timeout(120_000)
    found = Opened(page)
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(report.as_uri())
    if settings.get("java_script_enabled", True):
        page.wait_for_function(
            "[...document.querySelectorAll('.chart')].every((box) => box.dataset.drawn)"
        )
    return found


@pytest.fixture
def found(browser: Any, report: Path) -> Iterator[Opened]:
    one = opened(browser, report)
    yield one
    one.page.close()


def unfold(page: Any) -> None:
    page.evaluate("document.querySelectorAll('.fold').forEach((fold) => { fold.open = true; })")


def overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))
