"""What writers wrote, as items, with the keyed hash of who wrote each."""

from __future__ import annotations

from stereometer.errors import UsageError
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair.items import Pair
from stereometer.studies.database import open_database
from stereometer.studies.people import everybody, kept
from stereometer.studies.study import Study


def written_items(study: Study) -> tuple[list[Cat], list[Pair], dict[str, str]]:
    database = open_database(study.folder)
    people = kept(everybody(database), study.kind.counts_at_once)
    database.close()
    written = [
        (item, participant.hash)
        for participant in people
        for item in study.kind.written(study, participant.person)
    ]
    if not written:
        raise UsageError(
            f"Nothing is written in {study.folder}, a {study.kind.name} study. A validation needs "
            "items. Name a writing study that people have filled, a file or a benchmark."
        )
    cats = [item for item, _ in written if isinstance(item, Cat)]
    pairs = [item for item, _ in written if isinstance(item, Pair)]
    return cats, pairs, {item.id: writer for item, writer in written}
