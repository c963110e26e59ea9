"""`figures`: the pictures and tables of a report as files, with the data behind them.

Each chart is a Vega-Lite specification (`.vl.json`), its rows (`.csv`) and, where vl-convert is
installed, a picture as SVG, PNG and PDF. Each table is a CSV and a Markdown file.
"""

import csv
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.files import read_lines, replacing, replacing_folder, write_json
from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.show.figure import Spec
from stereometer.core.show.table import Table
from stereometer.report.charts.frame import CONFIG
from stereometer.report.load import grouped
from stereometer.report.page import (
    PageSection,
    ShownNames,
    asset,
    libraries,
    page_section,
    safe_json,
    script,
)
from stereometer.report.system_facts import shipped_facts
from stereometer.report.tables import tabled
from stereometer.wings.exports.markdown import one_cell, table_lines
from stereometer.wings.exports.metadata import measured

LOG = logging.getLogger("stereometer")
WIDTH = 640
INDEX, HEADS = "index", ("file", "figure", "what it shows")
RUNS, ABOUT = "runs", ("run", "model", "benchmark", "measured by", "items used", "notes")
COLOUR = re.compile(r"var\((--[\w-]+)\)")
LOOKS = frozenset(("colour", "fill", "shape", "tint", "dot", "tip", "dx", "dy"))
"""What rows say of the drawing and not of the numbers."""


def write(runs: Sequence[Run], folder: Path) -> list[Path]:
    """The folder as a whole: no file of an earlier export stays among the new ones."""
    _check_place(folder)
    with replacing_folder(folder) as part:
        files = _write(runs, part)
    return [folder / file.name for file in files]


def _write(runs: Sequence[Run], folder: Path) -> list[Path]:
    groups, names = grouped(runs, shipped_facts()), ShownNames()
    views = [page_section(section, group, names) for section, group in groups]
    figures = [figure for each in views for figure in (*each.glance, *each.figures)]
    charts = [(figure.title, chart) for figure in figures for chart in figure.charts]
    tables = [named for view in views for named in _tables(view, names)]
    specs = {chart.file: sized(chart.spec) for _, chart in charts}
    rows = [(chart.file, title, chart.description) for title, chart in charts]
    rows += [(name, title, table.caption) for name, title, table in tables]
    return [
        *_table(folder / INDEX, tabled(HEADS, rows, "")),
        *_table(folder / RUNS, tabled(ABOUT, map(_about, runs), "")),
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
    """As a wide page draws it by day; outside the page names of colours mean nothing."""
    layers = [row for row in spec["layer"] if not row.get("name", "").startswith("narrow-")]
    sized = spec | {"layer": layers, "config": CONFIG, "width": WIDTH, "background": "var(--paper)"}
    colours = dict(reversed(re.findall(r"(--[\w-]+): *([^;]+);", asset("assets/report.css"))))
    named = COLOUR.sub(lambda name: colours.get(name[1], name[0]), json.dumps(sized))
    coloured: Spec = json.loads(named)
    return coloured


def _data(name: str, spec: Spec, folder: Path) -> Iterator[Path]:
    path = folder / f"{name}.vl.json"
    write_json(path, spec)
    yield path
    rows = [row for layer in spec["layer"] for row in layer["data"]["values"]]
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key not in LOOKS]
    lines = dict.fromkeys(
        tuple("" if row.get(key) is None else str(row[key]) for key in columns) for row in rows
    )
    yield _csv(folder / f"{name}.csv", columns, list(lines))


def _csv(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    with replacing(path) as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    return path


# ------------------------------------------------------------------------------------------ tables


def _tables(view: PageSection, names: ShownNames) -> Iterator[tuple[str, str, Table]]:
    own = [("", table) for table in view.view.tables]
    own += [(figure.title, table) for figure in view.figures for table in figure.tables]
    how = measured(view.group.first)
    for title, table in own:
        said = replace(table, foot=" ".join(filter(None, [table.foot, f"Measured by {how}."])))
        yield names.new(view.group, "table", title, table.caption), title, said


def _table(stem: Path, table: Table) -> Iterator[Path]:
    head, *rows = [[one_cell(cell) for cell in row] for row in (table.columns, *table.rows)]
    yield _csv(stem.with_name(f"{stem.name}.csv"), head, rows)
    path = stem.with_name(f"{stem.name}.md")
    with replacing(path) as file:
        file.writelines(f"{line}\n" for line in table_lines(table))
    yield path


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


IDS = re.compile(r"""(?<=["#])(clip|gradient_)\d+(?=[")])""")
DRAW = """
const specs = JSON.parse(document.getElementById("specs").textContent);
async function draw(name, spec) {
  const runtime = vega.parse(vegaLite.compile(spec).spec, null, { ast: true });
  const view = new vega.View(runtime, { expr: vega.expressionInterpreter, renderer: "none" });
  const svg = standalone(await view.toSVG());
  const place = Object.assign(document.createElement("pre"), { id: name, innerHTML: svg });
  document.body.append(place);
}
(async () => { for (const [name, spec] of Object.entries(specs)) await draw(name, spec); })();
"""


def can_convert() -> bool:
    return find_spec("vl_convert") is not None


def svgs(specs: Mapping[str, Spec]) -> dict[str, str]:
    """By name; nothing where vl-convert is not installed."""
    return {name: _svg(spec) for name, spec in specs.items()} if can_convert() else {}


def _svg(spec: Spec) -> str:
    """A specification needs nothing from outside, and nothing may be loaded. The converter counts
    the ids in all pictures that it draws; here each picture has its own."""
    import vl_convert

    svg, known = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])), dict[str, str]()
    return IDS.sub(lambda id_: known.setdefault(id_[0], f"{id_[1]}{len(known)}"), svg)


def printed(svg: str) -> dict[str, bytes]:
    """The picture as PNG, at twice its size, and as a PDF page of its size, by ending."""
    import vl_convert

    pdf = reproducible(vl_convert.svg_to_pdf(svg))
    return {"png": vl_convert.svg_to_png(svg, scale=2), "pdf": pdf}


def page_of(specs: Mapping[str, Spec]) -> str:
    """A page that draws itself."""
    parts = libraries(), script(asset("assets/downloads.js"), DRAW)
    scripts = "".join(f"<script>{part.text}</script>" for part in parts)
    data = f'<script id="specs" type="application/json">{safe_json(specs)}</script>'
    style = f"<style>{asset('assets/report.css')}</style>"
    return f'<!doctype html><meta charset="utf-8">{style}<body>{data}{scripts}</body>'


ENTRY = re.compile(rb"(\d{10}) \d{5} n")
REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
RESOURCES = re.compile(rb"(?:\n +/\w+ \d+ 0 R(?=\n))+")


def reproducible(pdf: bytes) -> bytes:
    """The PDF with bytes that depend on its picture alone.

    The converter numbers objects and orders the names of a page's resources by chance. Here
    resources stand in the order of their names, and objects in the order of their first reference.
    """
    if b"\nxref\n" not in pdf:
        return pdf  # another layout, of another version of the converter
    table = int(pdf.rpartition(b"startxref\n")[2].split()[0])
    trailer = pdf[pdf.rindex(b"trailer") : pdf.rindex(b"startxref")]
    objects = _objects(pdf, table)
    order = _references(trailer)
    for number in order:  # which grows by what each refers to
        order += [other for other in _references(objects[number][0]) if other not in order]
    numbers = {old: b"%d 0 R" % new for new, old in enumerate(order, 1)}
    written = pdf[: pdf.index(b" 0 obj")].rpartition(b"\n")[0] + b"\n"
    entries = b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(order) + 1)
    for new, old in enumerate(order, 1):
        entries += b"%010d 00000 n\r\n" % len(written)
        head, stream = objects[old]
        written += b"%d 0 obj" % new + _renumber(head, numbers) + stream
    size = re.sub(rb"/Size \d+", b"/Size %d" % (len(order) + 1), _renumber(trailer, numbers))
    return written + entries + size + b"startxref\n%d\n%%%%EOF" % len(written)


def _objects(pdf: bytes, table: int) -> dict[int, tuple[bytes, bytes]]:
    """By number what may refer to others, resources in order, and the stream after it."""

    def in_order(resources: re.Match[bytes]) -> bytes:
        lines = sorted(resources[0].split(b"\n")[1:], key=lambda line: line.split()[0])
        return b"".join(b"\n" + line for line in lines)

    objects = {}
    starts = sorted(int(entry[1]) for entry in ENTRY.finditer(pdf, table))
    for start, end in pairwise((*starts, table)):
        number, _, body = pdf[start:end].partition(b" 0 obj")
        head, mark, stream = body.partition(b"\nstream\n")
        objects[int(number)] = RESOURCES.sub(in_order, head), mark + stream
    return objects


def _references(text: bytes) -> list[int]:
    return list(dict.fromkeys(map(int, REFERENCE.findall(text))))


def _renumber(text: bytes, numbers: dict[int, bytes]) -> bytes:
    return REFERENCE.sub(lambda found: numbers[int(found[1])], text)
