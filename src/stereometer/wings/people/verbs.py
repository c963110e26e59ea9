"""The verbs of `study`: work with people in the browser.

What they call is imported when they run: help needs neither web servers nor databases.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stereometer.core.errors import UsageError
from stereometer.core.options import Option, verb
from stereometer.core.show import numbers
from stereometer.core.show.view import Paragraph, View, records
from stereometer.core.types.shown import Told

if TYPE_CHECKING:
    from stereometer.wings.people.study import Study

LOG = logging.getLogger("stereometer")
Folder = Annotated[str | Path, "The study's folder."]
Database = Annotated[
    str | None, "A PostgreSQL address, for many processes; SQLite in the folder otherwise."
]
Draws = Annotated[int, "Seed of every random draw."]


class StudyPlan(Told):
    """What a study takes, costs and can show."""

    @property
    def about(self) -> str:
        """What its people judge."""
        from stereometer.wings.people.kinds import kind_called

        return kind_called(self.document["study_kind"]).about

    def view(self) -> View:
        """Its table alone is a result, the sentences are said beside it."""
        document = self.document
        people = (
            f"{document['unit_count']} {self.about}, "
            f"{numbers.count(document['judgements'], 'judgement')} each: at least "
            f"{document['people_needed']} people who pass. With those who fail, about "
            f"{document['people_paid']} are paid: {document['cost']:.2f} "
            f"{document['currency']} ({document['hourly']:.2f} per hour)."
        )
        precision = [
            {
                "raters per group": row["raters"],
                "half width of a mean": f"{row['half_width']:.1f}",
                "split-half tau": f"{row['split_half']:.2f}",
                "panel against panel": f"{row['panel']:.2f}",
                "best possible tau": f"{row['best']:.2f}",
            }
            for row in document.get("precision", ())
        ]
        wanted = (
            f"A mean within {row['half_width']:g} points ({row['of']}) needs {row['raters']} "
            f"passing raters per group: {row['people']} people who pass, about {row['paid']} "
            f"paid, {row['cost']:.2f} {document['currency']}."
            for row in document.get("wanted", ())
        )
        said = (*wanted, *(f"- {note}" for note in document["notes"]))
        return View(parts=(_talk(people), *records(precision), *map(_talk, said)))


def _talk(words: str) -> Paragraph:
    return Paragraph(((words, False),), talk=True)


class StudyStatus(Told):
    """How far a study is."""

    def view(self) -> View:
        rows = [{"": name, "value": value} for name, value in self.document["summary"].items()]
        return View(parts=tuple(records(rows)))


class Rehearsal(Told):
    """How simulated people got on."""

    def view(self) -> View:
        return View(parts=tuple(records(self.document["ends"])))


def _opened(folder: str | Path) -> Study:
    from stereometer.wings.people.study import open_study

    return open_study(folder)


@verb
def new(
    kind: Annotated[str, "survey, write-cats, validate-cats, write-pairs or validate-pairs."],
    folder: Annotated[str | Path, "The folder to make."],
    *,
    source: Annotated[
        str | None,
        Option("A writing study, a file or a benchmark whose items are judged.", flags=("--from",)),
    ] = None,
    sample: Annotated[int | None, "Take this many of its items, drawn at random."] = None,
    language: Annotated[
        Sequence[str],
        Option("Language of the texts, en or de; may be repeated.", has_default=False),
    ] = ("en",),
    seed: Draws = 0,
) -> Told:
    """Write the folder of a new study. It can be served at once."""
    from stereometer.wings.people.new import new_study

    study = new_study(kind, Path(folder), source, sample, language, seed)
    return Told(
        f"{study.folder} is a {kind} study of {len(study.units)} {study.kind.about}. Edit "
        "study.toml and texts/, then run "
        f"`stereometer study check {folder}` and `stereometer study serve {folder}`."
    )


@verb
def check(
    folder: Folder,
    *,
    pilot: Annotated[
        str | Path | None,
        "Ratings of a pilot or released ones, to plan a survey with their spread.",
    ] = None,
    within: Annotated[
        float | None, "How near, in points, the mean of a survey should be known; 5 by default."
    ] = None,
) -> StudyPlan:
    """What is missing, how many people a study takes, what it costs and what it can show."""
    from stereometer.wings.people.progress import check_document

    return StudyPlan(**check_document(_opened(folder), Path(pilot) if pilot else None, within))


@verb
def rehearse(
    folder: Folder,
    *,
    people: Annotated[int, "How many simulated people take part."] = 50,
    seed: Draws = 0,
) -> Rehearsal:
    """Send simulated people through the real pages of a copy of the study."""
    from stereometer.wings.people.rehearsal import rehearse as rehearsed

    study, ends = rehearsed(Path(folder), people, seed)
    return Rehearsal(
        f"Their answers are in {study.folder}, a study of its own: `stereometer study status "
        f"{study.folder}` and `study export` work on it.",
        ends=[
            {"manner": manner, "last page": end, "people": count}
            for (manner, end), count in sorted(ends.items())
        ],
    )


@verb
def revise(folder: Folder, *, database: Database = None) -> Told:
    """Begin a new version of a study that has changed since people consented."""
    from stereometer.wings.people.study import revise as new_version

    number, changed = new_version(_opened(folder), database, time.time())
    return Told(
        f"Version {number} begins: {', '.join(changed)} changed. Start the server again. Every "
        f"quota begins again; `study export --version {number - 1}` has the answers so far."
    )


@verb
def status(folder: Folder, *, database: Database = None) -> StudyStatus:
    """How far a study is: filled, passed, left out and why, agreement and cost."""
    from stereometer.wings.people.progress import as_document

    return StudyStatus(**as_document(_opened(folder), database))


@verb
def export(
    folder: Folder,
    *,
    out: Annotated[str | Path, "Folder for the files."],
    version: Annotated[
        int | None, "The version whose answers are written; the one that people join otherwise."
    ] = None,
    database: Database = None,
) -> Told:
    """Write items or ratings, labels, who was left out, a data statement and Croissant metadata."""
    from stereometer.wings.people.export import export_study

    document = export_study(_opened(folder), Path(out), database, version)
    return Told(
        f"{document['counted']} of {document['participants']} participants count. Written to "
        f"{out}: {', '.join(document['files'])}. {' '.join(document['facts'])}",
        **document,
    )


@verb
def invite(
    folder: Folder,
    *,
    people: Annotated[int, "How many personal links to print."] = 10,
    address: Annotated[str, "Where the study is served."] = "http://127.0.0.1:8000",
) -> Told:
    """Personal links, one per person, for a study whose panel is `link`."""
    from stereometer.wings.people.secrets import invitation

    key, start = _opened(folder).secrets.session_key, f"{address.rstrip('/')}/?invite="
    return Told(*(f"{start}{invitation(key, number)}" for number in range(1, people + 1)))


@verb
def token(folder: Folder) -> Told:
    """A new token for the researcher's page; the old one no longer opens it."""
    from stereometer.wings.people.secrets import new_admin_token

    return Told(new_admin_token(_opened(folder).folder))


@verb
def withdraw(
    folder: Folder,
    code: Annotated[str, "The code that the participant has."],
    *,
    database: Database = None,
    copy: Annotated[
        Sequence[str | Path], "A study made from this one: the person's items go there too."
    ] = (),
    announce: Callable[[str], None] = LOG.warning,
) -> Told:
    """Remove everything a participant sent. A note that somebody withdrew stays."""
    from stereometer.wings.people.copies import remove_copies
    from stereometer.wings.people.pages.app import participation_of

    participation = participation_of(Path(folder), database)
    number = participation.holder(code)
    if number is None:
        raise UsageError(
            f"Nobody in this study has the code {code}. A code is three groups of four letters and "
            "digits. Check it, and that the folder is the right one."
        )
    for study in map(_opened, copy):
        announce(f"{remove_copies(study, number)} of their items are removed from {study.folder}.")
    remains = participation.withdraw(number)
    return Told(f"Everything this participant sent is removed. {remains}".rstrip())


@verb
def forget_ids(folder: Folder, *, database: Database = None) -> Told:
    """Delete the ids that panels gave, once everybody is paid."""
    from stereometer.wings.people.pages.app import participation_of

    count, remains = participation_of(Path(folder), database).forget_ids()
    return Told(f"{count} participants' ids are deleted. {remains}".rstrip())


@verb
def payments(
    folder: Folder, to: Annotated[str | Path, "The table to write."], *, database: Database = None
) -> Told:
    """Write whom to pay, with the ids that the panel gave. Keep the table to yourself."""
    from stereometer.wings.people.export import write_payments

    count = write_payments(_opened(folder), Path(to), database)
    return Told(
        f"{count} participants are in {to}. Once they are paid, run `study forget-ids` "
        "and delete it."
    )


@verb
def exclude(
    folder: Folder,
    person: Annotated[str, "The participant's id, or hash, in the table of payments."],
    *,
    reason: Annotated[str, "Why; it stands in the export."],
    database: Database = None,
) -> Told:
    """Leave a participant out of the results. They are paid, and others get their places."""
    from stereometer.wings.people.pages.app import participation_of

    participation = participation_of(Path(folder), database)
    number = participation.member(person)
    if number is None:
        raise UsageError(
            f"Nobody in this study has the id {person}. `stereometer study payments` lists ids and "
            "hashes. Check it, and that the folder is the right one."
        )
    participation.exclude(number, reason)
    return Told(
        "This participant's answers no longer count. They are paid as if they had completed it."
    )


@verb
def backup(folder: Folder, to: Annotated[str | Path, "The copy to write."]) -> Told:
    """Copy the SQLite database, and what people have read, while the study is served."""
    from stereometer.wings.people.copies import backup_sqlite

    backup_sqlite(_opened(folder).folder, Path(to))
    return Told(f"Written to {to}. `stereometer study restore {folder} {to}` brings it back.")


@verb
def restore(
    folder: Folder, backup: Annotated[str | Path, "A copy that `study backup` wrote."]
) -> Told:
    """Put a backup in place of the SQLite database and `versions/`. Stop the server first."""
    from stereometer.wings.people.copies import restore_sqlite

    aside = restore_sqlite(_opened(folder).folder, Path(backup))
    return Told(f"{backup} is restored. What was there before is in {aside}.")


@verb
def move(folder: Folder, *, database: Annotated[str, "An empty PostgreSQL database."]) -> Told:
    """Copy every answer of the SQLite database to an empty PostgreSQL database."""
    from stereometer.wings.people.copies import move_to

    count = move_to(_opened(folder).folder, database)
    return Told(f"{count} rows copied. Serve the study with --database from now on.")
