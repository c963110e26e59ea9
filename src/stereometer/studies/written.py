"""What writers wrote, as items, with the keyed hash of who wrote each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stereometer.errors import UsageError
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair.items import Pair
from stereometer.studies.database import open_database
from stereometer.studies.kinds import write_cats, write_pairs
from stereometer.studies.kinds.kind import Person
from stereometer.studies.people import everybody, kept
from stereometer.studies.study import Study


def written_items(study: Study) -> tuple[list[Cat], list[Pair], dict[str, str]]:
    writers: dict[str, Callable[[Study, Person], Sequence[Cat | Pair]]] = {
        write_cats.WRITE_CATS.name: write_cats.written,
        write_pairs.WRITE_PAIRS.name: write_pairs.written,
    }
    if study.kind.name not in writers:
        raise UsageError(
            f"Nobody writes items in {study.folder}, a {study.kind.name} study. A validation is "
            "made from a writing study. Name one, or a file or benchmark."
        )
    database = open_database(study.folder)
    people = kept(everybody(database), study.kind.counts_at_once)
    database.close()
    items: list[Cat | Pair] = []
    hashes: dict[str, str] = {}
    for participant in people:
        for item in writers[study.kind.name](study, participant.person):
            items.append(item)
            hashes[item.id] = participant.hash
    cats = [item for item in items if isinstance(item, Cat)]
    return cats, [item for item in items if isinstance(item, Pair)], hashes
