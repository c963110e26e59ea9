"""study: work with people in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json

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
    sample: Annotated[int | None, "Take so many of its items, by lot."] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Language of the texts, en or de; repeatable.")
    ] = None,
    seed: Annotated[int, "Seed of every random draw."] = 0,
) -> None:
    """Write the folder of a new study. It can be served at once."""
    from stereometer.studies.new import new_study

    study = new_study(kind, folder, source, sample, tuple(language or ("en",)), seed)
    say(
        f"{study.folder} is a {kind} study of {len(study.units)} "
        f"{'groups' if kind == 'survey' else 'units'}. Edit study.toml and texts/, then run "
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
        list[str] | None, typer.Option(help="Host name that people use; repeatable.")
    ] = None,
    database: DatabaseUrl = None,
    https: Annotated[bool, "People come over HTTPS, through a proxy: send secure cookies."] = False,
) -> None:
    """Serve a study until it is stopped with Ctrl-C."""
    from stereometer.studies.serve import serve_study

    serve_study(folder, host, port, tuple(name or ()), database, https, say)


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


@command("People", "study withdraw my-study ABCD-EFGH-JKMN")
def withdraw(
    *,
    folder: Folder,
    code: Annotated[str, "The code that the participant has."],
    database: DatabaseUrl = None,
) -> None:
    """Remove everything a participant sent. A note that somebody withdrew stays."""
    from stereometer.studies.serve import participation_of

    if not participation_of(folder, database).withdraw(code):
        raise _no_such_code(code)
    say("Everything this participant sent is removed.")


@command("People", "study forget-ids my-study")
def forget_ids(*, folder: Folder, database: DatabaseUrl = None) -> None:
    """Delete the ids that panels gave, once everybody is paid."""
    from stereometer.studies.serve import participation_of

    say(f"{participation_of(folder, database).forget_ids()} participants' ids are deleted.")


@command("People", "study invite my-study --people 30 --address https://study.example.org")
def invite(
    *,
    folder: Folder,
    people: Annotated[int, "How many personal links to print."] = 10,
    address: Annotated[str, "Where the study is served."] = "http://127.0.0.1:8000",
) -> None:
    """Print personal links, one a person, for a study whose panel is `link`."""
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


def _no_such_code(code: str) -> Exception:
    from stereometer.errors import UsageError

    return UsageError(
        f"Nobody in this study has the code {code}. It has three groups of four letters and "
        "digits. Check it, and that the folder is the right one."
    )
