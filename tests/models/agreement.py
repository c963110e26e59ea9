"""Holds what the package gives against the reference: the same items scored, the same numbers, the same reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stereometer import catalog
from stereometer.runner import distinct, planned, scored
from stereometer.types import Answer, Score
from tests.models.reference import Reference, Scored, Unscorable

TOKEN = 1e-5
SENTENCE = 1e-4


def bound(name: str, variant: str, backend: Any, within_word: bool = False) -> Any:
    return catalog.find("measure", name)(backend, variant, within_word)


def answered(measure: Any, backend: Any, items: Sequence[Any]) -> tuple[list[Score], list[dict[str, list[Answer]]]]:
    """Scores and rows of all items, asked in one go as a run would."""
    plans = list(planned(items, measure))
    answers = dict(backend.answer(distinct(plans)))
    rows = [{name: [answers[one.key] for one in asked] for name, asked in plan.requests.items()} for plan in plans]
    return [scored(plan, measure, answers) for plan in plans], rows


def expected(reference: Reference, name: str, variant: str, item: Any) -> dict[str, Scored] | str:
    """The reference's scores, or its reason."""
    try:
        return reference.cat(name, variant, item) if name.startswith("cat-") else reference.pair(name, variant, item)
    except Unscorable as reason:
        return str(reason)


def assert_agree(name: str, variant: str, backend: Any, reference: Reference, items: Sequence[Any]) -> list[Score]:
    """Every item: the same reason or the same rows (1e-5 a token) and scores (1e-4 a sentence)."""
    scores, rows = answered(bound(name, variant, backend, reference.within_word), backend, items)
    for item, score, row in zip(items, scores, rows, strict=True):
        wanted = expected(reference, name, variant, item)
        if isinstance(wanted, str):
            assert score.skipped == wanted, f"{item.id}: skipped for {score.skipped!r}, the reference says {wanted!r}"
            continue
        assert score.skipped is None, f"{item.id}: skipped for {score.skipped!r}, the reference scores it"
        for label, one in wanted.items():
            found = [value for answer in row[label] for value in answer.column("logprob")]
            assert found == pytest.approx(one.row, abs=TOKEN), f"{item.id}, {label}"
            assert score.values[label] == pytest.approx(one.value, abs=SENTENCE), f"{item.id}, {label}"
    return scores
