"""The folder of pages: an index with all tables, a page for each model, and `board.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from stereometer.errors import UsageError
from stereometer.exports.board.check import tiers_in
from stereometer.exports.board.hidden import LedgerEnd, hidden_tables, ledger_end
from stereometer.exports.board.judge import LEDGER
from stereometer.exports.board.ledger import Ledger
from stereometer.exports.board.pages import index_page, model_pages
from stereometer.exports.board.tables import BoardTable, tables_of
from stereometer.files import read_json, replacing, write_json
from stereometer.options import Option, verb
from stereometer.runs.stored import runs_of
from stereometer.show import numbers
from stereometer.types.document import UNSTORED, Document

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
        Sequence[str | Path],
        "Folder of a hidden part: its published values; may be repeated.",
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
    _clear(site, pages)
    for name, html in pages.items():
        with replacing(site / name) as file:
            file.write(html)
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


def _clear(site: Path, pages: Mapping[str, Any]) -> None:
    """Pages of models that an earlier board had."""
    for file in (site / MODELS).glob("*.html"):
        if f"{MODELS}/{file.name}" not in pages:
            with suppress(OSError):
                file.unlink()
