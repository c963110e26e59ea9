"""The items of a group: for the browser of a page, where their texts stand once, scores are short
arrays and outcomes letters; and in files beside it, where the page leaves something out."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer.core.files import replacing
from stereometer.core.shapes.shape import Contrast
from stereometer.core.show.numbers import significant
from stereometer.core.types import Score, Variant
from stereometer.report.systems import Group, System

SIDES, SKIPPED, ABSENT = {1: "s", -1: "a", 0: "t"}, "x", "-"
"""What an item prefers, a tie apart; or that a system skipped it, or was not asked."""
FIELDS = {
    "task": "Task",
    "domain": "Domain",
    "bias_type": "Bias type",
    "direction": "Direction",
    "target": "Target term",
}
"""The slices that can be filtered, as they are called."""
MOST_ITEMS = 5000
"""In a page; the others are in the folders of the runs."""


def browser(group: Group, shape: Contrast) -> dict[str, Any] | None:
    """What the page needs to show and filter the items; None where no run kept its scores."""
    systems = [system for system in group.systems if system.scores]
    # Hidden items are stored without their texts, and may not be shown.
    by_item = [
        {s.item: s for s in each.scores if s.texts or not each.result.data["hidden"]}
        for each in systems
    ]
    items = {id_: score for scores in reversed(by_item) for id_, score in scores.items()}
    if not items:
        return None
    order = list(dict.fromkeys(id_ for scores in by_item for id_ in scores))
    left_out, order = max(0, len(order) - MOST_ITEMS), order[:MOST_ITEMS]
    ordered = [items[id_] for id_ in order]
    fields = [name for name in FIELDS if any(name in score.slices for score in ordered)]
    values = {name: sorted({score.slices.get(name, "") for score in ordered}) for name in fields}
    texts = list(dict.fromkeys(name for score in ordered for name in score.texts))
    return {
        "left_out": left_out,
        "candidates": list(group.shape.candidates),
        "fields": [{"name": FIELDS[name], "values": values[name]} for name in fields],
        "textNames": texts,
        "items": [
            [
                score.item,
                [values[name].index(score.slices.get(name, "")) for name in fields],
                *(score.texts.get(name, "") for name in texts),
            ]
            for score in ordered
        ],
        "systems": [
            _answers(system, [scores.get(id_) for id_ in order], group.first.variant, shape)
            for system, scores in zip(systems, by_item, strict=True)
        ],
    }


def _answers(
    system: System, scores: Sequence[Score | None], variant: Variant, shape: Contrast
) -> dict[str, Any]:
    def outcome(score: Score | None) -> str:
        if score is None:
            return ABSENT
        return SKIPPED if score.skipped is not None else SIDES[shape.side(score, variant)]

    return {
        "label": system.label,
        "colour": system.look.colour,
        "shape": system.look.shape,
        "outcomes": "".join(map(outcome, scores)),
        "scores": [
            significant(score.values[name]) if score and name in score.values else None
            for score in scores
            for name in shape.candidates
        ],
        "skipped": {
            index: score.skipped
            for index, score in enumerate(scores)
            if score is not None and score.skipped is not None
        },
    }


# ------------------------------------------------------------------------------ beside the page


@dataclass(frozen=True)
class Beside:
    """The files of a group, by their paths from the page: all items, and all systems' scores."""

    items: str
    scores: str


def folder_of(page: Path) -> Path:
    return page.with_name(f"{page.stem}-items")


def write_beside(page: Path, groups: Sequence[Group]) -> dict[str, Beside]:
    """The files of the groups of which the page shows fewer systems or items than there are, by
    the group's id; those of an earlier page of the same name go."""
    folder = folder_of(page)
    for what in ("items", "scores"):
        for file in folder.glob(f"s[0-9]*-{what}.csv"):
            file.unlink()
    with suppress(OSError):  # not there, or it holds files of somebody else
        folder.rmdir()
    files: dict[str, Beside] = {}
    for group in groups:
        known = {score.item for system in group.systems for score in system.scores}
        is_cut = len(group.shown.systems) < len(group.systems) or len(known) > MOST_ITEMS
        if group.shape.candidates and is_cut:
            beside = Beside(
                f"{folder.name}/{group.id}-items.csv", f"{folder.name}/{group.id}-scores.csv"
            )
            for name, rows in ((beside.items, _items(group)), (beside.scores, _scores(group))):
                with replacing(page.parent / name) as out:
                    csv.writer(out, lineterminator="\n").writerows(map(_written, rows))
            files[group.id] = beside
    return files


def _written(row: Sequence[object]) -> list[str]:
    """A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the file."""
    return [str(value).encode("utf-8", "replace").decode() for value in row]


def _items(group: Group) -> Iterator[Sequence[str]]:
    """Every item once, with its slices and its texts."""
    items = {score.item: score for system in group.systems for score in system.scores}
    slices = dict.fromkeys(name for score in items.values() for name in score.slices)
    texts = dict.fromkeys(name for score in items.values() for name in score.texts)
    yield ["item", *slices, *texts]
    for id_, score in items.items():
        values = [*map(score.slices.get, slices), *map(score.texts.get, texts)]
        yield [id_, *(value or "" for value in values)]


def _scores(group: Group) -> Iterator[Sequence[object]]:
    """Every item of every system."""
    candidates = group.shape.candidates
    yield ["item", "system", "run", *candidates, "skipped"]
    for system in group.systems:
        for score in system.scores:
            values = [score.values.get(name, "") for name in candidates]
            run = system.run.folder.name
            yield [score.item, system.label, run, *values, score.skipped or ""]
