"""The items of a group for its browser: texts once, scores as short arrays, outcomes as letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    by_item = [{score.item: score for score in _open(system)} for system in systems]
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
            _system(group, system, [scores.get(id_) for id_ in order], shape)
            for system, scores in zip(systems, by_item, strict=True)
        ],
    }


def _open(system: System) -> list[Score]:
    """Scores of items that may be shown; hidden ones are stored without their texts."""
    hidden = system.result.data["hidden"]
    return [score for score in system.scores if score.texts or not hidden]


def _system(
    group: Group, system: System, scores: Sequence[Score | None], shape: Contrast
) -> dict[str, Any]:
    variant = group.first.variant
    return {
        "label": system.label,
        "colour": system.look.colour,
        "shape": system.look.shape,
        "outcomes": "".join(_outcome(score, variant, shape) for score in scores),
        "scores": [_value(score, name) for score in scores for name in group.shape.candidates],
        "skipped": {
            index: score.skipped
            for index, score in enumerate(scores)
            if score is not None and score.skipped is not None
        },
    }


def _outcome(score: Score | None, variant: Variant, shape: Contrast) -> str:
    if score is None:
        return ABSENT
    return SKIPPED if score.skipped is not None else SIDES[shape.side(score, variant)]


def _value(score: Score | None, name: str) -> float | None:
    return significant(score.values[name]) if score is not None and name in score.values else None
