"""The page: sections, figures and items put into the template, with everything it needs inside the file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from stereometer.report import method, numbers, tables
from stereometer.report.charts.forest import Axis, preference_axis
from stereometer.report.charts.frame import CONFIG
from stereometer.report.figure import Figure
from stereometer.report.figures import figures
from stereometer.report.items import browser
from stereometer.report.sections import Section
from stereometer.report.tables import Table
from stereometer.report.traits.portraits import Portrait
from stereometer.report.words import Verdict, common_details, common_notes, together, verdicts

UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that could end a script element or a line of it; their escapes mean the same in JSON."""


def safe_json(value: object) -> Markup:
    return Markup(
        json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(
            UNSAFE
        )
    )


def asset(name: str) -> str:
    return resources.files("stereometer.report").joinpath(*name.split("/")).read_text("utf-8")


# ------------------------------------------------------------------------------------------- one section


@dataclass(frozen=True)
class View:
    """A section as the template takes it."""

    section: Section
    together: str
    verdicts: Sequence[Verdict]
    axis: Axis
    """Of the small pictures beside the verdicts."""
    notes: Sequence[str]
    details: Sequence[str]
    """What holds of every system."""
    headline: Table
    other_averages: Table | None
    figures: Sequence[Figure]
    items: dict[str, Any] | None
    facts: Sequence[method.Fact]
    all_notes: Sequence[method.Fact]
    known_problems: Sequence[str]
    not_concluded: Sequence[str]

    @property
    def charts(self) -> dict[str, list[Any]]:
        return boxes(self.figures)

    def across(self, value: float) -> str:
        """A place on the small picture, in percent of its width."""
        low, high = self.axis.domain
        return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"


def boxes(figures: Sequence[Figure]) -> dict[str, list[Any]]:
    """The specifications of each box: one, or those that a reader chooses between."""
    found: dict[str, list[Any]] = {}
    for figure in figures:
        for number, chart in enumerate(figure.charts):
            box = figure.id if figure.chooser else f"{figure.id}-{number}"
            found.setdefault(box, []).append({"description": chart.description, "spec": chart.spec})
    return found


def view(section: Section) -> View:
    found = verdicts(section)
    return View(
        section=section,
        together=together(section),
        verdicts=found,
        axis=preference_axis(section.main, [one.estimate for one in found]),
        notes=common_notes(section),
        details=common_details(section),
        headline=tables.headline(section),
        other_averages=tables.other_averages(section),
        figures=figures(section),
        items=browser(section),
        facts=method.facts(section),
        all_notes=method.notes(section),
        known_problems=method.known_problems(section),
        not_concluded=method.not_concluded(section),
    )


# --------------------------------------------------------------------------------------------- the page


@dataclass(frozen=True)
class Script:
    """An inline script and the hash by which alone the page lets it run."""

    text: Markup
    hash: str


def script(*parts: str) -> Script:
    """Parts as published, without the pointers to source maps that a browser might want to fetch."""
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
    """Vega and Vega-Lite with their licences, which ask to travel with them."""
    named = ("vega", "vega-lite")
    return script(
        *(
            part
            for name in named
            for part in (
                f"/*! {name}\n{asset(f'vendor/LICENSE-{name}')}*/",
                asset(f"vendor/{name}.min.js"),
            )
        )
    )


def page(found: Sequence[Section], portraits: Sequence[Portrait] = ()) -> str:
    views = [view(section) for section in found]
    scripts = [libraries(), script(asset("assets/charts.js"), asset("assets/items.js"))]
    data = {
        "config": CONFIG,
        "charts": {box: charts for one in views for box, charts in one.charts.items()}
        | {box: charts for one in portraits for box, charts in boxes(one.figures).items()},
        "items": {one.section.id: one.items for one in views if one.items is not None},
    }
    html = (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title([*found, *portraits]),
            lede=[*lede(found), *(one.line for one in portraits)],
            portraits=portraits,
            views=views,
            general=method.GENERAL,
            citations=method.citations(found, portraits),
            style=Markup(asset("assets/report.css")),
            scripts=scripts,
            data=safe_json(data),
            drawn=any(one.charts for one in views),
        )
    )
    # A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the whole report.
    return html.encode("utf-8", "replace").decode()


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("stereometer.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["numbers"] = numbers
    environment.filters["coded"] = coded
    return environment


def title(found: Sequence[Section | Portrait]) -> str:
    systems = list(dict.fromkeys(system.label for section in found for system in section.systems))
    return f"Stereotypes in {systems[0] if len(systems) == 1 else numbers.count(len(systems), 'system')}"


def lede(found: Sequence[Section]) -> list[str]:
    """What was measured, one line a section."""
    nouns = {"cat": "context association test", "pair": "sentence pair"}
    return [
        f"{one.title}: {numbers.count(one.items, nouns[one.shape])}, measure {one.first.measure}, variant {one.variant}."
        for one in found
    ]


def coded(text: str) -> Markup:
    """`Names` in backticks set as code, everything else escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
