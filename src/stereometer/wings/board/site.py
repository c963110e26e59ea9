"""The folder of pages: an index with all tables, a page for each model, and `board.json`."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from markupsafe import Markup

from stereometer.core.errors import UsageError
from stereometer.core.files import read_json, replacing, write_json
from stereometer.core.options import Option, verb
from stereometer.core.runs.stored import runs_of
from stereometer.core.show import numbers
from stereometer.core.show.slices import named
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.types import Slice
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.groups import lists_by_key
from stereometer.report import method
from stereometer.report.charts.frame import CONFIG
from stereometer.report.page import asset, boxes_of, environment, libraries, safe_json, script
from stereometer.report.systems import Group, System
from stereometer.wings.board.check import tiers_in
from stereometer.wings.board.judge import LEDGER, LedgerEnd, hidden_tables, ledger_end
from stereometer.wings.board.seals import Ledger
from stereometer.wings.board.tables import TIERS, BoardRow, BoardTable, ShownTable, tables_of

INDEX, BOARD, MODELS = "index.html", "board.json", "models"


@dataclass(frozen=True)
class Board(Document):
    """What `board.json` holds."""

    tables: tuple[BoardTable, ...]
    ledgers: tuple[LedgerEnd, ...]
    stereometer: str
    schema: str = "board@1"
    folder: Path | None = field(default=None, metadata=UNSTORED)

    @property
    def remarks(self) -> list[str]:
        rows = numbers.count(sum(len(table.entries) for table in self.tables), "row")
        page = (self.folder or Path()) / INDEX
        return [f"{numbers.count(len(self.tables), 'table')}, {rows}. Open {page}."]


@verb
def build(
    *runs: Annotated[str | Path, "Folders of runs, or folders that hold them."],
    output: Annotated[str | Path, Option("Folder for the pages.", flags=("--output", "-o"))],
    hidden: Annotated[
        Sequence[str | Path], "Folder of a hidden part: its published values; may be repeated."
    ] = (),
) -> Board:
    """Write a folder of pages that ranks stored runs; it opens from the disk."""
    site, parts = Path(output), [Path(part) for part in hidden]
    _check_place(site)
    ends = tuple(ledger_end(part) for part in parts)
    _check_earlier(site, parts)
    stored = runs_of(runs)
    shown = tables_of(stored, tiers_in([run.folder for run in stored]))
    for part in parts:
        shown += hidden_tables(part, len(shown) + 1)
    board = Board(tuple(each.table for each in shown), ends, version("stereometer"), folder=site)
    pages = {INDEX: index_page(shown), **model_pages(shown)}
    for file in (site / MODELS).glob("*.html"):  # of models that an earlier board had
        if f"{MODELS}/{file.name}" not in pages:
            with suppress(OSError):
                file.unlink()
    for name, html in pages.items():
        with replacing(site / name) as written:
            written.write(html)
    write_json(site / BOARD, board.as_json())
    return board


def _check_place(site: Path) -> None:
    """A folder of somebody's own files is not overwritten."""
    if site.exists() and (not site.is_dir() or (any(site.iterdir()) and not _is_board(site))):
        raise UsageError(
            f"{site} is not empty and holds no board. A board is a folder of its own. Choose "
            "another with -o."
        )


def _check_earlier(site: Path, parts: Sequence[Path]) -> None:
    """The board that is there remembers where ledgers ended."""
    known = read_json(site / BOARD).get("ledgers", []) if _is_board(site) else []
    ledgers = {ledger_end(part).hidden_part: Ledger(part / LEDGER) for part in parts}
    for end in (LedgerEnd(**row) for row in known):
        if end.hidden_part in ledgers:
            end.check(ledgers[end.hidden_part])


def _is_board(site: Path) -> bool:
    return (site / BOARD).is_file()


PACKAGE = "stereometer.wings.board"
SHARED = ("benchmark", "measure", "variant")
"""By the rows of a table."""
CHARTS = ("assets/charts.js", "assets/downloads.js")
ASSETS = Path(__file__).with_name("assets")


def index_page(shown: Sequence[ShownTable]) -> str:
    charts = boxes_of(figure for each in shown for figure in each.figures)
    own = script(*map(asset, CHARTS), (ASSETS / "filters.js").read_text("utf-8"))
    return _rendered(
        "board.html.j2",
        title="Stereotypes in language models: a board",
        views=shown,
        choices=_choices([each.table for each in shown]),
        general=method.GENERAL,
        citations=method.citations([(each.section, each.group) for each in shown]),
        scripts=[libraries(), own],
        data=safe_json({"config": CONFIG, "charts": charts}),
    )


def _choices(tables: Sequence[BoardTable]) -> dict[str, list[str]]:
    """What a reader may filter by, where there is a choice."""
    rows = [row for table in tables for row in table.entries]
    by_table = {name: {getattr(each, name) for each in tables} for name in SHARED}
    by_row = {name: {getattr(each, name) for each in rows} for name in ("tier", "scoring")}
    return {name: sorted(options) for name, options in (by_table | by_row).items()}


@dataclass(frozen=True)
class ModelPart:
    """What one table says of one model."""

    view: ShownTable
    row: BoardRow
    system: System

    @property
    def facts(self) -> list[method.MethodFact]:
        alone = Group(self.view.table.id, (self.system,))
        return [*method.of_systems([self.system]), *method.facts(alone)]

    @property
    def slices(self) -> Table | None:
        """Headline slices; a hidden part has none that may be seen."""
        group, slices = self.view.group, self.view.slices
        names = [name for name, _, _ in self.view.columns]
        if len(slices) < 2:
            return None
        rows = tuple(
            (text(named(slice_)), *(_in_slice(self.system, name, slice_, group) for name in names))
            for slice_ in slices
        )
        columns = (
            text("Slice"),
            *(number(label, f"ideal {ideal}") for _, label, ideal in self.view.columns),
        )
        return Table(columns, rows, "By slice")


def _in_slice(system: System, name: str, slice_: Slice, group: Group) -> Cell:
    estimate = system.find(name, slice_)
    if estimate is None:
        return number("")
    shown = numbers.both(estimate, group.digits(name))
    return number(shown, numbers.used(estimate), *filter(None, [numbers.short(estimate)]))


def model_pages(shown: Sequence[ShownTable]) -> dict[str, str]:
    """By file name; all that the tables say of one model."""
    parts = lists_by_key(
        (row.page_file, ModelPart(view, row, view.systems[row.system]))
        for view in shown
        for row in view.table.entries
    )
    return {
        page: _rendered("model.html.j2", title=each[0].row.model, parts_of=each, scripts=[])
        for page, each in parts.items()
    }


def _rendered(template: str, **values: object) -> str:
    style = Markup(asset("assets/report.css") + (ASSETS / "board.css").read_text("utf-8"))
    html = environment(PACKAGE).get_template(template).render(style=style, tiers=TIERS, **values)
    # A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the whole page.
    return html.encode("utf-8", "replace").decode()
