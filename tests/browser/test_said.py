"""What models said of comments, beside other kinds of runs, in a real browser."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.report import write_report
from tests.builders.pages import FLAGS, unfold

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fake model on comments of our own: yes and no can be read, and few-shot answers cannot."""
    home = tmp_path_factory.mktemp("said")
    with (home / "own.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["comment", "label"])
        rows.writerows(
            [f"Sentence <b>{at}</b>.", ("rude", "kind", "neither", "neither")[at % 4]]
            for at in range(160)
        )
    own, runs = str(home / "own.csv"), home / "runs"
    stereometer.ask(own, model="fake", size=5, repeats=3, resamples=100, out=runs)
    pair: dict[str, Any] = {"measure": ["pair-likelihood"], "resamples": 100, "cache": False}
    stereometer.run("starter", model="fake", out=home / "pairs", **pair)
    return write_report([runs, home / "pairs"], home / "said.html")


@pytest.fixture(scope="module")
def page(report: Path) -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=180_000)
        found = browser.new_page(viewport={"width": 1200, "height": 900})
        found.set_default_timeout(120_000)
        found.problems = []
        found.on("console", lambda message: found.problems.append(message.text))
        found.on(
            "request",
            lambda request: (
                found.problems.append(request.url)
                if not request.url.startswith(("file:", "data:"))
                else None
            ),
        )
        found.goto(report.as_uri())
        found.wait_for_function(
            "[...document.querySelectorAll('.chart')].every((box) => box.dataset.drawn)"
        )
        yield found
        browser.close()


def test_it_loads_alone_and_says_the_verdict_first(page: Any) -> None:
    assert page.problems == []
    verdicts = page.locator(".matrix").inner_text()
    assert "not distinguishable from chance" in verdicts
    assert "no score" in verdicts
    assert page.locator(".matrix thead th").count() == 7  # five settings and the pairs
    assert page.locator(".matrix tbody tr").count() == 1


def test_kinds_mix_on_one_page(page: Any) -> None:
    unfold(page)
    titles = page.locator("main > .fold h2").all_inner_texts()
    assert [title.split(" ")[0] for title in titles[:2]] == ["Own", "Starter"]
    assert page.locator("#s2-pair_preference-title").is_visible()


def test_chance_coverage_and_example_sets_are_drawn(page: Any) -> None:
    # Overall and two categories of the two settings that could be read.
    assert page.locator("#s1-balanced_accuracy svg .mark-symbol path").count() >= 6
    assert "chance 50" in page.locator("#s1-balanced_accuracy").inner_text()
    assert page.locator("#s1-coverage-0 svg .mark-rect path").count() >= 5
    # Ten sets, with and without instruction, none of which could be read.
    assert page.locator("#s1-matches-0").inner_text().count("no score") >= 20


def test_answers_wait_behind_a_click_and_comments_are_not_there(page: Any, report: Path) -> None:
    assert "Sentence" not in report.read_text("utf-8")
    details = page.locator("details.data", has_text="Out-of-scope").first
    if details.count():
        assert details.get_attribute("open") is None
        details.locator("summary").click()
        assert details.locator("tbody th").first.is_visible()


def test_it_fits_a_narrow_window(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1")
