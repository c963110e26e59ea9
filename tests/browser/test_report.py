"""The report in a real browser: it loads alone, draws its pictures, and everybody can use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_accessible import violations
from tests.builders.pages import CHROMIUM, Opened, opened, overflow, unfold

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


def shown(page: Any) -> str:
    """What the first browser says it found."""
    return str(page.locator(".browser [role=status]").first.inner_text())


def browse(page: Any) -> None:
    """Opens the first list of items."""
    unfold(page)
    page.get_by_text("Browse the items").first.click()
    page.locator(".browser table").first.wait_for()


def choose(page: Any, label: str, option: str) -> None:
    page.locator(".browser").first.get_by_label(label, exact=True).select_option(label=option)


# ----------------------------------------------------------------------------------------- loading


def test_it_loads_without_a_complaint_and_asks_for_nothing(found: Opened, report: Path) -> None:
    assert found.complaints == []
    assert found.requests == [report.as_uri()]


def test_every_picture_is_drawn_named_and_has_a_table(found: Opened) -> None:
    charts = found.page.locator(".chart")
    # Of CATs two forests, the plane, the differences and the terms; of pairs a forest, the
    # differences and the fake model's confidence.
    assert charts.count() == 8
    for chart in charts.all():
        assert chart.locator("svg path").count() > 1
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 40
        assert chart.locator("xpath=ancestor::section[1]//details//table").count() >= 1


def test_without_javascript_words_and_tables_remain(browser: Any, report: Path) -> None:
    page = opened(browser, report, java_script_enabled=False).page
    assert not page.get_by_text("fake: within 5 points of 50.").first.is_visible()
    page.locator(".matrix a").first.click()
    assert page.get_by_text("fake: within 5 points of 50.").first.is_visible()
    page.locator("details.data summary").first.click()
    assert page.locator("details.data table").first.is_visible()
    assert not page.locator(".chooser").first.is_visible()
    page.close()


# ---------------------------------------------------------------------------------------- pictures


def test_every_picture_can_be_downloaded_with_its_data(found: Opened) -> None:
    page = found.page
    assert page.locator(".downloads").count() == page.locator(".chart").count()
    contents = {}
    for kind in ("SVG", "PNG", "CSV"):
        with page.expect_download() as download:
            page.get_by_label(f"Download this picture as {kind}").first.click()
        contents[kind] = Path(download.value.path()).read_bytes()
        name = download.value.suggested_filename
        assert name.startswith("starter-cat-pseudo-likelihood-fake-random-stereotyped-language")
        assert name.endswith(f".{kind.lower()}")
    assert contents["SVG"].startswith(b"<svg")
    assert b"var(--" not in contents["SVG"]
    assert contents["PNG"].startswith(b"\x89PNG")
    assert b"ss" in contents["CSV"].splitlines()[0]
    assert len(contents["CSV"].splitlines()) > 3
    assert found.complaints == []


def test_wide_tables_say_that_there_is_more(browser: Any, report: Path) -> None:
    page = opened(browser, report, viewport={"width": 390, "height": 844}).page
    wide = page.locator(".scroll.more").first.element_handle()
    assert wide.evaluate("(one) => getComputedStyle(one, '::before').content").startswith('"Scroll')
    wide.evaluate("(one) => { one.scrollLeft = one.scrollWidth; }")
    page.wait_for_function("(one) => !one.classList.contains('more')", arg=wide)
    page.close()


# ------------------------------------------------------------------------------- the first screen


def test_two_screens_hold_the_matrix_the_plane_and_all_headings(found: Opened) -> None:
    page = found.page
    page.set_viewport_size({"width": 1280, "height": 800})
    ends = "(one) => one.getBoundingClientRect().bottom + window.scrollY"
    assert page.locator(".matrix").evaluate(ends) < 800
    assert page.locator(".first .chart").last.evaluate(ends) < 1600
    assert page.locator(".fold").count() == 6
    assert page.locator(".fold[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 2 * 800


def test_a_cell_opens_its_section(found: Opened) -> None:
    page = found.page
    for _ in range(2):  # also when it was closed again
        page.locator(".matrix a[href='#s2']").first.click()
        assert page.locator("#s2 .chart").first.is_visible()
        assert not page.locator("#s1 .chart").first.is_visible()
        page.locator(".fold[open] > summary").click()
    page.goto(f"{page.url.partition('#')[0]}#s1-items-title")
    assert page.locator("#s1 .chart").first.is_visible()


def test_columns_sort_from_the_keyboard_and_empty_cells_come_last(found: Opened) -> None:
    page = found.page
    names = "[...document.querySelectorAll('.matrix tbody th')].map((one) => one.dataset.order)"
    assert page.evaluate(names) == ["fake", "random", "stereotyped", "ideal"]
    head = page.locator(".matrix thead th").nth(1)
    head.get_by_role("button").focus()
    orders = {}
    for way in ("ascending", "descending"):
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == way
        orders[way] = page.evaluate(names)
    assert orders["ascending"][2:] == ["stereotyped", "ideal"]
    assert orders["descending"] == [*reversed(orders["ascending"][:3]), "ideal"]


def test_printing_shows_what_is_folded_but_not_the_tables_behind_pictures(found: Opened) -> None:
    page = found.page
    page.emulate_media(media="print")
    assert page.get_by_text("fake: within 5 points of 50.").first.is_visible()
    assert not page.locator(".data table").first.is_visible()


def test_axe_finds_nothing_to_mend(found: Opened) -> None:
    assert violations(found.page) == []
    unfold(found.page)
    assert violations(found.page) == []


def test_a_choice_draws_another_picture(found: Opened) -> None:
    unfold(found.page)
    select = found.page.locator("select[data-box]").first
    box = found.page.locator(f"#{select.get_attribute('data-box')}")
    before = box.get_attribute("aria-label"), box.locator("svg").get_attribute("height")
    select.select_option(index=1)
    found.page.wait_for_function("(box) => box.dataset.drawn === '2'", arg=box.element_handle())
    assert (box.get_attribute("aria-label"), box.locator("svg").get_attribute("height")) != before


def test_dark_changes_page_and_pictures_and_print_is_light(browser: Any, report: Path) -> None:
    page = opened(browser, report, color_scheme="light").page
    look = (
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('.chart svg text')).fill]"
    )
    light = page.evaluate(look)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(look)
    page.emulate_media(color_scheme="dark", media="print")
    printed = page.evaluate(look)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    assert printed == light
    page.close()


def test_a_narrower_window_redraws(found: Opened) -> None:
    width = "document.querySelector('.chart svg').clientWidth"
    before = found.page.evaluate(width)
    found.page.set_viewport_size({"width": 700, "height": 900})
    found.page.wait_for_function(f"{width} < {before} - 100")
    assert overflow(found.page) <= 0


def test_a_phone_needs_no_sideways_scrolling(browser: Any, report: Path) -> None:
    page = opened(browser, report, viewport={"width": 390, "height": 844}).page
    assert overflow(page) <= 0
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.locator(".reveal").first.click()
    assert overflow(page) <= 0
    assert page.locator(".browser .scroll").first.bounding_box()["height"] <= 844
    assert page.locator(".chart svg").first.bounding_box()["width"] <= 390
    page.close()


# ------------------------------------------------------------------------------------------- items


def test_filters_change_what_is_shown(found: Opened) -> None:
    page = found.page
    browse(page)
    assert shown(page) == "480 of 480 items, showing 1 to 20"
    choose(page, "Task", "intrasentence")
    assert shown(page) == "240 of 480 items, showing 1 to 20"
    choose(page, "Domain", "gender")
    assert shown(page).startswith("40 of 480 items")
    assert page.locator(".items").first.locator("tbody tr").count() == 20
    choose(page, "System", "stereotyped")
    choose(page, "Outcome", "prefers anti-stereotype")
    assert shown(page) == "0 of 480 items"
    choose(page, "Outcome", "prefers stereotype")
    assert shown(page).startswith("40 of 480 items")
    assert found.complaints == []


def test_search_finds_ids_and_texts_only_while_they_are_shown(found: Opened) -> None:
    page, search = found.page, found.page.locator(".browser input[type=search]").first
    browse(page)
    search.fill("starter-intra-001")
    assert shown(page).startswith("1 of 480 items")
    search.fill("card catalogue")
    assert shown(page) == "0 of 480 items"
    page.locator(".browser input[type=checkbox]").first.check()
    assert shown(page).startswith("1 of 480 items")
    assert page.locator(".items").first.locator("tr.texts").count() == 1


def test_pages_turn(found: Opened) -> None:
    page = found.page
    browse(page)
    page.get_by_role("button", name="Next", exact=True).first.click()
    assert shown(page) == "480 of 480 items, showing 21 to 40"
    page.get_by_role("button", name="Last", exact=True).first.click()
    assert shown(page) == "480 of 480 items, showing 461 to 480"
    page.get_by_role("button", name="Next", exact=True).first.click(force=True)
    assert shown(page) == "480 of 480 items, showing 461 to 480"


def test_texts_are_hidden_until_asked_for_and_never_printed(found: Opened) -> None:
    page = found.page
    sentence = "librarian gave the children a stern look"
    assert page.locator(".browser *").count() == 0
    browse(page)
    assert page.get_by_text(sentence).count() == 0
    assert page.get_by_text("Content warning.").first.is_visible()
    button = page.locator(".reveal").first
    button.click()
    assert page.get_by_text(sentence).first.is_visible()
    assert button.get_attribute("aria-expanded") == "true"
    page.emulate_media(media="print")
    assert not page.get_by_text(sentence).first.is_visible()
    page.emulate_media(media="screen")
    button.click()
    assert page.get_by_text(sentence).count() == 0


# ------------------------------------------------------------------------------------ the keyboard


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.className || document.activeElement.tagName"))


def test_the_first_stop_skips_to_the_report(found: Opened) -> None:
    page = found.page
    page.keyboard.press("Tab")
    assert focused(page) == "skip"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_filters_and_reveal_work_from_the_keyboard(found: Opened) -> None:
    page = found.page
    browse(page)
    page.locator(".browser input[type=search]").first.focus()
    page.keyboard.type("starter-inter-00")
    stops = []
    for _ in range(20):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.tagName"))
        if focused(page) == "reveal":
            break
    assert stops.count("SELECT") == 5
    assert "INPUT" in stops
    assert focused(page) == "reveal"
    page.keyboard.press("Enter")
    assert page.locator("tr.texts").count() == 1
    page.keyboard.press("Space")
    assert page.locator("tr.texts").count() == 0
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
