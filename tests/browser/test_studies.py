"""Studies in a real browser: by keyboard on a phone, without script, sent twice, and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from sqlalchemy import func, select

from stereometer.studies.database import answers, open_database
from stereometer.studies.study import Study
from tests.builders.studies import app_of, small_survey

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return small_survey(tmp_path / "s", per_person=2)


@pytest.fixture
def address(study: Study) -> Iterator[str]:
    config = uvicorn.Config(app_of(study), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def stored(study: Study) -> int:
    database = open_database(study.folder)
    with database.read() as connection:
        number = connection.execute(select(func.count()).select_from(answers)).scalar()
    database.close()
    return int(number or 0)


def send(page: Any, button: str = "Continue") -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=button).press("Enter")


def begin(page: Any, address: str) -> None:
    page.goto(address)
    send(page, "I agree")
    send(page)


def rate_by_keyboard(page: Any) -> None:
    for slider in page.locator("input[type=range]").all():
        slider.focus()
        page.keyboard.press("ArrowRight")
    send(page)


def test_a_survey_is_done_by_keyboard_on_a_phone_in_the_dark(
    browser: Any, study: Study, address: str
) -> None:
    faults: list[str] = []
    page = browser.new_context(viewport=PHONE, color_scheme="dark").new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text))
    begin(page, address)
    group = page.locator("h1").inner_text()
    rate_by_keyboard(page)
    page.locator("[name=name]").fill(group)
    send(page)
    rate_by_keyboard(page)
    page.locator("[name=high]").select_option("t0")
    page.locator("[name=low]").select_option("none")
    send(page)
    rate_by_keyboard(page)
    for _ in ("demographics", "comments"):
        send(page)
    assert page.get_by_text(study.config.codes.complete).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert faults == []


def test_a_slider_has_no_value_until_it_is_touched(browser: Any, address: str) -> None:
    page = browser.new_page()
    begin(page, address)
    slider = page.locator("input[type=range]").first
    number = page.locator("input[type=number]").first
    assert number.input_value() == ""
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    slider.focus()
    page.keyboard.press("Space")
    assert number.input_value() == "50"
    assert slider.get_attribute("aria-valuetext") is None


def test_without_script_ratings_are_number_fields(browser: Any, study: Study, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    begin(page, address)
    assert page.locator("input[type=range]").count() == 0
    for number in page.locator("input[type=number]").all():
        number.fill("70")
    send(page)
    assert page.locator("[name=name]").is_visible()
    assert stored(study) == 2


def test_back_reload_and_a_second_tab_store_nothing_twice(
    browser: Any, study: Study, address: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    begin(page, address)
    other = context.new_page()
    other.goto(f"{address}/page")
    rate_by_keyboard(page)
    rate_by_keyboard(other)
    page.go_back()
    page.goto(f"{address}/page")
    page.reload()
    assert page.locator("[name=name]").is_visible()
    assert stored(study) == 2
