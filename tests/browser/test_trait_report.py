"""Groups and traits in a real browser: drawn, chosen by group, narrow and wide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stereometer.report import write_report
from tests.builders.pages import CHROMIUM, FLAGS, opened, overflow, playwright, unfold
from tests.builders.trait_pages import trait_runs

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("report")
    return write_report(list(trait_runs(home).values()), home / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=180_000)
        yield found
        found.close()


def test_all_pictures_are_drawn_without_a_complaint(browser: Any, report: Path) -> None:
    found = opened(browser, report)
    assert found.complaints == []
    assert found.requests == [report.as_uri()]
    charts = found.page.locator(".chart")
    assert charts.count() == 5
    for chart in charts.all():
        assert chart.locator("svg path, svg line").count() > 5
        assert len(chart.get_attribute("aria-label")) > 40
    found.page.close()


def test_a_group_is_chosen(browser: Any, report: Path) -> None:
    page = opened(browser, report).page
    unfold(page)
    page.locator("#s1-profile-choice").select_option(label="elderly")
    page.wait_for_function("document.getElementById('s1-profile').dataset.drawn === '2'")
    assert page.locator("#s1-profile").get_attribute("aria-label").startswith("Profile of elderly")
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_over_the_edge(browser: Any, report: Path, width: int) -> None:
    page = opened(browser, report, viewport={"width": width, "height": 900}).page
    assert overflow(page) <= 0
    page.close()
