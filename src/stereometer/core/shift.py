"""Every metric of a stored run on some of its items, and how far that moves it.

Both values come from the same scores, so the interval of the shift draws target terms (or items)
once for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stereometer.core.errors import DataError
from stereometer.core.files import read_json
from stereometer.core.shapes.differences import Shift
from stereometer.core.shapes.points import Coverage
from stereometer.core.shapes.shape import Contrast, Shape
from stereometer.core.types import Estimate, Result, Score, Settings

AUDIT, AUDIT_SCHEMA = "audit.json", "audit-of-run@1"
"""Beside a run: what an audit of its items says of its numbers."""


def restricted(
    shape: Shape, scores: Iterable[Score], keep: Collection[str], settings: Settings
) -> list[Estimate]:
    """Every estimate of the items kept."""
    kept = [score for score in scores if score.item in keep]
    return shape.summarize(kept, settings) if kept else []


def shifts(
    shape: Shape,
    scores: Iterable[Score],
    keep: Collection[str],
    settings: Settings,
    overall: bool = False,
) -> list[Shift]:
    """By headline slice, or overall, each metric on all items, on those kept, and the shift."""
    every = list(scores)
    answered = [score for score in every if score.skipped is None]
    if not answered or not isinstance(shape, Contrast):
        return []
    return [
        _covered(shift, every, keep, settings)
        for shift in shape.shifts(answered, keep, settings, overall)
    ]


def _covered(
    shift: Shift, scores: Sequence[Score], keep: Collection[str], settings: Settings
) -> Shift:
    """No value where a run of these items would have none, and no shift then."""
    here = [score for score in scores if shift.slice.items() <= score.slices.items()]
    if why := Coverage.of(here).shortfall(settings):
        return replace(shift.without(why), value=None)
    kept = Coverage.of(score for score in here if score.item in keep)
    if shift.kept is not None and (why := kept.shortfall(settings)):
        return shift.without(why)
    return shift


# -------------------------------------------------------------------------------- kept beside a run


@dataclass(frozen=True)
class Audited:
    """What `audit.json` beside a run holds."""

    items: int
    clean: int
    counting: Sequence[str]
    """The flags that make an item unclean."""
    errata: str | None
    flags: Mapping[str, Mapping[str, Any]]
    estimates: Sequence[Estimate]
    """Of the clean items."""
    shifts: Sequence[Shift]
    by_flag: Mapping[str, Sequence[Shift]]


def load_audit(folder: Path, result: Result) -> Audited | None:
    """The audit of a run, where there is one; raises where it is of other items or damaged."""
    file = folder / AUDIT
    if not file.exists():
        return None
    value = read_json(file)
    if (
        not isinstance(value, dict)
        or value.get("schema") != AUDIT_SCHEMA
        or value.get("digest") != result.data.get("digest")
    ):
        raise DataError(
            f"{file} is not an audit of this run. It is of other items or another version. Run "
            "`stereometer audit` again."
        )
    try:
        return Audited(
            value["items"],
            value["clean"],
            value["counting"],
            value["errata"],
            value["flags"],
            [Estimate.from_json(row) for row in value["estimates"]],
            [Shift.from_json(row) for row in value["shifts"]],
            {flag: list(map(Shift.from_json, rows)) for flag, rows in value["by_flag"].items()},
        )
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is damaged: {error}. It was edited or cut off. Run `stereometer audit` again."
        ) from None
