"""study export: everything a study leaves behind, in one folder; and whom to pay, and how much: the
only place that reads the ids of panels."""

import io
import json
import random
import secrets
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import select

from stereometer.core.errors import UsageError
from stereometer.core.files import replacing, replacing_folder, write_json
from stereometer.wings.people.config import PANELS
from stereometer.wings.people.database import Database, open_database, participants, payments
from stereometer.wings.people.kinds.judging import JUDGE_PAIRS
from stereometer.wings.people.people import Edition, edition_of, open_edition
from stereometer.wings.people.statement import croissant, statement
from stereometer.wings.people.study import Study
from stereometer.wings.people.tables import (
    WRITERS,
    bonus_rows,
    demographics,
    export_ids,
    write_table,
)

EXCLUDED = ("participant", "outcome", "failed_checks")


def export_study(
    study: Study, out: Path, url: str | None = None, version: int | None = None
) -> dict[str, Any]:
    """Whole under its name or not there: what is written half is not in the way of the next."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty. An export is a folder of its own. Choose another.")
    edition = open_edition(study, url, version)
    with replacing_folder(out) as part:
        return {**write_export(edition, part), "folder": str(out)}


def zipped_export(study: Study, database: Database) -> bytes:
    """All files of an export in one, for a download."""
    with tempfile.TemporaryDirectory() as folder, io.BytesIO() as whole:
        write_export(edition_of(study, database), Path(folder))
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
        return whole.getvalue()


def write_export(edition: Edition, out: Path) -> dict[str, Any]:
    study, version, counted = edition.study, edition.version, edition.counted
    lot = random.Random(secrets.randbits(64))
    ids = export_ids(edition.people, "p", lot)
    written = WRITERS[study.kind.name](study, counted, ids, out)
    facts = tuple(filter(None, (*written.facts, edition.fact)))
    files = [*written.files, *_about_people(edition, ids, lot, out)]
    with replacing(out / "data-statement.md") as file:
        file.write(statement(edition, files, facts))
    files.append(out / "data-statement.md")
    write_json(out / "croissant.json", croissant(study, files, facts))
    return {
        "schema": "study-export@1",
        "folder": str(out),
        "files": [*(path.name for path in files), "croissant.json"],
        "participants": len(edition.people),
        "counted": len(counted),
        "version": version.number if version else None,
        "digest": version.digest if version else None,
        "facts": list(facts),
    }


def _about_people(
    edition: Edition, ids: Mapping[str, str], lot: random.Random, out: Path
) -> list[Path]:
    study, counted = edition.study, edition.counted
    counts = {each.person.id for each in counted}
    excluded = [
        {
            "participant": ids[each.person.id],
            "outcome": each.outcome or "not finished",
            "failed_checks": ", ".join(each.failed_checks),
        }
        for each in edition.people
        if each.person.id not in counts
    ]
    excluded.sort(key=lambda row: row["participant"])
    files = [write_table(out / "excluded.csv", EXCLUDED, excluded)]
    questions = study.config.demographics
    if questions:
        own = ids if study.config.join_demographics else export_ids(counted, "d", lot)
        rows = demographics(counted, questions, own, edition.hidden)
        files.append(write_table(out / "demographics.csv", ("participant", *questions), rows))
    return files


def payment_rows(study: Study, url: str | None = None) -> list[dict[str, Any]]:
    """One row per participant who has ended, until `forget_ids` empties the table."""
    ended = (
        select(payments.c.ids, participants.c.person, participants.c.outcome)
        .join(participants, participants.c.id == payments.c.participant)
        .where(participants.c.outcome.is_not(None))
        .order_by(participants.c.finished_at)
    )
    with closing(open_database(study.folder, url)) as database, database.read() as connection:
        rows = connection.execute(ended).all()
    pay, codes = study.config.pay, study.config.codes
    return [
        {
            **json.loads(row.ids),
            "hash": row.person,
            "outcome": row.outcome,
            "code": getattr(codes, row.outcome),
            "amount": pay.amount(row.outcome),
        }
        for row in rows
    ]


def write_payments(study: Study, to: Path, url: str | None = None) -> int:
    """The rows as a table that only its owner can read; writers' bonuses in another beside it."""
    rows = payment_rows(study, url)
    ids = PANELS[study.config.panel.name] or ("visit",)
    write_table(to, (*ids, "hash", "outcome", "code", "amount"), rows).chmod(0o600)
    if study.kind is JUDGE_PAIRS:  # the writing study's payments have the same hashes
        edition = open_edition(study, url)
        if bonuses := bonus_rows(edition.study, edition.counted):
            path = to.with_name(f"{to.stem}-bonuses.csv")
            write_table(path, tuple(bonuses[0]), bonuses).chmod(0o600)
    return len(rows)
