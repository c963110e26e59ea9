"""How far people agree so far: Krippendorff's alpha, and the mean size of the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stereometer.stats.agreement import point_alpha
from stereometer.studies.kinds import judge_cats, judge_pairs, survey
from stereometer.studies.people import Participant, kept
from stereometer.studies.study import Study


@dataclass(frozen=True)
class Agreement:
    alpha: float | None
    """None where nothing was judged twice, or everybody said the same."""
    majority: float | None
    """Mean share of the largest answer; of labels only."""
    judged: int
    """What was judged at least twice."""


def agreement_of(study: Study, people: Sequence[Participant]) -> Agreement | None:
    """None for a study in which nothing is judged."""
    counted = kept(people, study.kind.counts_at_once)
    if study.kind.name == survey.SURVEY.name:
        cells: dict[str, list[float]] = {}
        for participant in counted:
            for row in survey.ratings(study, participant.person):
                cells.setdefault(f"{row['group']}/{row['trait']}", []).append(row["rating"])
        return _agreement([values for values in cells.values() if len(values) > 1], nominal=False)
    labels = _labels(study, counted)
    if labels is None:
        return None
    return _agreement([values for values in labels.values() if len(values) > 1], nominal=True)


def _labels(study: Study, people: Sequence[Participant]) -> dict[str, list[str]] | None:
    rows: dict[str, list[str]] = {}
    if study.kind.name == judge_cats.JUDGE_CATS.name:
        for participant in people:
            for row in judge_cats.labels(study, participant.person):
                rows.setdefault(row["candidate"], []).append(row["label"])
        return rows
    if study.kind.name == judge_pairs.JUDGE_PAIRS.name:
        for participant in people:
            for row in judge_pairs.labels(study, participant.person):
                rows.setdefault(row["item"], []).append(f"{row['more']}/{row['less']}")
        return rows
    return None


def _agreement(judged: Sequence[Sequence[str] | Sequence[float]], nominal: bool) -> Agreement:
    shares = [max(Counter(values).values()) / len(values) for values in judged]
    majority = sum(shares) / len(shares) if nominal and shares else None
    return Agreement(point_alpha(judged, nominal), majority, len(judged))
