"""What `print` and notebooks show of what a verb returns: what its command prints, and its figures.

Values know this module by name alone (`types/shown.py`): it lies above everything that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from itertools import accumulate
from pathlib import Path

from stereometer.cli.render import print_view
from stereometer.core.errors import UnknownName, UsageError
from stereometer.core.show.control import visible
from stereometer.core.show.figure import Figure, Spec
from stereometer.core.show.numbers import count
from stereometer.core.show.table import Cell, Table
from stereometer.core.show.view import Piece, line
from stereometer.core.types import Result
from stereometer.core.types.results import Results
from stereometer.core.types.shown import Shown, WithFigures
from stereometer.report.load import groups_of
from stereometer.report.page import figures_for
from stereometer.report.system_facts import shipped_facts
from stereometer.wings.exports.figures import page_of, sized, svgs

IN_PYTHON = {"--every-slice": "rows()", "--slices": "rows()", "--json": "as_json()"}
"""What the options that a command recommends are here."""
MOST_LINES, MOST_CHARACTERS = 40, 1_950
"""As text, before the line that says how much more there is."""
MOST_ROWS, MOST_PIECES = 12, 20
"""In a notebook, of a table, and of tables and paragraphs."""


def _cut(piece: Piece) -> Piece:
    if not isinstance(piece, Table) or len(piece.rows) <= MOST_ROWS:
        return piece
    left = f"{count(len(piece.rows) - MOST_ROWS, 'more row')}: as_json()"
    foot = f"{piece.foot} {left}".strip()
    return replace(piece, rows=piece.rows[:MOST_ROWS], foot=foot)


def _said(text: str) -> str:
    """Without control characters, and with what an option is called in Python."""
    return re.sub("|".join(IN_PYTHON), lambda option: IN_PYTHON[option[0]], visible(text))


def as_text(value: Shown) -> str:
    """As wide as the terminal, where there is one."""
    with redirect_stdout(StringIO()) as out:
        print_view(value.view())
    lines = [line.rstrip() for line in _said(out.getvalue()).strip("\n").split("\n")]
    sizes = accumulate(len(line) + 1 for line in lines)
    kept = min(MOST_LINES, sum(size <= MOST_CHARACTERS for size in sizes))
    more = [f"{count(len(lines) - kept, 'more line')}: as_json()"] if kept < len(lines) else []
    return "\n".join(lines[:kept] + more)


# -------------------------------------------------------------------------------------------- html


def as_html(value: Shown) -> str:
    pieces = list(value.view().pieces())
    left = len(pieces) - MOST_PIECES
    more = [line(f"{count(left, 'more part')}: as_json()")] if left > 0 else []
    return "\n".join(map(_html, [*map(_cut, pieces[:MOST_PIECES]), *more]))


def _html(piece: Piece) -> str:
    if not isinstance(piece, Table):
        spans = ((text.strip("\n"), bold) for text, bold in piece.spans)
        shown = [(_escaped(text), bold) for text, bold in spans if text]
        return f"<p>{''.join(f'<b>{text}</b>' if bold else text for text, bold in shown)}</p>"
    head = "".join(_cell("th", cell) for cell in piece.columns)
    body = "".join(f"<tr>{''.join(_cell('td', cell) for cell in row)}</tr>" for row in piece.rows)
    around = (f"<p>{_escaped(text)}</p>" if text else "" for text in (piece.caption, piece.foot))
    caption, foot = around
    return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _cell(tag: str, cell: Cell) -> str:
    side = "right" if cell.numeric else "left"
    lines = "<br>".join(map(_escaped, (cell.text, *cell.lines)))
    return f'<{tag} style="text-align:{side}">{lines}</{tag}>'


def _escaped(text: str) -> str:
    return escape(_said(text)).replace("\n", "<br>")


# ------------------------------------------------------------------------------------------ figures


@dataclass(frozen=True)
class Plot:
    """A figure of the report: a notebook shows it, and `save` keeps it."""

    title: str
    specs: Mapping[str, Spec]
    """Vega-Lite, by the name of each chart."""

    def __repr__(self) -> str:
        return f"<Plot {self.title}: .save('figure.svg') or .save('figure.html')>"

    def _repr_html_(self) -> str:
        """As SVG where something here draws it, else as a page that draws itself."""
        if drawn := self._svgs():
            return "\n".join(drawn)
        frame = "width:100%;height:520px;border:0"
        return f'<iframe srcdoc="{escape(page_of(self.specs))}" style="{frame}"></iframe>'

    def save(self, path: str | Path) -> Path:
        """Keep it as .svg or as an .html page that needs no network."""
        place, drawn = Path(path), self._svgs()
        if place.suffix == ".html":
            place.write_text(page_of(self.specs), encoding="utf-8")
        elif place.suffix == ".svg" and len(drawn) == 1:
            place.write_text(drawn[0], encoding="utf-8")
        else:
            raise UsageError(
                f"{place} cannot be written. A figure is kept as .html, or as .svg if it is a "
                "single chart and vl-convert-python is installed. Choose another name."
            )
        return place

    def _svgs(self) -> list[str]:
        return list(svgs(self.specs).values())


def figure(value: WithFigures, title: str | None = None) -> Plot:
    """A figure of the report on these runs, by its title."""
    folders: Sequence[str | Path] = getattr(value, "folders")  # noqa: B009
    views = [
        section.view(group, figures_for(group.first.kind))
        for section, group in groups_of(folders, shipped_facts())
    ]
    figures = {each.title: each for view in views for each in view.figures if each.charts}
    if not figures:
        raise UsageError(
            "The report has no figure of this. Its numbers are not drawn. Print it, or take "
            "to_frame()."
        )
    if title is not None and title not in figures:
        raise UnknownName("figure", title, figures, "These are the figures of the report.")
    chosen = figures[title] if title else _first(value, list(figures.values()))
    specs = {chart.name or str(at): sized(chart.spec) for at, chart in enumerate(chosen.charts)}
    return Plot(chosen.title, specs)


def _first(value: WithFigures, figures: Sequence[Figure]) -> Figure:
    """The differences of a comparison; of results what the report shows first."""
    compared = [each for each in figures if each.id.endswith("-differences")]
    return compared[0] if compared and not isinstance(value, Result | Results) else figures[0]
