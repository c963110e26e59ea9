"""study export: everything a study leaves behind, in one folder."""

from __future__ import annotations

import io
import random
import secrets
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from stereometer.errors import UsageError
from stereometer.studies.database import Database, open_database
from stereometer.studies.export import items, survey
from stereometer.studies.export.croissant import write_croissant
from stereometer.studies.export.statement import write_statement
from stereometer.studies.export.tables import Written, demographics, export_ids, write_table
from stereometer.studies.people import Participant, everybody, kept
from stereometer.studies.study import Study

Writer = Callable[[Study, Sequence[Participant], Mapping[str, str], Path], Written]
WRITERS: Mapping[str, Writer] = {
    "survey": survey.write_ratings,
    "write-cats": items.write_written_cats,
    "validate-cats": items.write_judged_cats,
    "write-pairs": items.write_written_pairs,
    "validate-pairs": items.write_judged_pairs,
}
EXCLUDED = ("participant", "outcome", "failed_checks")


def export_study(study: Study, out: Path, url: str | None = None) -> dict[str, Any]:
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty. An export is a folder of its own. Choose another.")
    with closing(open_database(study.folder, url)) as database:
        return write_export(study, database, out)


def zipped_export(study: Study, database: Database) -> bytes:
    """All files of an export in one, for a download."""
    with tempfile.TemporaryDirectory() as folder, io.BytesIO() as whole:
        write_export(study, database, Path(folder))
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
        return whole.getvalue()


def write_export(study: Study, database: Database, out: Path) -> dict[str, Any]:
    people = everybody(database)
    counted = kept(people, study.kind.counts_at_once)
    lot = random.Random(secrets.randbits(64))
    ids = export_ids(people, "p", lot)
    written = WRITERS[study.kind.name](study, counted, ids, out)
    files = [*written.files, *_about_people(study, people, counted, ids, lot, out)]
    files.append(write_statement(study, people, Written(files, written.facts), out))
    write_croissant(study, files, written.facts, out)
    return {
        "schema": "study-export@1",
        "folder": str(out),
        "files": [*(path.name for path in files), "croissant.json"],
        "participants": len(people),
        "counted": len(counted),
        "facts": list(written.facts),
    }


def _about_people(
    study: Study,
    people: Sequence[Participant],
    counted: Sequence[Participant],
    ids: Mapping[str, str],
    lot: random.Random,
    out: Path,
) -> list[Path]:
    counts = {each.person.id for each in counted}
    excluded = [
        {
            "participant": ids[each.person.id],
            "outcome": each.outcome or "not finished",
            "failed_checks": ", ".join(each.failed_checks),
        }
        for each in people
        if each.person.id not in counts
    ]
    excluded.sort(key=lambda row: row["participant"])
    files = [write_table(out / "excluded.csv", EXCLUDED, excluded)]
    questions = study.config.demographics
    if questions:
        own = ids if study.config.join_demographics else export_ids(counted, "d", lot)
        rows = demographics(counted, questions, own)
        files.append(write_table(out / "demographics.csv", ("participant", *questions), rows))
    return files
