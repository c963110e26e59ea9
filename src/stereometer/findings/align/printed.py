"""What Cao et al. (2022) printed of agreement with their own raters: values and means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from stereometer.benchmarks.published.matches import Measured, with_published
from stereometer.findings.align.names import Names
from stereometer.findings.align.pilot import GROUPS
from stereometer.findings.align.ratings import Ratings, differing
from stereometer.types import Estimate, Result, Slice

PUBLISHED_MEANS = "Aggregated_scores.json"
ALL_GROUPS = {"groups": "pilot groups included"}
"""The slice of all groups where a pilot leaves some out of the overall values."""


def beside_printed(
    estimates: Iterable[Estimate],
    run: Result,
    ratings: Ratings,
    templates: Sequence[str],
    pilot: Sequence[str] | None,
) -> list[Estimate]:
    """With the values of Tables 6, A11 to A13 and A19, whose templates a pilot had chosen."""
    if not ratings.are_released:
        return list(estimates)
    settings = {"templates": list(templates)}
    measured = Measured(
        run.data["digest"],
        run.model_card.get("spec") or run.model,
        run.measure,
        run.variant,
        settings,
    )

    def place(slice_: Slice) -> Slice:
        if slice_ == ALL_GROUPS or (not slice_ and pilot is None):
            return {"groups": "all"}
        besides = not slice_ and pilot is not None and tuple(pilot) == GROUPS
        return {"groups": "besides the pilot"} if besides else slice_

    return with_published(estimates, measured, place)


def printed_means(path: Path, ratings: Ratings, names: Names) -> list[str]:
    """Beside the released ratings, the released means: how many come out, and which do not."""
    beside = path.with_name(PUBLISHED_MEANS)
    if not beside.is_file() or not ratings.are_released:
        return []
    count, wrong = differing(beside, ratings, names)
    return [
        f"{count - len(wrong)} of {count} published means come out of the ratings.",
        *(f"Published mean that does not: {cell}." for cell in wrong),
    ]
