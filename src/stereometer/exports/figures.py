"""`figures`: the pictures and tables of a report as files, with the data behind them.

Each chart is a Vega-Lite specification (`.vl.json`), its rows (`.csv`) and a picture: SVG by
vl-convert, where that is installed, or by a Chromium on this machine, which also draws PNG and PDF.
Each table is a CSV and a Markdown file.
"""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.exports.browser import browser, drawn, printed
from stereometer.exports.convert import can_convert, converted
from stereometer.files import replacing, write_json
from stereometer.findings.relate import shipped_facts
from stereometer.report.charts.frame import CONFIG
from stereometer.report.load import groups_of
from stereometer.report.page import View, asset
from stereometer.show.figure import Spec
from stereometer.show.table import Cell, Table
from stereometer.types import Finished

LOG = logging.getLogger("stereometer")
WIDTH = 640
COLOUR = re.compile(r"var\((--[\w-]+)\)")
LOOKS = frozenset(("colour", "fill", "shape", "tip", "dx", "dy"))
"""What rows say of the drawing and not of the numbers."""


class Figures:
    name = "figures"

    def write(self, results: Sequence[Finished], folder: Path) -> list[Path]:
        folders = [finished.folder for finished in results]
        views = [View(section, group) for section, group in groups_of(folders, shipped_facts())]
        specs = {name: spec for view in views for name, spec in _charts(view)}
        return [
            *(path for view in views for path in _tables(view, folder)),
            *(path for name, spec in specs.items() for path in _data(name, spec, folder)),
            *_pictures(specs, folder),
        ]


def _charts(view: View) -> Iterator[tuple[str, Spec]]:
    for figure in view.content.figures:
        for number, chart in enumerate(figure.charts, 1):
            several = len(figure.charts) > 1
            name = _named(figure.id, figure.title, chart.name or (str(number) if several else ""))
            yield name, _sized(chart.spec)


def _sized(spec: Spec) -> Spec:
    """As the page draws it where it is wide."""
    layers = [row for row in spec["layer"] if not row.get("name", "").startswith("narrow-")]
    sized = spec | {"layer": layers, "config": CONFIG, "width": WIDTH, "background": "var(--paper)"}
    coloured: Spec = json.loads(COLOUR.sub(_colour, json.dumps(sized)))
    return coloured


def _colour(name: re.Match[str]) -> str:
    """As the page shows it by day; outside the page its names mean nothing."""
    first = re.search(rf"{re.escape(name[1])}: *([^;]+);", asset("assets/report.css"))
    return first[1] if first else name[0]


def _named(*parts: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, parts)).lower()).strip("-")[:100]


def _data(name: str, spec: Spec, folder: Path) -> Iterator[Path]:
    path = folder / f"{name}.vl.json"
    write_json(path, spec)
    yield path
    rows = [row for layer in spec["layer"] for row in layer["data"]["values"]]
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in LOOKS]
    lines = dict.fromkeys(tuple(_plain(row.get(key)) for key in columns) for row in rows)
    yield _csv(folder / f"{name}.csv", columns, list(lines))


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _csv(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    with replacing(path) as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    return path


# ------------------------------------------------------------------------------------------ tables


def _tables(view: View, folder: Path) -> Iterator[Path]:
    content = view.content
    own = [("", table) for table in (*content.tables, *content.folded)]
    own += [(figure.title, table) for figure in content.figures for table in figure.tables]
    names: dict[str, int] = {}
    for place, table in own:
        name = _named(view.id, "table", place, table.caption)
        names[name] = names.get(name, 0) + 1
        yield from _table(folder / (name if names[name] == 1 else f"{name}-{names[name]}"), table)


def _table(stem: Path, table: Table) -> Iterator[Path]:
    head, *rows = [[_said(cell) for cell in row] for row in (table.columns, *table.rows)]
    yield _csv(stem.with_name(f"{stem.name}.csv"), head, rows)
    path = stem.with_name(f"{stem.name}.md")
    with replacing(path) as file:
        file.writelines(f"{line}\n" for line in _markdown(table, head, rows))
    yield path


def _said(cell: Cell) -> str:
    return "; ".join(filter(None, (cell.text, *cell.lines)))


def _markdown(table: Table, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if table.caption:
        yield from (f"**{table.caption}**", "")
    for row in (head, ["--:" if cell.numeric else "---" for cell in table.columns], *rows):
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row)} |"
    if table.foot:
        yield from ("", table.foot)


# ---------------------------------------------------------------------------------------- pictures


def _pictures(specs: Mapping[str, Spec], folder: Path) -> Iterator[Path]:
    """Nothing where neither can draw, or there is no chart."""
    program = browser()
    if not (program or can_convert()):
        LOG.warning(
            "Nothing here draws charts. Install '.[figures]' from a clone for SVG, or Chromium for "
            "SVG, PNG and PDF. Data and tables are written."
        )
    for name, svg in _svgs(specs, program).items():
        path = folder / f"{name}.svg"
        with replacing(path) as file:
            file.write(svg)
        yield path
        if program:
            yield from printed(program, svg, folder / f"{name}.png", folder / f"{name}.pdf")


def _svgs(specs: Mapping[str, Spec], program: str | None) -> dict[str, str]:
    if can_convert():
        return {name: converted(spec) for name, spec in specs.items()}
    return drawn(program, specs) if program and specs else {}


EXPORTER = Figures()
