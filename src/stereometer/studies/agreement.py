"""How far people agree so far: Krippendorff's alpha, and the mean size of the majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stereometer.stats.agreement import point_alpha
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
    if study.kind.scale is None:
        return None
    judged: dict[str, list[str | float]] = {}
    for participant in kept(people, study.kind.counts_at_once):
        for what, answer in study.kind.judged(study, participant.person):
            judged.setdefault(what, []).append(answer)
    repeated = [answers for answers in judged.values() if len(answers) > 1]
    names = study.kind.scale == "names"
    shares = [max(Counter(answers).values()) / len(answers) for answers in repeated]
    majority = sum(shares) / len(shares) if names and shares else None
    return Agreement(point_alpha(repeated, names), majority, len(repeated))
