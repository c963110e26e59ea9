"""study export: everything a study leaves behind, in one folder."""

from __future__ import annotations

import io
import random
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.errors import UsageError
from stereometer.studies.database import Database
from stereometer.studies.export import items
from stereometer.studies.export.statement import write_croissant, write_statement
from stereometer.studies.export.tables import Written, demographics, export_ids, write_table
from stereometer.studies.people import Edition, Participant, edition_of, open_edition
from stereometer.studies.study import Study

Writer = Callable[[Study, Sequence[Participant], Mapping[str, str], Path], Written]
WRITERS: Mapping[str, Writer] = {
    "survey": items.write_ratings,
    "write-cats": items.write_written_cats,
    "validate-cats": items.write_judged_cats,
    "write-pairs": items.write_written_pairs,
    "validate-pairs": items.write_judged_pairs,
}
EXCLUDED = ("participant", "outcome", "failed_checks")


def export_study(
    study: Study, out: Path, url: str | None = None, version: int | None = None
) -> dict[str, Any]:
    """Whole under its name or not there: what is written half is not in the way of the next."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not empty. An export is a folder of its own. Choose another.")
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    document = write_export(open_edition(study, url, version), part)
    if out.exists():
        out.rmdir()
    part.rename(out)
    return {**document, "folder": str(out)}


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
    files.append(write_statement(edition, Written(files, facts), out))
    write_croissant(study, files, facts, out)
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
