"""The form on a page, read from its HTML as a browser would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Control:
    """A named control: what kind it is, what can be chosen, and its data attributes."""

    kind: str
    label: str = ""
    options: list[str] = field(default_factory=list)
    data: dict[str, str] = field(default_factory=dict)


@dataclass
class SeenForm:
    action: str = ""
    hidden: dict[str, str] = field(default_factory=dict)
    controls: dict[str, Control] = field(default_factory=dict)
    heading: str = ""
    """The strong part of the page's heading, or all of it."""
    quotes: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.form = SeenForm()
        self._into: list[str] = []
        self._target = ""
        self._legend = ""
        self._named = False
        """Whether the strong part of the heading is over."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form.action = attributes["action"]
        elif tag in ("input", "select", "textarea"):
            self._control(tag, attributes)
        elif tag == "option" and attributes.get("value"):
            self.form.controls[self._target].options.append(attributes["value"])
        elif tag in ("h1", "legend", "q", "strong"):
            self._into.append(tag)
            if tag == "legend":
                self._legend = ""
            if tag == "q":
                self.form.quotes.append("")
            if tag == "h1" or (tag == "strong" and self._into[-2:-1] == ["h1"]):
                self.form.heading = ""

    def _control(self, tag: str, attributes: Mapping[str, str]) -> None:
        name, kind = attributes.get("name", ""), attributes.get("type", tag)
        if kind == "hidden":
            self.form.hidden[name] = attributes["value"]
            return
        control = self.form.controls.setdefault(name, Control(kind, self._legend))
        if kind == "radio":
            control.options.append(attributes["value"])
        control.data.update(
            {key[5:]: value for key, value in attributes.items() if key.startswith("data-")}
        )
        self._target = name

    def handle_endtag(self, tag: str) -> None:
        if self._into and self._into[-1] == tag:
            self._into.pop()
            self._named = self._named or (tag == "strong" and "h1" in self._into)

    def handle_data(self, data: str) -> None:
        if "q" in self._into:
            self.form.quotes[-1] += data
        elif "h1" in self._into and not self._named:
            self.form.heading += data
        elif "legend" in self._into:
            self._legend += data


def read_form(html: str) -> SeenForm:
    reader = _Reader()
    reader.feed(html)
    reader.form.heading = reader.form.heading.strip()
    return reader.form
