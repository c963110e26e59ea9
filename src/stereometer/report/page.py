"""The page: groups of runs put into the template, with everything it needs inside the file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from stereometer import catalog
from stereometer.report import method
from stereometer.report.attachments import Beside
from stereometer.report.charts.frame import CONFIG
from stereometer.report.looks import look
from stereometer.report.sections.section import Content, MoreFigures, Section
from stereometer.report.systems import Group, System
from stereometer.show import numbers
from stereometer.show.figure import Figure

OWN_SCRIPTS = ("assets/charts.js", "assets/downloads.js", "assets/items.js")
UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that could end a script element or a line of it; JSON reads their escapes alike."""


def safe_json(value: object) -> Markup:
    return Markup(
        json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(
            UNSAFE
        )
    )


def asset(name: str) -> str:
    return resources.files("stereometer.report").joinpath(*name.split("/")).read_text("utf-8")


@dataclass(frozen=True)
class View:
    """A section as the template takes it."""

    section: Section
    group: Group
    beside: Beside | None = None
    """The files that hold what the page leaves out."""

    @cached_property
    def content(self) -> Content:
        content = self.section.content(self.group.shown, figures_for(self.group.first.kind))
        shown, count = len(self.group.shown.systems), len(self.group.systems)
        if shown == count:
            return content
        cut = (
            f"Verdicts, pictures and items are of the first {shown} of "
            f"{numbers.count(count, 'system')}; the table has all of them. Name fewer runs to see "
            "others, or look into the files beside this page."
        )
        tables = tuple(self.section.tables(self.group)) if self.section.speaks else ()
        return replace(content, lead=(*content.lead, cut), tables=tables)

    @property
    def items(self) -> Markup:
        return safe_json(self.content.items)

    @property
    def id(self) -> str:
        return self.group.id

    @property
    def title(self) -> str:
        return self.section.heading(self.group)

    @property
    def subtitle(self) -> str:
        return self.section.subtitle(self.group)

    def notes_of(self, system: System) -> list[str]:
        """Of one system, without those of all."""
        shared = {note for owners, note in self.content.notes if not owners}
        return [note for note in dict.fromkeys(system.result.notes) if note not in shared]

    @property
    def callout(self) -> list[tuple[str, str]]:
        """The notes that stand over the verdicts: those of all systems, and those of a system that
        has no verdict to stand beside."""
        spoken = {verdict.system.label for verdict in self.content.verdicts}
        return [(own, note) for own, note in self.content.notes if not own or own not in spoken]

    @property
    def facts(self) -> list[method.Fact]:
        return method.facts(self.section, self.group.shown)

    def listed(self, key: str) -> list[str]:
        return method.listed(self.group.shown, key)

    @property
    def charts(self) -> dict[str, list[Any]]:
        """The specifications of each box: one, or those that a reader chooses between."""
        return boxes_of(self.content.figures)


def boxes_of(figures: Iterable[Figure]) -> dict[str, list[Any]]:
    boxes: dict[str, list[Any]] = {}
    for figure in figures:
        for number, chart in enumerate(figure.charts):
            box = figure.id if figure.chooser else f"{figure.id}-{number}"
            drawn = {"description": chart.description, "spec": chart.spec}
            boxes.setdefault(box, []).append(drawn)
    return boxes


def figures_for(kind: str) -> list[MoreFigures]:
    """What the catalog adds to the figures of a kind."""
    names = [name for name in catalog.names("section") if name.startswith(f"{kind}/")]
    return [catalog.find("section", name) for name in names]


# --------------------------------------------------------------------------------------- the page


@dataclass(frozen=True)
class Script:
    """An inline script and the hash by which alone the page lets it run."""

    text: Markup
    hash: str


def script(*parts: str) -> Script:
    """Parts as published, without the pointers to source maps that a browser might fetch."""
    lines = [
        line
        for part in parts
        for line in part.splitlines()
        if not line.startswith("//# sourceMappingURL=")
    ]
    text = "\n".join(["", *lines, ""])
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("a script of the report would end its element early")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Script(Markup(text), f"sha256-{digest}")


@cache
def libraries() -> Script:
    """Vega, Vega-Lite and the interpreter of Vega's expressions, with their licences, which ask to
    travel with them. Without the interpreter a page would have to allow `eval`."""
    sources = {
        "vega": asset("vendor/vega.min.js"),
        "vega-lite": asset("vendor/vega-lite.min.js"),
        "vega-interpreter": inlined(asset("vendor/vega-interpreter.js")),
    }
    licences = {name: f"/*! {name}\n{asset(f'vendor/LICENSE-{name}')}*/" for name in sources}
    return script(*(part for name in sources for part in (licences[name], sources[name])))


def inlined(module: str) -> str:
    """A module of Vega's for a page that has Vega as `vega`: its imports are there already."""
    body = re.sub(
        r"^import (\{[^}]*\}) from 'vega-util';$", r"const \1 = vega;", module, flags=re.M
    )
    body = re.sub(r"^export \{ (\w+) as (\w+) \};$", r"vega.\2 = \1;", body, flags=re.M)
    return f"(() => {{\n{body}\n}})();"


def page(shown: Sequence[tuple[Section, Group]], beside: Mapping[str, Beside] | None = None) -> str:
    files = beside or {}
    views = [View(section, group, files.get(group.id)) for section, group in shown]
    scripts = [libraries(), script(*map(asset, OWN_SCRIPTS))]
    charts = {box: drawn for view in views for box, drawn in view.charts.items()}
    template = environment().get_template("report.html.j2")
    html = template.render(
        title=title(shown),
        views=views,
        general=method.GENERAL,
        citations=method.citations(shown),
        style=Markup(asset("assets/report.css")),
        scripts=scripts,
        data=safe_json({"config": CONFIG, "charts": charts}),
    )
    # A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the whole report.
    return html.encode("utf-8", "replace").decode()


def environment(*packages: str) -> Environment:
    """Templates of the report, and of packages whose pages use its parts."""
    environment = Environment(
        loader=ChoiceLoader([*map(PackageLoader, packages), PackageLoader("stereometer.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["look"] = look
    environment.filters["coded"] = coded
    return environment


def title(shown: Sequence[tuple[Section, Group]]) -> str:
    subjects = {section.subject for section, _ in shown}
    names = list(dict.fromkeys(system.name for _, group in shown for system in group.systems))
    subject = subjects.pop() if len(subjects) == 1 else Section.subject
    return f"{subject} {names[0] if len(names) == 1 else numbers.count(len(names), 'system')}"


def coded(text: str) -> Markup:
    """`Names` in backticks set as code, everything else escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
