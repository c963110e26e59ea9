"""What ensembles, relations and audits add to the report, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.report import write_report
from stereometer.wings.curation.audit import audit
from stereometer.wings.relations.ensemble.combine import ensemble as combine

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from tests.builders.pages import CHROMIUM, Opened, opened, overflow, unfold

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six coins and their ensemble on the starter set, sizes known of most, two of them audited."""
    home = tmp_path_factory.mktemp("systems")
    places = [home / f"coin-{seed}" for seed in range(6)]
    for seed, place in enumerate(places):
        stereometer.run(
            "starter",
            model="random",
            measure=["cat-likelihood"],
            seed=seed,
            resamples=100,
            out=place,
            cache=False,
        )
    places.append(combine(*places[:3], resamples=100, out=home / "ensemble").folder)
    audit("starter", run=places[:2], resamples=100)
    (home / "facts.csv").write_text(
        "system,parameters,corpus_gb\nrandom,1000000,\nensemble,3000000,2\n"
    )
    return write_report(places, home / "report.html", home / "facts.csv")


@pytest.fixture
def found(browser: Any, report: Path) -> Iterator[Opened]:
    one = opened(browser, report)
    unfold(one.page)
    yield one
    one.page.close()


def test_systems_are_marks_against_lms_and_against_size(found: Opened) -> None:
    box = found.page.locator("#s1-relation")
    assert "ss with lms: rho" in box.get_attribute("aria-label")
    assert box.locator("svg .mark-symbol path").count() == 7
    chooser = found.page.get_by_label("Shown", exact=True)
    chooser.select_option(label="ss against size")
    found.page.wait_for_function("document.getElementById('s1-relation').dataset.drawn === '2'")
    assert "parameters, millions" in box.inner_text()
    assert "ss with size" in box.get_attribute("aria-label")
    assert found.complaints == []


def test_audited_systems_stand_on_all_and_on_clean_items(found: Opened) -> None:
    box = found.page.locator("#s1-clean")
    text = box.inner_text()
    assert text.count("all items") == text.count("clean items") == 2
    assert box.locator("svg .mark-symbol path").count() >= 4  # and a dot inside some
    section = found.page.locator("#s1-clean-figure")
    section.locator("summary").nth(1).click()
    assert section.get_by_text("BLANK is nowhere a word by itself").first.is_visible()


def test_a_telephone_shows_all_of_it(browser: Any, report: Path) -> None:
    page = opened(browser, report, viewport={"width": 380, "height": 800}).page
    assert overflow(page) <= 0
    page.close()
