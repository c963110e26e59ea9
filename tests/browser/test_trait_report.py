"""Groups and traits in a real browser: drawn without a complaint, chosen by group, narrow and wide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stereometer.findings.align.align import Ask, align
from stereometer.report import write_report
from tests.browser.test_report import CHROMIUM, FLAGS, opened, overflow, playwright
from tests.unit.commands import call
from tests.unit.test_alignment import two_sided
from tests.unit.trait_runs import SETTINGS, stored_run, synthetic_ratings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("report")
    draw = np.random.default_rng(0)
    run = stored_run(home / "profile", lambda template, group, trait: float(draw.normal()))
    ratings = synthetic_ratings(home / "ratings.json", two_sided())
    aligned = align(run, Ask(ratings, SETTINGS), home / "alignment")[1]
    few = (
        "--groups",
        "man,woman,gay,Black,White,Asian,teenager",
        "--templates",
        "the,that",
        "--resamples",
        200,
    )
    call("intersect", "--model", "fake", *few, "--out", home / "met")
    return write_report([run, aligned, home / "met" / "intersection"], home / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
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
    page.locator("#t1-profile-choice").select_option(label="elderly")
    page.wait_for_function("document.getElementById('t1-profile').dataset.drawn === '2'")
    assert page.locator("#t1-profile").get_attribute("aria-label").startswith("Profile of elderly")
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_over_the_edge(browser: Any, report: Path, width: int) -> None:
    page = opened(browser, report, viewport={"width": width, "height": 900}).page
    assert overflow(page) <= 0
    page.close()
