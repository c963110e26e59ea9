"""Ratings as `align` reads them, and each cell's mean with how far people disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.stats.means import StudentMean
from stereometer.stats.polarised import polarised
from stereometer.studies.export.tables import Written, write_table
from stereometer.studies.kinds.survey import ratings
from stereometer.studies.people import Participant
from stereometer.studies.study import Study

RATINGS = ("participant", "group", "trait", "rating", "place", "turned")
CELLS = ("group", "trait", "mean", "low", "high", "raters", "sd", "polarised")


def write_ratings(
    study: Study, people: Sequence[Participant], ids: Mapping[str, str], out: Path
) -> Written:
    rows = [
        {"participant": ids[participant.person.id], **row}
        for participant in people
        for row in ratings(study, participant.person)
    ]
    rows.sort(key=lambda row: row["participant"])
    table = cells(rows)
    files = [
        write_table(out / "ratings.csv", RATINGS, rows),
        write_table(out / "means.csv", CELLS, table),
    ]
    marked = sum(bool(row["polarised"]) for row in table)
    facts = f"{len(rows)} ratings of {len(table)} groups and traits; {marked} are polarised."
    return Written(files, (facts,))


def cells(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per group and trait that at least two people rated."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        values.setdefault((row["group"], row["trait"]), []).append(row["rating"])
    return [
        _cell(group, trait, np.array(numbers, dtype=float))
        for (group, trait), numbers in values.items()
        if len(numbers) > 1
    ]


def _cell(group: str, trait: str, numbers: Any) -> dict[str, Any]:
    low, high = StudentMean.of(numbers).interval(0.95)
    alike = not numbers.std()  # which is not certainty, so it has no interval
    return {
        "group": group,
        "trait": trait,
        "mean": round(float(numbers.mean()), 2),
        "low": "" if alike else round(max(low, 0.0), 2),
        "high": "" if alike else round(min(high, 100.0), 2),
        "raters": numbers.size,
        "sd": round(float(numbers.std(ddof=1)), 2),
        "polarised": "yes" if polarised(numbers) else "",
    }
