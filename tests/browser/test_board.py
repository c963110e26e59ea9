"""The board in a real browser: it opens from the disk, is filtered, and fits a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.wings.board.site import build
from tests.browser.test_accessible import violations
from tests.builders.pages import CHROMIUM, opened, overflow

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("board")
    for model in ("fake", "ideal"):
        stereometer.run("starter", model=model, resamples=100, out=home / "runs", cache=False)
    build(home / "runs", output=home / "site")
    return home / "site"


def rows(page: Any) -> int:
    return int(page.locator(".ranked tbody tr:visible").count())


def test_it_opens_from_the_disk_and_asks_for_nothing(browser: Any, site: Path) -> None:
    shown = opened(browser, site / "index.html")
    assert shown.complaints == []
    assert shown.requests == [(site / "index.html").as_uri()]
    assert shown.page.locator(".chart svg path").count() > 1
    shown.page.get_by_role("link", name="fake").first.click()
    shown.page.get_by_role("heading", level=1, name="fake", exact=True).wait_for()
    assert shown.page.locator("summary", has_text="By slice").count() == 2
    shown.page.close()


def test_filters_leave_what_was_asked_for(browser: Any, site: Path) -> None:
    page = opened(browser, site / "index.html").page
    assert rows(page) == 4
    page.get_by_label("Model", exact=True).fill("IDE")
    assert rows(page) == 2
    page.get_by_label("Measure", exact=True).select_option(index=1)
    assert rows(page) == 1
    assert page.locator("section.table:visible").count() == 1
    assert "1 row in 1 table" in page.locator("#filter-status").inner_text()
    page.get_by_label("Scoring", exact=True).select_option(label="computed")
    assert rows(page) == 0
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone(browser: Any, site: Path, scheme: str) -> None:
    for file in (site / "index.html", next((site / "models").iterdir())):
        look = {"viewport": {"width": 360, "height": 740}, "color_scheme": scheme}
        page = opened(browser, file, **look).page
        assert overflow(page) <= 0
        page.close()


def test_without_javascript_the_tables_are_there(browser: Any, site: Path) -> None:
    page = opened(browser, site / "index.html", java_script_enabled=False).page
    assert rows(page) == 4
    assert not page.locator("#filters").is_visible()
    page.close()


def test_axe_finds_nothing_to_mend(browser: Any, site: Path) -> None:
    for file in (site / "index.html", next((site / "models").iterdir())):
        page = opened(browser, file).page
        assert violations(page) == []
        page.close()
