"""Every kind of study in a real browser: by keyboard, on a phone, in the dark, without script, sent
twice, back, reloaded, and in two tabs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from stereometer.wings.people.database import answers, open_database
from stereometer.wings.people.kinds import KINDS
from stereometer.wings.people.new import new_study
from stereometer.wings.people.study import Study
from tests.builders.studies import set_toml, small_survey
from tests.builders.visits import PHONE, Visit, served, small_study

pytestmark = pytest.mark.browser
TASKS = {
    "survey": "rate-1",
    "write-cats": "write-1",
    "validate-cats": "label-1",
    "write-pairs": "write-1",
    "validate-pairs": "judge-1",
}
"""The first page of each kind that is about a group, term or item."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Study, str]]]:
    """A study of each kind and its address, served as long as this file is tested."""
    folder = tmp_path_factory.mktemp("studies")
    with ExitStack() as stack:
        studies = {kind: small_study(kind, folder / kind) for kind in KINDS}
        yield {kind: (study, stack.enter_context(served(study))) for kind, study in studies.items()}


@pytest.fixture(params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def study(house: dict[str, tuple[Study, str]], kind: str) -> Study:
    return house[kind][0]


@pytest.fixture
def address(house: dict[str, tuple[Study, str]], kind: str) -> str:
    return house[kind][1]


def stored(study: Study) -> int:
    database = open_database(study.folder)
    with database.read() as connection:
        number = connection.execute(select(func.count()).select_from(answers)).scalar()
    database.close()
    return int(number or 0)


def new_page(browser: Any, **settings: Any) -> Any:
    page = browser.new_context(locale="en-US", **settings).new_page()
    page.set_default_timeout(120_000)
    return page


def test_a_study_is_done_by_keyboard_on_a_phone_in_the_dark(
    browser: Any, study: Study, address: str
) -> None:
    faults: list[str] = []
    page = new_page(browser, viewport=PHONE, color_scheme="dark")
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda line: faults.append(line.text))
    for name in Visit(page, address).pages():
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
    assert page.get_by_text(study.config.codes.complete).is_visible()
    assert faults == []
    page.context.close()


def test_a_study_is_done_without_script(browser: Any, study: Study, address: str) -> None:
    page = new_page(browser, java_script_enabled=False)
    for _ in Visit(page, address).pages():
        assert page.locator("input[type=range]").count() == 0
    assert page.get_by_text(study.config.codes.complete).is_visible()
    page.context.close()


def test_back_reload_double_submit_and_a_second_tab_store_nothing_twice(
    browser: Any, kind: str, study: Study, address: str
) -> None:
    page = new_page(browser)
    visit = Visit(page, address)
    visit.until(TASKS[kind])
    other = page.context.new_page()
    other.goto(f"{address}/page")
    before = stored(study)
    visit.answer(double=True)
    Visit(other, address, visit.group).answer()
    due = visit.name()
    page.go_back()
    page.reload()
    page.goto(f"{address}/page")
    assert visit.name() == Visit(other, address).name() == due
    assert due != TASKS[kind]
    assert stored(study) == before + 1
    page.context.close()


def test_what_is_missing_is_said_beside_its_field_which_has_the_focus(
    browser: Any, kind: str, address: str
) -> None:
    page = new_page(browser, viewport=PHONE)
    visit = Visit(page, address)
    visit.until(TASKS[kind])
    with page.expect_navigation():
        page.get_by_role("button", name="Continue").press("Enter")
    assert visit.name() == TASKS[kind]
    assert page.title().startswith("Error: ")
    first = page.locator(".complaints a").first.get_attribute("href").removeprefix("#f-")
    assert page.evaluate("document.activeElement.id") == f"f-{first}"
    beside = page.locator(f"#c-{first}")
    assert beside.bounding_box()["y"] < PHONE["height"]
    assert page.locator(f"[aria-describedby=c-{first}]").first.is_visible()
    page.context.close()


@pytest.mark.parametrize("kind", ["survey"])
def test_a_slider_has_a_name_and_no_value_until_it_is_touched(browser: Any, address: str) -> None:
    page = new_page(browser)
    Visit(page, address).until("rate-1")
    slider, number = page.get_by_role("slider").first, page.locator("input[type=number]").first
    scales = page.locator(".scales").aria_snapshot()
    assert "powerless to powerful" in scales or "powerful to powerless" in scales
    middle = slider.evaluate("each => getComputedStyle(each).background")
    assert re.search(r"linear-gradient.* 50% 50% / 2px", middle), "it is marked"
    assert number.input_value() == ""
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    slider.focus()
    page.keyboard.press("Space")
    assert number.input_value() == "50"
    assert slider.get_attribute("aria-valuetext") is None
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert number.input_value() == "1"
    page.keyboard.press("End")
    assert (slider.input_value(), number.input_value()) == ("100", "100")
    page.context.close()


@pytest.mark.parametrize("kind", ["survey"])
def test_a_slider_takes_a_touch_and_a_number(browser: Any, address: str) -> None:
    page = new_page(browser, viewport=PHONE, has_touch=True)
    Visit(page, address).until("rate-1")
    first, second = page.get_by_role("slider").all()[:2]
    numbers = page.locator("input[type=number]").all()
    box = first.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert numbers[0].input_value() == "50"
    numbers[1].fill("12")
    assert second.input_value() == "12"
    assert "untouched" not in second.get_attribute("class")
    numbers[1].fill("")
    assert second.get_attribute("aria-valuetext") == "not answered yet"
    page.context.close()


@pytest.mark.parametrize("kind", ["write-cats"])
def test_previews_come_while_typing_or_after_a_submit(browser: Any, address: str) -> None:
    for script in (True, False):
        page = new_page(browser, java_script_enabled=script)
        Visit(page, address).until("write-1")
        term = page.locator("h1 strong").inner_text()
        page.locator("[name=context]").fill(f"The {term} was BLANK.")
        page.locator("[name=stereotype]").fill("quiet")
        if not script:
            with page.expect_navigation():
                page.get_by_role("button", name="Preview").press("Enter")
        shown = page.locator(".filled[data-for=stereotype]").inner_text()
        assert shown in (f"The {term} was quiet.", f"The {term} was BLANK. quiet")
        assert page.locator(".complaint").count() == 0
        page.context.close()


@pytest.mark.parametrize("kind", ["write-pairs"])
def test_the_distance_comes_while_typing_or_after_a_submit(browser: Any, address: str) -> None:
    for script in (True, False):
        page = new_page(browser, java_script_enabled=script)
        Visit(page, address).until("write-1")
        page.locator("[name=first]").fill("The old man lost his phone.")
        page.keyboard.press("Tab")
        copied = "The old man lost his phone." if script else ""
        assert page.locator("[name=second]").input_value() == copied
        page.locator("[name=second]").fill("The young man lost his phone.")
        if not script:
            with page.expect_navigation():
                page.get_by_role("button", name="Count the changes").press("Enter")
        assert page.locator(".distance").inner_text().startswith("Characters changed: 4.")
        page.context.close()


@pytest.mark.parametrize("kind", ["write-cats"])
def test_enter_in_a_text_field_sends_the_form(browser: Any, address: str) -> None:
    page = new_page(browser)
    Visit(page, address).until("write-1")
    with page.expect_navigation():
        page.locator("[name=context]").press("Enter")
    assert page.locator(".complaints").is_visible()
    page.context.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_page_scrolls_sideways_on_a_small_phone(
    browser: Any, tmp_path: Path, language: str
) -> None:
    """With all sixteen scales, at 320 px: the poles wrap, and the middle of a line is marked."""
    study = set_toml(
        new_study("survey", tmp_path / "s", languages=(language,)).folder, per_person=2
    )
    with served(study) as address:
        page = new_page(browser, viewport={"width": 320, "height": 640})
        for name in Visit(page, address).pages():
            assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
            if name == "rate-1":
                first = page.get_by_role("slider").first
                drawn = first.evaluate("line => getComputedStyle(line).backgroundImage")
                assert "gradient" in drawn
        page.context.close()


def test_a_survey_in_german_is_german_throughout(browser: Any, tmp_path: Path) -> None:
    with served(small_survey(tmp_path / "s", languages=("en", "de"), per_person=2)) as address:
        page = new_page(browser)
        page.goto(address)
        page.get_by_role("link", name="Deutsch").click()
        page.locator("html[lang=de]").wait_for()
        page.get_by_role("heading", name="Wie Gruppen gesehen werden").wait_for()
        assert page.get_by_text("2,00 USD").is_visible()
        visit, seen = Visit(page, address), []
        for name in visit.pages(arrived=True):
            seen.append(name)
            assert page.locator("html").get_attribute("lang") == "de"
            if name == "rate-1":
                with page.expect_navigation():
                    page.get_by_role("button", name="Weiter").press("Enter")
                assert page.get_by_text("Bitte beantworten Sie jede Skala.").first.is_visible()
                untouched = page.get_by_role("slider").first.get_attribute("aria-valuetext")
                assert untouched == "noch nicht beantwortet"
                page.goto(f"{address}/page")
        assert page.get_by_role("heading", name="Vielen Dank!").is_visible()
        assert seen[-3:] == ["demographics", "comments", "end"]
        page.goto(f"{address}/nowhere")
        assert page.get_by_text("Diese Seite gibt es nicht.").is_visible()
        page.context.close()
