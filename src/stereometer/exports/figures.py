"""`figures`: the pictures and tables of a report as files, with the data behind them.

Each chart is a Vega-Lite specification (`.vl.json`), its rows (`.csv`) and, where vl-convert is
installed, a picture as SVG, PNG and PDF. Each table is a CSV and a Markdown file.
"""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stereometer import catalog
from stereometer.errors import UsageError
from stereometer.exports.convert import can_convert, printed, svgs
from stereometer.exports.markdown import plain, row
from stereometer.exports.metadata import measured
from stereometer.files import read_lines, replacing, replacing_folder, write_json
from stereometer.findings.relate import shipped_facts
from stereometer.report.charts.frame import CONFIG
from stereometer.report.load import grouped
from stereometer.report.names import ShownNames
from stereometer.report.page import View, asset
from stereometer.runs.stored import Run
from stereometer.show import numbers
from stereometer.show.figure import Spec
from stereometer.show.table import Cell, Table, text

LOG = logging.getLogger("stereometer")
WIDTH = 640
INDEX, HEADS = "index", ("file", "figure", "what it shows")
RUNS, ABOUT = "runs", ("run", "model", "benchmark", "measured by", "items used", "notes")
COLOUR = re.compile(r"var\((--[\w-]+)\)")
LOOKS = frozenset(("colour", "fill", "shape", "tint", "dot", "tip", "dx", "dy"))
"""What rows say of the drawing and not of the numbers."""


class Figures:
    name = "figures"

    def write(self, runs: Sequence[Run], folder: Path) -> list[Path]:
        """The folder as a whole: no file of an earlier export stays among the new ones."""
        _check_place(folder)
        with replacing_folder(folder) as part:
            files = self._written(runs, part)
        return [folder / file.name for file in files]

    def _written(self, runs: Sequence[Run], folder: Path) -> list[Path]:
        groups, names = grouped(runs, shipped_facts()), ShownNames()
        views = [View(section, group, names=names) for section, group in groups]
        contents = [view.content for view in views]
        figures = [figure for each in contents for figure in (*each.glance, *each.figures)]
        charts = [(figure.title, chart) for figure in figures for chart in figure.charts]
        tables = [named for view in views for named in _tables(view)]
        specs = {chart.file: sized(chart.spec) for _, chart in charts}
        rows = [(chart.file, title, chart.description) for title, chart in charts]
        rows += [(name, title, table.caption) for name, title, table in tables]
        return [
            *_table(folder / INDEX, _texts(HEADS, rows)),
            *_table(folder / RUNS, _texts(ABOUT, map(_about, runs))),
            *(path for name, _, table in tables for path in _table(folder / name, table)),
            *(path for name, spec in specs.items() for path in _data(name, spec, folder)),
            *_pictures(specs, folder),
        ]


def _check_place(folder: Path) -> None:
    """Raises where replacing the folder would take something with it."""
    index, place = folder / f"{INDEX}.csv", folder.resolve()
    listed = csv.reader(read_lines(index) if index.exists() else ())
    known = {INDEX, RUNS, *(name for name, *_ in listed)}
    found = {path.name.partition(".")[0] for path in place.iterdir()} if place.is_dir() else set()
    if not found <= known or Path.cwd().is_relative_to(place):
        raise UsageError(
            f"{folder} holds other files than those of an earlier export of figures, or is the "
            "folder you are in. An export replaces its whole folder. Choose a new one with -o."
        )


def _about(run: Run) -> tuple[str, ...]:
    result = run.result
    leading = catalog.shape(result.kind).leading(result).name
    used = next(numbers.used(each) for each in result.estimates if each.name == leading)
    by, notes = measured(result), " ".join(result.notes)
    return run.folder.name, result.model, result.benchmark, by, used, notes


def sized(spec: Spec) -> Spec:
    """As the page draws it where it is wide."""
    layers = [row for row in spec["layer"] if not row.get("name", "").startswith("narrow-")]
    sized = spec | {"layer": layers, "config": CONFIG, "width": WIDTH, "background": "var(--paper)"}
    coloured: Spec = json.loads(COLOUR.sub(_colour, json.dumps(sized)))
    return coloured


def _colour(name: re.Match[str]) -> str:
    """As the page shows it by day; outside the page its names mean nothing."""
    first = re.search(rf"{re.escape(name[1])}: *([^;]+);", asset("assets/report.css"))
    return first[1] if first else name[0]


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


def _texts(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    return Table(tuple(map(text, head)), tuple(tuple(map(text, row)) for row in rows))


def _tables(view: View) -> Iterator[tuple[str, str, Table]]:
    content = view.content
    own = [("", table) for table in (*content.tables, *content.folded)]
    own += [(figure.title, table) for figure in content.figures for table in figure.tables]
    how = measured(view.group.first)
    for title, table in own:
        said = replace(table, foot=" ".join(filter(None, [table.foot, f"Measured by {how}."])))
        yield view.names.new(view.group, "table", title, table.caption), title, said


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
        yield from (f"**{plain(table.caption)}**", "")
    yield from (row(head), row(["--:" if cell.numeric else "---" for cell in table.columns]))
    yield from map(row, rows)
    if table.foot:
        yield from ("", plain(table.foot))


# ---------------------------------------------------------------------------------------- pictures


def _pictures(specs: Mapping[str, Spec], folder: Path) -> Iterator[Path]:
    if not can_convert():
        LOG.warning(
            "Nothing here draws charts; data and tables are written. SVG, PNG and PDF need "
            "vl-convert. From a clone: `pip install '.[figures]'`."
        )
    for name, svg in svgs(specs).items():
        path = folder / f"{name}.svg"
        with replacing(path) as file:
            file.write(svg)
        yield path
        for ending, content in printed(svg).items():
            path.with_name(f"{name}.{ending}").write_bytes(content)
            yield path.with_name(f"{name}.{ending}")


EXPORTER = Figures()
