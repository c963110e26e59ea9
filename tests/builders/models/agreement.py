"""Holds what the package gives against the reference: the same items scored, the same numbers, the
same reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
import torch

from stereometer.core import catalog
from stereometer.core.runs.runner import distinct, planned, scored
from stereometer.core.types import Answer, CausalTokens, Request, Score
from tests.builders.models.reference import Reference, Scored, Unscorable

TOKEN = 1e-5
SENTENCE = 1e-4


def bound(name: str, variant: str, backend: Any, within_word: bool = False) -> Any:
    method = catalog.find("method", name)
    options = method.options(within_word=True) if within_word else method.options()
    return method.bind(backend, variant, options)


def answered(
    measure: Any, backend: Any, items: Sequence[Any]
) -> tuple[list[Score], list[dict[str, list[Answer]]]]:
    """Scores and rows of all items, asked in one go as a run would."""
    plans = list(planned(items, measure))
    answers = dict(backend.answer(distinct(plans)))
    rows = [
        {name: [answers[one.key] for one in asked] for name, asked in plan.requests.items()}
        for plan in plans
    ]
    return [scored(plan, measure, answers) for plan in plans], rows


def expected(reference: Reference, name: str, variant: str, item: Any) -> dict[str, Scored] | str:
    """The reference's scores, or its reason."""
    try:
        return (
            reference.cat(name, variant, item)
            if name.startswith("cat-")
            else reference.pair(name, variant, item)
        )
    except Unscorable as reason:
        return str(reason)


def assert_agree(
    name: str, variant: str, backend: Any, reference: Reference, items: Sequence[Any]
) -> list[Score]:
    """Every item: the same reason or the same rows (1e-5 a token) and scores (1e-4 a sentence)."""
    scores, rows = answered(bound(name, variant, backend, reference.within_word), backend, items)
    for item, score, row in zip(items, scores, rows, strict=True):
        wanted = expected(reference, name, variant, item)
        if isinstance(wanted, str):
            assert score.skipped == wanted, (
                f"{item.id}: skipped for {score.skipped!r}, the reference says {wanted!r}"
            )
            continue
        assert score.skipped is None, (
            f"{item.id}: skipped for {score.skipped!r}, the reference scores it"
        )
        for label, one in wanted.items():
            found = [
                value for answer in row.get(label, ()) for value in answer.column("logprob")
            ]  # nothing is asked of a pair that shares nothing
            assert found == pytest.approx(one.row, abs=TOKEN), f"{item.id}, {label}"
            assert score.values[label] == pytest.approx(one.value, abs=SENTENCE), (
                f"{item.id}, {label}"
            )
    return scores


# ------------------------------------------------------------------------------------ bare requests


def rows(backend: Any, requests: Mapping[str, Request]) -> dict[str, list[float]]:
    return {key: list(answer.column("logprob")) for key, answer in backend.answer(requests)}


def assert_same(left: Mapping[str, list[float]], right: Mapping[str, list[float]]) -> None:
    assert left.keys() == right.keys()
    for key, row in left.items():
        assert row == pytest.approx(right[key], abs=TOKEN)


def family(prefix: int, rest: int, branches: int, seed: int = 0) -> dict[str, Request]:
    """Texts that begin alike."""
    draw = Random(seed)
    start = (2, *(draw.randrange(10, 800) for _ in range(prefix)))
    found = [
        CausalTokens((*start, *(draw.randrange(10, 800) for _ in range(rest))), 1)
        for _ in range(branches)
    ]
    return {request.key: request for request in found}


def slow(model: Any, requests: Mapping[str, Request]) -> dict[str, list[float]]:
    found = {}
    for key, request in requests.items():
        assert isinstance(request, CausalTokens)
        with torch.no_grad():
            logs = model(input_ids=torch.tensor([request.ids])).logits[0].double().log_softmax(-1)
        found[key] = [
            float(logs[at - 1, request.ids[at]]) for at in range(request.start, len(request.ids))
        ]
    return found
