"""What somebody wrote who has withdrawn, taken out of studies in which others judge it."""

from __future__ import annotations

from contextlib import closing

from stereometer.errors import UsageError
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair.items import Pair
from stereometer.studies.database.connect import FILE, open_database
from stereometer.studies.database.copy import check_is_free
from stereometer.studies.kinds.kind import Judging, Source
from stereometer.studies.kinds.writers import FILE as WRITERS
from stereometer.studies.kinds.writers import read_writers
from stereometer.studies.study import Study
from stereometer.studies.versions import copy_of, refreeze, versions_of


def remove_copies(study: Study, participant: str) -> int:
    """How many of the person's items were there; labels of them no longer count."""
    if not isinstance(study.kind, Judging):
        raise UsageError(
            f"{study.folder} is a {study.kind.name} study, which judges no items. Name a study "
            "that was made with --from."
        )
    if (study.folder / FILE).exists():
        check_is_free(study.folder / FILE)
    kept = _kept(study, participant)
    if not kept:
        raise UsageError(
            f"{study.folder} has no items but this person's. Delete the folder: nothing in it "
            "may be used."
        )
    count = len(study.units) - len(kept)
    if count:
        _write(study, kept)
    if (study.folder / FILE).exists():
        _remove_from_versions(study, participant)
    return count


def _remove_from_versions(study: Study, participant: str) -> None:
    with closing(open_database(study.folder)) as database, database.write() as connection:
        for version in versions_of(connection):
            copy = copy_of(study, version.number)
            _write(copy, _kept(copy, participant))
            refreeze(connection, study, version.number)


def _kept(study: Study, participant: str) -> dict[str, Cat | Pair]:
    assert isinstance(study.kind, Judging)
    items = study.kind.items(study)
    return {id_: item for id_, item in items.items() if not id_.startswith(f"{participant}-")}


def _write(study: Study, kept: dict[str, Cat | Pair]) -> None:
    writers = {id_: hash_ for id_, hash_ in study.cached(read_writers).items() if id_ in kept}
    (study.folder / WRITERS).unlink(missing_ok=True)
    study.kind.start(study.folder, Source(items=list(kept.values()), writers=writers))
