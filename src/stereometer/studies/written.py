"""What writers wrote, as items, with the keyed hash of who wrote each."""

from __future__ import annotations

from stereometer.errors import UsageError
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair.items import Pair
from stereometer.studies.export.edition import open_edition
from stereometer.studies.study import Study


def written_items(study: Study) -> tuple[list[Cat | Pair], dict[str, str]]:
    """Of the version that people join now: versions are not joined."""
    written = [
        (item, participant.hash)
        for participant in open_edition(study).counted
        for item in study.kind.written(study, participant.person)
    ]
    if not written:
        raise UsageError(
            f"Nothing is written in {study.folder}, a {study.kind.name} study. A validation needs "
            "items. Name a writing study that people have filled, a file or a benchmark."
        )
    return [item for item, _ in written], {item.id: writer for item, writer in written}
