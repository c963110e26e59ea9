"""The items of a section for its browser: texts once, scores as short arrays, outcomes as one letter each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stereometer.report.numbers import significant
from stereometer.report.sections import Section, System
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.types import Score, Variant

STEREOTYPE, ANTI, TIE, SKIPPED, ABSENT = "s", "a", "t", "x", "-"
FIELDS = {
    "task": "Task",
    "domain": "Domain",
    "bias_type": "Bias type",
    "direction": "Direction",
    "target": "Target term",
}
"""The slices that can be filtered, as they are called."""


def cat_outcome(values: Mapping[str, float], variant: Variant) -> str:
    found = cat_metrics.outcome(values, variant)
    return TIE if found.ss_tie else STEREOTYPE if found.ss == 2 else ANTI


def pair_outcome(values: Mapping[str, float], variant: Variant) -> str:
    return {1.0: STEREOTYPE, 0.0: ANTI, 0.5: TIE}[pair_metrics.decision(values, variant)]


OUTCOMES: Mapping[str, Callable[[Mapping[str, float], Variant], str]] = {
    "cat": cat_outcome,
    "pair": pair_outcome,
}
CANDIDATES = {"cat": cat_metrics.CANDIDATES, "pair": pair_metrics.CANDIDATES}


def browser(section: Section) -> dict[str, Any] | None:
    """What the page needs to show and filter the items; None where no run kept its scores."""
    systems = [system for system in section.systems if system.run.scores is not None]
    items = {
        score.item: score
        for system in reversed(systems)
        for score in reversed(system.run.scores or ())
    }
    if not items:
        return None
    ordered = [items[one] for one in _order(systems)]
    fields = [name for name in FIELDS if any(name in score.slices for score in ordered)]
    values = {name: sorted({score.slices.get(name, "") for score in ordered}) for name in fields}
    texts = list(dict.fromkeys(name for score in ordered for name in score.texts))
    return {
        "candidates": list(CANDIDATES[section.shape]),
        "fields": [{"name": FIELDS[name], "values": values[name]} for name in fields],
        "textNames": texts,
        "items": [
            [
                score.item,
                [values[name].index(score.slices.get(name, "")) for name in fields],
                *_texts(score, texts),
            ]
            for score in ordered
        ],
        "systems": [
            _system(section, system, [score.item for score in ordered]) for system in systems
        ],
    }


def _order(systems: Sequence[System]) -> list[str]:
    return list(
        dict.fromkeys(score.item for system in systems for score in system.run.scores or ())
    )


def _texts(score: Score, names: Sequence[str]) -> list[str]:
    return [score.texts.get(name, "") for name in names]


def _system(section: Section, system: System, ids: Sequence[str]) -> dict[str, Any]:
    scores = {score.item: score for score in system.run.scores or ()}
    found = [scores.get(one) for one in ids]
    candidates = CANDIDATES[section.shape]
    return {
        "label": system.label,
        "colour": system.look.colour,
        "shape": system.look.shape,
        "outcomes": "".join(_outcome(section, score) for score in found),
        "scores": [_figure(score, name) for score in found for name in candidates],
        "skipped": {
            index: score.skipped
            for index, score in enumerate(found)
            if score is not None and score.skipped is not None
        },
    }


def _outcome(section: Section, score: Score | None) -> str:
    if score is None:
        return ABSENT
    return (
        SKIPPED
        if score.skipped is not None
        else OUTCOMES[section.shape](score.values, section.variant)
    )


def _figure(score: Score | None, name: str) -> float | None:
    return significant(score.values[name]) if score is not None and name in score.values else None
