"""The page: groups of runs put into the template, with everything it needs inside the file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from stereometer.core import catalog
from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, Figure
from stereometer.core.show.view import Verdict, View
from stereometer.core.types import Result
from stereometer.report import method
from stereometer.report.across import by_chance
from stereometer.report.attachments import Beside, ShownNames
from stereometer.report.charts.frame import CONFIG
from stereometer.report.matrix import Matrix
from stereometer.report.sections.section import MoreFigures, Section
from stereometer.report.systems import Group, look

OWN_SCRIPTS = tuple(f"assets/{name}.js" for name in ("charts", "downloads", "items", "overview"))
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
class PageSection:
    """A view as the template takes it, with what only a page has: the browser of items, figures of
    the first screen, and files beside the page."""

    section: Section
    group: Group
    beside: Beside | None = None
    """The files that hold what the page leaves out."""
    names: ShownNames = field(default_factory=ShownNames)

    @cached_property
    def view(self) -> View:
        shown, count = len(self.group.shown.systems), len(self.group.systems)
        cut = (
            f"Verdicts, pictures and items are of the first {shown} of "
            f"{numbers.count(count, 'system')}; the table has all of them. Name fewer runs to see "
            "others, or look into the files beside this page."
        )
        more = figures_for(self.group.first.kind)
        return self.section.view(self.group, more, cut if shown < count else "")

    @cached_property
    def _named(self) -> tuple[tuple[Figure, ...], ...]:
        """Figures of the first screen, then the section's own, with names of files."""
        first = (each for each in self.section.at_a_glance(self.group.shown) if each.charts)
        return tuple(
            tuple(self.names.named(self.group, figure) for figure in each)
            for each in (first, self.view.figures)
        )

    @property
    def glance(self) -> tuple[Figure, ...]:
        return self._named[0]

    @property
    def figures(self) -> tuple[Figure, ...]:
        return self._named[1]

    @cached_property
    def items(self) -> Mapping[str, Any] | None:
        return self.section.items(self.group.shown)

    def run(self, verdict: Verdict) -> Result:
        """What a verdict is about."""
        systems = self.group.systems
        return next(each.result for each in systems if each.number == verdict.system)

    @property
    def id(self) -> str:
        return self.group.id

    @property
    def title(self) -> str:
        return self.view.title

    @property
    def subtitle(self) -> str:
        return self.view.about[0]

    @cached_property
    def facts(self) -> list[method.MethodFact]:
        return method.facts(self.group.shown)


def at_a_glance(views: Sequence[PageSection]) -> Figure | None:
    """The figures of the first screen as one: what they have in common is said once."""
    shown = [(view, figure) for view in views for figure in view.glance]
    if not shown:
        return None
    leads = [figure.lead for _, figure in shown]
    common = [line for line in leads[0] if all(line in lead for lead in leads)]
    own = [f"{v.title}: {line}" for v, f in shown for line in f.lead if line not in common]
    titles = [view.title for view, _ in shown]
    charts = [
        replace(chart, name=view.title + f", {view.subtitle}" * (titles.count(view.title) > 1))
        for view, figure in shown
        for chart in figure.charts
    ]
    legend = dict.fromkeys(key for _, figure in shown for key in figure.legend if not key.quiet)
    tables = [
        replace(table, caption=f"{view.title}: {table.caption}")
        for view, figure in shown
        for table in figure.tables
    ]
    title, lead = shown[0][1].title, (*common, *own)
    return Figure("glance", title, lead, tuple(charts), tuple(tables), legend=tuple(legend))


def boxes_of(figures: Iterable[Figure]) -> dict[str, list[Any]]:
    """The specifications of each box: one, or those that a reader chooses between."""
    boxes: dict[str, list[Any]] = {}
    for figure in figures:
        for number, chart in enumerate(figure.charts):
            box = figure.id if figure.chooser else f"{figure.id}-{number}"
            drawn = {"description": chart.description, "spec": chart.spec, "file": chart.file}
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
    names = ShownNames()
    views = [PageSection(section, group, files.get(group.id), names) for section, group in shown]
    scripts = [libraries(), script(*map(asset, OWN_SCRIPTS))]
    first = at_a_glance(views)
    figures = [*([first] if first else []), *(f for view in views for f in view.figures)]
    groups = [group for _, group in shown]
    template = environment().get_template("report.html.j2")
    html = template.render(
        title=title(shown),
        sections=views,
        matrix=Matrix([row for section, group in shown for row in section.columns(group)]),
        by_chance=by_chance(groups),
        first=first,
        fills=FILLS,
        shared=method.in_every([view.facts for view in views]),
        systems=method.of_systems([system for group in groups for system in group.systems]),
        listed=lambda key: method.listed(groups, key),
        general=method.GENERAL,
        citations=method.citations(shown),
        style=Markup(asset("assets/report.css")),
        scripts=scripts,
        data=safe_json({"config": CONFIG, "charts": boxes_of(figures)}),
    )
    # A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the whole report.
    return html.encode("utf-8", "replace").decode()


@cache
def environment(*packages: str) -> Environment:
    """Templates of the report, and of packages whose pages use its parts; compiled once for all
    pages."""
    environment = Environment(
        loader=ChoiceLoader([*map(PackageLoader, packages), PackageLoader("stereometer.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["look"] = look
    environment.filters |= {"coded": coded, "safe_json": safe_json}
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
