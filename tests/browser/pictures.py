"""The pictures of docs/studies.md, made again: python -m tests.browser.pictures docs/images

The folder `my-study` with its rehearsal and `report.html` come from the commands on that page; they
are looked for in the working folder, or in the one named last.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from stereometer.wings.people.new import new_study
from stereometer.wings.people.secrets import new_admin_token
from stereometer.wings.people.study import open_study
from tests.builders.pages import CHROMIUM, FLAGS, unfold
from tests.builders.studies import set_toml
from tests.builders.visits import DESKTOP, PHONE, Visit, served

MOST_BYTES = 120_000


def keep(target: Any, path: Path, **settings: Any) -> None:
    target.screenshot(path=path, **settings)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{path} has {size} bytes, more than {MOST_BYTES}. Cut the picture.")


def new_page(browser: Any, **settings: Any) -> Any:
    return browser.new_context(locale="en-US", **settings).new_page()


def survey_pages(browser: Any, folder: Path, images: Path) -> None:
    """Consent and ratings on a phone, the second in German and in the dark."""
    new_study("survey", folder, languages=("en", "de"))
    with served(set_toml(folder, contact="lab@example.org")) as address:
        page = new_page(browser, viewport=PHONE)
        page.goto(address)
        page.locator("button").last.scroll_into_view_if_needed()
        keep(page, images / "study-consent.png")
        rated(Visit(page, address))
        keep(page, images / "study-rating.png")
        page = new_page(browser, viewport=PHONE, color_scheme="dark")
        page.goto(f"{address}/?lang=de")
        rated(Visit(page, address), arrived=True)
        keep(page, images / "study-rating-german.png")


def rated(visit: Visit, arrived: bool = False) -> None:
    """A page of ratings on which the first four are given."""
    next(name for name in visit.pages(arrived) if name == "rate-1")
    for number, value in zip(
        visit.page.locator("input[type=number]").all(), (72, 64, 38, 81), strict=False
    ):
        number.fill(str(value))
    visit.page.evaluate("document.activeElement.blur()")


def pair_page(browser: Any, folder: Path, images: Path) -> None:
    new_study("write-pairs", folder)
    with served(open_study(folder)) as address:
        page = new_page(browser, viewport=DESKTOP)
        Visit(page, address).until("write-1")
        page.locator("[name=first]").fill("The old man could not find the icon on his phone.")
        page.keyboard.press("Tab")
        page.locator("[name=second]").fill("The young man could not find the icon on his phone.")
        keep(page, images / "study-pair.png")


def admin_page(browser: Any, rehearsal: Path, images: Path) -> None:
    token = new_admin_token(rehearsal)
    with served(open_study(rehearsal)) as address:
        page = new_page(browser, viewport=DESKTOP)
        page.goto(f"{address}/admin")
        page.locator("[name=token]").fill(token)
        page.get_by_role("button", name="Enter").click()
        page.get_by_role("heading", name="Progress").wait_for()
        keep(page, images / "study-admin.png")


def aligned_figure(browser: Any, report: Path, images: Path) -> None:
    page = new_page(browser, viewport=DESKTOP)
    page.goto(report.absolute().as_uri())
    page.wait_for_function(
        "[...document.querySelectorAll('.chart')].every((box) => box.dataset.drawn)"
    )
    unfold(page)
    page.locator("select[id$=-people-choice]").first.select_option(label="elderly")
    page.wait_for_function("document.querySelector('.chart[id$=-people]').dataset.drawn === '2'")
    section = page.locator("section", has=page.locator(".chart[id$=-people]")).last
    keep(section, images / "study-aligned.png")


def main(images: Path, work: Path = Path()) -> None:
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        survey_pages(browser, Path(folder) / "survey", images)
        pair_page(browser, Path(folder) / "pairs", images)
        admin_page(browser, work / "my-study" / "rehearsal", images)
        aligned_figure(browser, work / "report.html", images)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
