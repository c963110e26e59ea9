"""axe-core finds nothing to mend on any page of a study, light or dark, on a phone or a desktop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stereometer.wings.people.kinds import KINDS
from stereometer.wings.people.secrets import new_admin_token
from stereometer.wings.people.study import open_study
from stereometer.wings.serving.limits import POLICY
from tests.builders.visits import DESKTOP, PHONE, Visit, served, small_study

pytestmark = pytest.mark.browser
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
RUN = """(rules) => axe.run(document, {
  ...(rules.length ? { runOnly: { type: "rule", values: rules } } : {}),
  rules: { "target-size": { enabled: true } },
  resultTypes: ["violations"],
}).then((result) => result.violations.map(
  (rule) => `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.html.slice(0, 200))}`))"""
DRAWN = ["color-contrast", "target-size", "scrollable-region-focusable"]
"""Rules whose outcome depends on colours and sizes; the others see the same page in every view."""
VIEWS: tuple[tuple[dict[str, int], str, list[str]], ...] = (
    (DESKTOP, "light", []),
    (DESKTOP, "dark", DRAWN),
    (PHONE, "light", DRAWN),
    (PHONE, "dark", DRAWN),
)


def violations(page: Any) -> list[str]:
    """The page keeps its content-security policy: axe comes in through the debugger."""
    page.evaluate(AXE)
    wrong = []
    for size, scheme, rules in VIEWS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        wrong += [f"{scheme} {size['width']}: {each}" for each in page.evaluate(RUN, rules)]
    return wrong


def opened(browser: Any, address: str) -> Any:
    page = browser.new_context(locale="en-US").new_page()
    page.set_default_timeout(120_000)
    assert page.goto(address).headers["content-security-policy"] == POLICY
    return page


def refused(page: Any) -> None:
    with page.expect_navigation():
        page.locator("button[value=send]").press("Enter")


def test_axe_finds_what_is_wrong(browser: Any) -> None:
    page = browser.new_page()
    page.set_content("<title>t</title><main><h1>h</h1><input><img src='data:,'></main>")
    found = " ".join(violations(page))
    assert "label:" in found
    assert "image-alt:" in found
    page.context.close()


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_page_of_a_kind_is_accessible(browser: Any, kind: str, tmp_path: Path) -> None:
    seen: set[str] = set()
    with served(small_study(kind, tmp_path / "s")) as address:
        page = opened(browser, address)
        for name in Visit(page, address).pages():
            if (family := name.split("-")[0]) not in seen or name.startswith("check"):
                assert violations(page) == [], name
            if family not in seen and page.locator("[required]").count():
                refused(page)
                assert violations(page) == [], f"{name}, refused"
                page.goto(f"{address}/page")
            seen.add(family)
        page.context.close()


def test_endings_errors_and_the_researchers_page_are_accessible(
    browser: Any, tmp_path: Path
) -> None:
    study = small_study("survey", tmp_path / "s")
    token = new_admin_token(study.folder)
    with served(open_study(study.folder)) as address:
        page = opened(browser, address)
        for name, go in ENDINGS.items():
            go(page, address, token)
            assert violations(page) == [], name
        page.context.close()


def _leave(page: Any, address: str, token: str) -> None:
    Visit(page, address).until("rate-1")
    page.goto(f"{address}/leave")


def _left(page: Any, address: str, token: str) -> None:
    page.get_by_role("button", name="Leave now").click()
    page.get_by_role("heading", name="You have left the study").wait_for()


def _declined(page: Any, address: str, token: str) -> None:
    page.context.clear_cookies()  # somebody else
    page.goto(address)
    page.get_by_role("button", name="I do not want").click()
    page.get_by_role("heading", name="Thank you for your time").wait_for()


def _failed(page: Any, address: str, token: str) -> None:
    visit = Visit(page, address)
    for name in visit.pages():
        if name == "check-name":
            visit.group = "something else"
    page.get_by_text("attention checks").wait_for()


def _no_page(page: Any, address: str, token: str) -> None:
    assert page.goto(f"{address}/nowhere").status == 404


def _no_visit(page: Any, address: str, token: str) -> None:
    page.context.clear_cookies()
    assert page.goto(f"{address}/page").status == 403


def _wrong_token(page: Any, address: str, token: str) -> None:
    page.goto(f"{address}/admin")
    page.locator("[name=token]").fill("wrong")
    page.get_by_role("button", name="Enter").click()
    page.get_by_role("alert").wait_for()


def _admin(page: Any, address: str, token: str) -> None:
    page.goto(f"{address}/admin")
    page.locator("[name=token]").fill(token)
    page.get_by_role("button", name="Enter").click()
    page.get_by_role("heading", name="Progress").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")


ENDINGS = {
    "leave": _leave,
    "left": _left,
    "declined": _declined,
    "failed": _failed,
    "no page": _no_page,
    "no visit": _no_visit,
    "wrong token": _wrong_token,
    "admin": _admin,
}
