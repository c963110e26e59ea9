"""The page: groups of runs put into the template, with everything it needs inside the file."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from stereometer.core import catalog
from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, Figure
from stereometer.core.show.view import View
from stereometer.report import method
from stereometer.report.charts.frame import CONFIG
from stereometer.report.items import Beside
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


FEW, LONGEST = 3, 150
"""Systems that a name of a file names, and its most characters."""


@dataclass(frozen=True)
class ShownNames:
    """Names of files; gives none twice."""

    given: Counter[str] = field(default_factory=Counter)

    def new(self, group: Group, *shown: str) -> str:
        systems = list(dict.fromkeys(system.name for system in group.systems))
        whose = systems if len(systems) <= FEW else [f"{len(systems)} systems"]
        limit = group.first.settings.get("limit")
        part = [f"limit {limit}"] if limit else []
        words = " ".join((group.first.benchmark, *part, *group.how, *whose, *shown))
        name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:LONGEST]
        self.given[name] += 1
        return name if self.given[name] == 1 else f"{name}-{self.given[name]}"

    def named(self, group: Group, figure: Figure) -> Figure:
        """With a file for each of its charts."""
        charts = (
            replace(chart, file=self.new(group, figure.title, chart.name))
            for chart in figure.charts
        )
        return replace(figure, charts=tuple(charts))


@dataclass(frozen=True)
class PageSection:
    """A section with all that is drawn of it."""

    section: Section
    group: Group
    view: View
    glance: tuple[Figure, ...]
    """Of the first screen."""
    figures: tuple[Figure, ...]


def page_section(section: Section, group: Group, names: ShownNames) -> PageSection:
    """Its figures have names of files."""
    shown, count = len(group.shown.systems), len(group.systems)
    cut = (
        f"Verdicts, pictures and items are of the first {shown} of "
        f"{numbers.count(count, 'system')}; the table has all of them. Name fewer runs to see "
        "others, or look into the files beside this page."
    )
    view = section.view(group, figures_for(group.first.kind), cut if shown < count else "")
    first = [figure for figure in section.at_a_glance(group.shown) if figure.charts]
    glance, figures = (
        tuple(names.named(group, figure) for figure in each) for each in (first, view.figures)
    )
    return PageSection(section, group, view, glance, figures)


def at_a_glance(sections: Sequence[PageSection]) -> Figure | None:
    """The figures of the first screen as one: what they have in common is said once."""
    shown = [(each.view, figure) for each in sections for figure in each.glance]
    if not shown:
        return None
    leads = [figure.lead for _, figure in shown]
    common = [line for line in leads[0] if all(line in lead for lead in leads)]
    own = [f"{v.title}: {line}" for v, f in shown for line in f.lead if line not in common]
    titles = [view.title for view, _ in shown]
    charts = [
        replace(chart, name=view.title + f", {view.about[0]}" * (titles.count(view.title) > 1))
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


def by_chance(groups: Sequence[Group]) -> str:
    """How many false claims to expect among the verdicts of several systems; empty for one. No
    stored verdict knows of other rows than those of its own system."""
    runs = {id(system.result): system for group in groups for system in group.systems}
    if len({system.name for system in runs.values()}) < 2:
        return ""
    rows = [
        (at, row)
        for at, system in runs.items()
        for row in system.result.estimates
        if row.p_adjusted is not None
    ]
    if not rows:
        return ""
    families = {(at, row.name, row.correction, bool(row.slice)) for at, row in rows}
    beyond = sum(bool(row.beyond_noise) for _, row in rows)
    error = 1 - groups[0].settings.level
    return (
        f"{numbers.count(len(rows), 'row')} of {numbers.count(len(runs), 'run')} were tested, in "
        f"{numbers.count(len(families), 'family', 'families')}; {beyond:,} are beyond noise. By "
        f"chance alone, expect up to {numbers.number(error * len(families))} families to claim "
        "something: verdicts are not corrected over systems."
    )


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


def page(shown: Sequence[tuple[Section, Group]], beside: Mapping[str, Beside]) -> str:
    names = ShownNames()
    sections = [page_section(section, group, names) for section, group in shown]
    first = at_a_glance(sections)
    figures = [*([first] if first else []), *(f for each in sections for f in each.figures)]
    groups = [group for _, group in shown]
    facts = [method.facts(group.shown) for group in groups]
    html = (
        environment()
        .get_template("report.html.j2")
        .render(
            title=title(shown),
            sections=list(zip(sections, facts, strict=True)),
            beside=beside,
            matrix=Matrix([row for section, group in shown for row in section.columns(group)]),
            by_chance=by_chance(groups),
            first=first,
            fills=FILLS,
            shared=[fact for fact in facts[0] if all(fact in other for other in facts)],
            systems=method.of_systems([system for group in groups for system in group.systems]),
            listed=lambda key: method.listed(groups, key),
            general=method.GENERAL,
            citations=method.citations(shown),
            style=Markup(asset("assets/report.css")),
            scripts=[libraries(), script(*map(asset, OWN_SCRIPTS))],
            data=safe_json({"config": CONFIG, "charts": boxes_of(figures)}),
        )
    )
    # A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the whole report.
    return html.encode("utf-8", "replace").decode()


@cache
def environment(*packages: str) -> Environment:
    """Templates of the report, and of packages whose pages use its parts; compiled once."""
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
