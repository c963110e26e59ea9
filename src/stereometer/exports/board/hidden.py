"""What a board shows of a hidden part: the published values of each submitter, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stereometer.errors import DataError
from stereometer.exports.board.judge import JUDGED, KEPT, LEDGER, published_entry
from stereometer.exports.board.ledger import Entry, Head, Ledger
from stereometer.exports.board.tables import HIDDEN, ShownTable, shown_table
from stereometer.report.load import section_for
from stereometer.report.systems import Group, System
from stereometer.runs.stored import run_of
from stereometer.types import Estimate
from stereometer.types.document import Document

LADDER = ("data", "measure", "variant")


@dataclass(frozen=True)
class LedgerEnd(Document):
    """Where the ledger of a hidden part ended when the board was made."""

    hidden_part: str
    ledger_entries: int
    ledger_digest: str

    def check(self, ledger: Ledger) -> None:
        """Raises where the ledger does not go on from here."""
        if not ledger.holds(Head(self.ledger_entries, self.ledger_digest)):
            raise DataError(
                f"{ledger.path} does not hold the {self.ledger_entries} entries that the board was "
                "last made from. Somebody shortened or rewrote it. Restore it from a copy."
            )


def ledger_end(folder: Path) -> LedgerEnd:
    head = Ledger(folder / LEDGER).head
    return LedgerEnd(folder.resolve().name, head.entries, head.digest)


def hidden_tables(folder: Path, first: int) -> list[ShownTable]:
    """One table for each measure and variant; `first` is the number of the first."""
    ladders: dict[tuple[object, ...], dict[str, list[Entry]]] = {}
    for entry in Ledger(folder / LEDGER).entries(*KEPT):
        ladder = ladders.setdefault(tuple(entry[key] for key in LADDER), {})
        ladder.setdefault(str(entry["submitter"]), []).append(entry)
    return [
        _table(folder, f"t{number}", submitters)
        for number, submitters in enumerate(ladders.values(), first)
    ]


def _table(folder: Path, id_: str, submitters: Mapping[str, Sequence[Entry]]) -> ShownTable:
    systems = tuple(
        _system(folder, published_entry(entries) or entries[-1], number)
        for number, entries in enumerate(submitters.values())
    )
    group = Group(id_, systems)
    tiers = {system.run.folder: HIDDEN for system in systems}
    return shown_table(section_for(group.first), group, tiers, hidden=True)


def _system(folder: Path, entry: Entry, number: int) -> System:
    """The run that later submissions are compared with, without slices and without its file."""
    place = folder / JUDGED / str(entry["run"])
    run = run_of(place)
    result = run.result
    if result.scores_digest != entry["scores"]:
        raise DataError(
            f"{place} does not hold what the ledger says was judged. It was changed since. Restore "
            "it from a copy."
        )
    estimates = tuple(Estimate.from_json(row) for row in entry["estimates"])
    about = {"title": f"Hidden items: {folder.resolve().name}", "source": ""}
    shown = replace(result, estimates=estimates, data={**result.data, **about}, notes=())
    label = f"{entry['model']} ({entry['submitter']})"
    return System(label, number, replace(run, result=shown), label)
