"""What somebody wrote who has withdrawn, taken out of studies in which others judge it."""

from __future__ import annotations

from stereometer.errors import UsageError
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair.items import Pair
from stereometer.studies.database.connect import FILE
from stereometer.studies.database.copy import check_is_free
from stereometer.studies.kinds.kind import Judging, Source
from stereometer.studies.kinds.writers import FILE as WRITERS
from stereometer.studies.kinds.writers import read_writers
from stereometer.studies.study import Study


def remove_copies(study: Study, participant: str) -> int:
    """How many of the person's items were there; labels of them no longer count."""
    if not isinstance(study.kind, Judging):
        raise UsageError(
            f"{study.folder} is a {study.kind.name} study, which judges no items. Name a study "
            "that was made with --from."
        )
    if (study.folder / FILE).exists():
        check_is_free(study.folder / FILE)
    items = study.kind.items(study)
    kept = {id_: item for id_, item in items.items() if not id_.startswith(f"{participant}-")}
    if not kept:
        raise UsageError(
            f"{study.folder} has no items but this person's. Delete the folder: nothing in it "
            "may be used."
        )
    if len(kept) < len(items):
        _write(study, kept)
    return len(items) - len(kept)


def _write(study: Study, kept: dict[str, Cat | Pair]) -> None:
    writers = {id_: hash_ for id_, hash_ in study.cached(read_writers).items() if id_ in kept}
    (study.folder / WRITERS).unlink(missing_ok=True)
    cats = [item for item in kept.values() if isinstance(item, Cat)]
    pairs = [item for item in kept.values() if isinstance(item, Pair)]
    study.kind.start(study.folder, Source(cats=cats, pairs=pairs, writers=writers))
