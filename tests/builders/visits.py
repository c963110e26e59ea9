"""People at a real browser who go through a study's pages with the keyboard alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from stereometer.wings.people.new import new_study
from stereometer.wings.people.study import Study
from tests.builders.studies import app_of, set_toml, small_survey

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
MOST_STOPS = 300
FOCUSED = """() => {
  const at = document.activeElement;
  return { tag: at.tagName.toLowerCase(), type: at.type ?? "", name: at.name || at.id,
           value: at.value ?? "", main: !!at.closest("main") };
}"""


def small_study(kind: str, folder: Path) -> Study:
    """A study that is soon done: two groups, terms or items a person."""
    if kind == "survey":
        return small_survey(folder, per_person=2)
    new_study(kind, folder)
    return set_toml(folder, per_person=2)


@contextmanager
def served(study: Study) -> Iterator[str]:
    """The address of a study that is served as long as the block lasts."""
    server = uvicorn.Server(uvicorn.Config(app_of(study), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@dataclass
class Visit:
    """One person at one page after the other."""

    page: Any
    address: str
    group: str = ""
    """The group that was rated last."""

    def pages(self, arrived: bool = False) -> Iterator[str]:
        """The name of every page, while it is open, from consent to the end."""
        if not arrived:
            self.page.goto(self.address)
        while True:
            name = self.name()
            yield name
            if name == "end":
                return
            self.answer()
            assert self.name() != name, f"{name} was not accepted"

    def name(self) -> str:
        form = self.page.locator("main form")
        action = form.get_attribute("action") if form.count() else "end"
        return str(action).rsplit("/", 1)[-1]

    def until(self, name: str) -> None:
        """Go on to the page of that name."""
        for shown in self.pages():
            if shown == name:
                return
        raise AssertionError(f"there is no page {name}")

    def answer(self, double: bool = False) -> None:
        """Tab from control to control, answer each, and press the button that sends the form,
        once or twice."""
        if self.name().startswith("rate"):
            self.group = self.page.locator("h1 strong").inner_text()
        seen: set[str] = set()
        for _ in range(MOST_STOPS):
            self.page.keyboard.press("Tab")
            focused = self.page.evaluate(FOCUSED)
            if not focused["main"]:
                continue
            if focused["type"] == "submit" and focused["value"] in ("send", "yes"):
                with self.page.expect_navigation():
                    for _ in range(1 + double):
                        self.page.keyboard.press("Enter")
                self.page.wait_for_load_state()
                return
            if focused["name"] and focused["name"] not in seen:
                seen.add(focused["name"])
                self._fill(focused)
        raise AssertionError("the button that sends the form cannot be reached with the Tab key")

    def _fill(self, focused: dict[str, str]) -> None:
        keys = self.page.keyboard
        if focused["type"] == "range":
            keys.press("ArrowRight")
        elif focused["type"] == "radio":
            keys.press("Space")
        elif focused["tag"] == "select":
            keys.press("End" if focused["name"] == "low" else "ArrowDown")
        elif focused["type"] == "number":
            keys.type("51")
        elif focused["tag"] in ("input", "textarea"):
            keys.press("Control+A")
            keys.type(self._text(focused["name"]))

    def _text(self, name: str) -> str:
        if name == "name":
            return self.group
        if name in ("first", "second"):
            return f"The {'old' if name == 'first' else 'young'} man lost his phone."
        if name == "context":
            term = self.page.locator("h1 strong").inner_text()
            within = self.page.locator(".writing").get_attribute("data-task") == "intrasentence"
            return f"The {term} was BLANK." if within else f"The {term} came in."
        return {"stereotype": "quiet", "anti_stereotype": "loud", "unrelated": "wooden"}.get(
            name, "words"
        )
