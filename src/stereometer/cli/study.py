"""study: work with people in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json
from stereometer.errors import UsageError
from stereometer.show import numbers

Folder = Annotated[Path, "The study's folder."]
DatabaseUrl = Annotated[
    str | None, "A PostgreSQL address, for many processes; SQLite in the folder otherwise."
]


@command(
    "People",
    "study new survey my-study",
    "study new validate-cats check --from my-writing",
    "study new validate-pairs second --from stereoset --sample 100",
)
def new(
    *,
    kind: Annotated[str, "survey, write-cats, validate-cats, write-pairs or validate-pairs."],
    folder: Annotated[Path, "The folder to make."],
    source: Annotated[
        str | None,
        typer.Option(
            "--from", help="A writing study, a file or a benchmark whose items are judged."
        ),
    ] = None,
    sample: Annotated[int | None, "Take this many of its items, drawn at random."] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Language of the texts, en or de; may be repeated.")
    ] = None,
    seed: Annotated[int, "Seed of every random draw."] = 0,
) -> None:
    """Write the folder of a new study. It can be served at once."""
    from stereometer.studies.new import new_study

    study = new_study(kind, folder, source, sample, tuple(language or ("en",)), seed)
    say(
        f"{study.folder} is a {kind} study of {len(study.units)} {study.kind.about}. Edit "
        "study.toml and texts/, then run "
        f"`stereometer study check {folder}` and `stereometer study serve {folder}`."
    )


@command("People", "study serve my-study", "study serve my-study --port 9000")
def serve(
    *,
    folder: Folder,
    host: Annotated[str, "Address to listen on; only this machine can reach the default."] = (
        "127.0.0.1"
    ),
    port: Annotated[int, "Port to listen on."] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(help="Host name that people use; may be repeated.")
    ] = None,
    database: DatabaseUrl = None,
    https: Annotated[bool, "People come over HTTPS, through a proxy: send secure cookies."] = False,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="Address of a proxy whose forwarded addresses are trusted; may be repeated."
        ),
    ] = None,
) -> None:
    """Serve a study until it is stopped with Ctrl-C."""
    from stereometer.studies.serve import serve_study

    serve_study(folder, host, port, tuple(name or ()), database, https, tuple(proxy or ()), say)


@command("People", "study status my-study", "study status my-study --json")
def status(*, folder: Folder, database: DatabaseUrl = None, json: Json = False) -> None:
    """Show how far a study is: filled, passed, left out and why, agreement and cost."""
    from stereometer.studies.progress import as_document
    from stereometer.studies.study import open_study

    document = as_document(open_study(folder), database)
    if json:
        render.print_json(document)
    else:
        render.records([{"": name, "value": value} for name, value in document["summary"].items()])


@command(
    "People",
    "study withdraw my-study ABCD-EFGH-JKMN",
    "study withdraw my-writing ABCD-EFGH-JKMN --copy my-validation",
)
def withdraw(
    *,
    folder: Folder,
    code: Annotated[str, "The code that the participant has."],
    database: DatabaseUrl = None,
    copy: Annotated[
        list[Path] | None,
        typer.Option(help="A study made from this one: the person's items go there too."),
    ] = None,
) -> None:
    """Remove everything a participant sent. A note that somebody withdrew stays."""
    from stereometer.studies.copies import remove_copies
    from stereometer.studies.serve import participation_of
    from stereometer.studies.study import open_study

    participation = participation_of(folder, database)
    number = participation.holder(code)
    if number is None:
        raise UsageError(
            f"Nobody in this study has the code {code}. A code is three groups of four letters and "
            "digits. Check it, and that the folder is the right one."
        )
    for study in map(open_study, copy or ()):
        say(f"{remove_copies(study, number)} of their items are removed from {study.folder}.")
    remains = participation.withdraw(number)
    say(f"Everything this participant sent is removed. {remains}".rstrip())


@command("People", 'study exclude my-study 5f0c2a --reason "answered by a program"')
def exclude(
    *,
    folder: Folder,
    person: Annotated[str, "The participant's id, or hash, in the table of payments."],
    reason: Annotated[str, typer.Option(help="Why; it stands in the export.")],
    database: DatabaseUrl = None,
) -> None:
    """Leave a participant out of the results. They are paid, and others get their places."""
    from stereometer.studies.serve import participation_of

    participation = participation_of(folder, database)
    number = participation.member(person)
    if number is None:
        raise UsageError(
            f"Nobody in this study has the id {person}. `stereometer study payments` lists ids and "
            "hashes. Check it, and that the folder is the right one."
        )
    participation.exclude(number, reason)
    say("This participant's answers no longer count. They are paid as if they had completed it.")


@command("People", "study forget-ids my-study")
def forget_ids(*, folder: Folder, database: DatabaseUrl = None) -> None:
    """Delete the ids that panels gave, once everybody is paid."""
    from stereometer.studies.serve import participation_of

    count, remains = participation_of(folder, database).forget_ids()
    say(f"{count} participants' ids are deleted. {remains}".rstrip())


@command("People", "study invite my-study --people 30 --address https://study.example.org")
def invite(
    *,
    folder: Folder,
    people: Annotated[int, "How many personal links to print."] = 10,
    address: Annotated[str, "Where the study is served."] = "http://127.0.0.1:8000",
) -> None:
    """Print personal links, one per person, for a study whose panel is `link`."""
    from stereometer.studies.panels import invitation
    from stereometer.studies.study import open_study

    key = open_study(folder).secrets.session_key
    for number in range(1, people + 1):
        say(f"{address.rstrip('/')}/?invite={invitation(key, number)}")


@command("People", "study token my-study")
def token(*, folder: Folder) -> None:
    """Make a new token for the researcher's page; the old one no longer opens it."""
    from stereometer.studies.secrets import new_admin_token
    from stereometer.studies.study import open_study

    say(new_admin_token(open_study(folder).folder))


@command(
    "People",
    "study check my-study",
    "study check my-study --pilot ratings.csv",
    "study check my-study --within 5",
)
def check(
    *,
    folder: Folder,
    pilot: Annotated[
        Path | None, "Ratings of a pilot or released ones, to plan a survey with their spread."
    ] = None,
    within: Annotated[
        float | None, "How near, in points, the mean of a survey should be known; 5 by default."
    ] = None,
    json: Json = False,
) -> None:
    """Say what is missing, how many people a study takes, what it costs and what it can show."""
    from stereometer.studies.planning import check_document
    from stereometer.studies.study import open_study

    study = open_study(folder)
    document = check_document(study, pilot, within)
    if json:
        render.print_json(document)
        return
    say(
        f"{document['unit_count']} {study.kind.about}, "
        f"{numbers.count(document['judgements'], 'judgement')} each: "
        "at least "
        f"{document['people_needed']} people who pass. With those who fail, about "
        f"{document['people_paid']} are paid: {document['cost']:.2f} "
        f"{document['currency']} ({document['hourly']:.2f} per hour)."
    )
    if "precision" in document:
        render.records(
            [
                {
                    "raters per group": row["raters"],
                    "half width of a mean": f"{row['half_width']:.1f}",
                    "split-half tau": f"{row['split_half']:.2f}",
                    "panel against panel": f"{row['panel']:.2f}",
                    "best possible tau": f"{row['best']:.2f}",
                }
                for row in document["precision"]
            ]
        )
    for row in document.get("wanted", ()):
        say(
            f"A mean within {row['half_width']:g} points ({row['of']}) needs {row['raters']} "
            f"passing raters per group: {row['people']} people who pass, about {row['paid']} paid, "
            f"{row['cost']:.2f} {document['currency']}."
        )
    for note in document["notes"]:
        say(f"- {note}")


@command("People", "study revise my-study")
def revise(*, folder: Folder, database: DatabaseUrl = None) -> None:
    """Begin a new version of a study whose materials or texts have changed since people consented.

    Who has consented goes on with the version before; an export has the answers to one version.
    """
    import time

    from stereometer.studies import versions
    from stereometer.studies.study import open_study

    number, changed = versions.revise(open_study(folder), database, time.time())
    say(
        f"Version {number} begins: {', '.join(changed)} changed. Start the server again. Every "
        f"quota begins again; `study export --version {number - 1}` has the answers so far."
    )


@command("People", "study rehearse my-study --people 50")
def rehearse(
    *,
    folder: Folder,
    people: Annotated[int, "How many simulated people take part."] = 50,
    seed: Annotated[int, "Seed of every random draw."] = 0,
) -> None:
    """Send simulated people through the real pages of a copy of the study."""
    from stereometer.studies.rehearsal.rehearse import rehearse as rehearsed

    study, ends = rehearsed(folder, people, seed)
    rows = [
        {"manner": manner, "last page": end, "people": count}
        for (manner, end), count in sorted(ends.items())
    ]
    render.records(rows)
    say(
        f"Their answers are in {study.folder}, a study of its own: `stereometer study status "
        f"{study.folder}` and `study export` work on it."
    )


@command("People", "study export my-study --out my-data")
def export(
    *,
    folder: Folder,
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    version: Annotated[
        int | None, "The version whose answers are written; the one that people join otherwise."
    ] = None,
    database: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Write items or ratings, labels, who was left out, a data statement and Croissant metadata."""
    from stereometer.studies.export.folder import export_study
    from stereometer.studies.study import open_study

    document = export_study(open_study(folder), out, database, version)
    if json:
        render.print_json(document)
    else:
        say(
            f"{document['counted']} of {document['participants']} participants count. Written to "
            f"{out}: {', '.join(document['files'])}. {' '.join(document['facts'])}"
        )


@command("People", "study backup my-study backup.sqlite")
def backup(*, folder: Folder, to: Annotated[Path, "The copy to write."]) -> None:
    """Copy the SQLite database, and what people have read, while the study is served."""
    from stereometer.studies.database.copy import backup_sqlite
    from stereometer.studies.study import open_study

    backup_sqlite(open_study(folder).folder, to)
    say(f"Written to {to}. `stereometer study restore {folder} {to}` brings it back.")


@command("People", "study restore my-study backup.sqlite")
def restore(
    *, folder: Folder, backup: Annotated[Path, "A copy that `study backup` wrote."]
) -> None:
    """Put a backup in place of the SQLite database and `versions/`. Stop the server first."""
    from stereometer.studies.database.copy import restore_sqlite
    from stereometer.studies.study import open_study

    aside = restore_sqlite(open_study(folder).folder, backup)
    say(f"{backup} is restored. What was there before is in {aside}.")


@command("People", "study payments my-study payments.csv")
def payments(
    *, folder: Folder, to: Annotated[Path, "The table to write."], database: DatabaseUrl = None
) -> None:
    """Write whom to pay, with the ids that the panel gave. Keep the table to yourself."""
    from stereometer.studies.payments import write_payments
    from stereometer.studies.study import open_study

    count = write_payments(open_study(folder), to, database)
    say(
        f"{count} participants are in {to}. Once they are paid, run `study forget-ids` "
        "and delete it."
    )


@command("People", "study move my-study --database postgresql://user@host/name")
def move(
    *, folder: Folder, database: Annotated[str, typer.Option(help="An empty PostgreSQL database.")]
) -> None:
    """Copy every answer of the SQLite database to an empty PostgreSQL database."""
    from stereometer.studies.database.copy import move_to
    from stereometer.studies.study import open_study

    count = move_to(open_study(folder).folder, database)
    say(f"{count} rows copied. Serve the study with --database from now on.")
