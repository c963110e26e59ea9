"""Every metric of a stored run on some of its items, and how far that moves it.

Both values come from the same scores, so the interval of the shift draws target terms (or items)
once for both.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from stereometer.core import catalog
from stereometer.core.shapes.differences import Shift
from stereometer.core.shapes.points import Coverage
from stereometer.core.shapes.shape import Contrast, Shape
from stereometer.core.show import numbers
from stereometer.core.show.view import Piece, records
from stereometer.core.types import Estimate, Score, Settings


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


def shift_table(moved: Sequence[Shift], kept: str, kind: str) -> Iterator[Piece]:
    """Overall, tasks and domains; the finer slices are in --json."""
    shape = catalog.shape(kind)
    rows = [(shift, shape.metric(shift.name).digits) for shift in moved if len(shift.slice) < 2]
    return records(
        [
            {
                "": numbers.slice_name(shift.slice),
                "metric": shift.name,
                "all": numbers.number(shift.value, digits),
                "n": shift.n,
                kept: numbers.number(shift.kept, digits),
                f"n {kept}": shift.n_kept,
                "shift": shift_cell(shift, digits),
                "verdict": shift.verdict or "",
            }
            for shift, digits in rows
        ]
    )


def shift_cell(shift: Shift, digits: int) -> str:
    if shift.why or shift.difference is None:
        return shift.why or ""
    return numbers.signed_interval(shift.difference, shift.low, shift.high, digits)
