"""Contract tests that a plugin can run on itself: each raises AssertionError with what is wrong.

from stereometer.testing import check_backend
def test_my_backend():
    check_backend(MyBackend())
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, Source
from stereometer.core.gate.gate import gate
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.types import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    Answer,
    Backend,
    CausalTokens,
    Continuation,
    Encoding,
    Follows,
    Generate,
    Item,
    MaskedBlank,
    MaskedTokens,
    Measure,
    NextTokens,
    Options,
    Request,
    Score,
    Scorer,
    Settings,
    Skip,
    SpanVectors,
    Variant,
    WholeText,
)
from stereometer.wings.workers.crew import expected_length

BLANK_KINDS = {MaskedBlank.kind, NextTokens.kind, SpanVectors.kind, WORD_MASSES, SET_DISTANCES}
TEXTS = (
    "The baker opened the shop early.",
    "It rained all afternoon.",
    "Crème brûlée, please!",
    "two  spaces",
)
KINDS = {
    kind.kind
    for kind in (WholeText, Continuation, Follows, MaskedTokens, CausalTokens, Generate, Options)
}


def sample_requests(backend: Backend) -> dict[str, Request]:
    """Some requests of every kind the backend supports."""
    requests: list[Request] = []
    for first, second in pairwise(TEXTS):
        if WholeText.kind in backend.abilities.kinds:
            requests.append(WholeText(first))
        if Continuation.kind in backend.abilities.kinds:
            requests.append(Continuation(first, second))
        if Follows.kind in backend.abilities.kinds:
            requests.append(Follows(first, second))
        if Generate.kind in backend.abilities.kinds:
            requests += [
                Generate(first, temperature=temperature, max_tokens=4, repeat=repeat)
                for temperature, repeat in ((0, 0), (1, 0), (1, 1))
            ]
        if Options.kind in backend.abilities.kinds:
            requests.append(Options(f"{first}\nA. yes\nB. no\nAnswer:"))
        if backend.abilities.kinds & {MaskedTokens.kind, CausalTokens.kind}:
            requests += _token_requests(backend, backend.encode(first))
    return {request.key: request for request in requests}


def _token_requests(backend: Backend, encoding: Encoding) -> Iterable[Request]:
    inner = [index for index, word in enumerate(encoding.words) if word is not None]
    hidden = tuple(
        HIDDEN if index == inner[-1] else token for index, token in enumerate(encoding.ids)
    )
    if MaskedBlank.kind in backend.abilities.kinds:
        yield MaskedBlank(hidden, inner[-1], encoding.ids[inner[0] : inner[-1]])
    if NextTokens.kind in backend.abilities.kinds:
        yield NextTokens(encoding.ids[: inner[-1]], encoding.ids[inner[0] :])
    if MaskedTokens.kind in backend.abilities.kinds:
        yield MaskedTokens(encoding.ids, tuple(((index,), index) for index in inner))
    if CausalTokens.kind in backend.abilities.kinds:
        yield CausalTokens(encoding.ids, max(1, inner[0]))


def check_backend(backend: Backend, tolerance: float = 1e-5) -> None:
    """Answers every supported request once, with finite numbers that do not depend on order or
    company.

    Sums of float32 depend a little on the batch: a deep model may need a wider tolerance a token
    (1e-4).
    """
    assert backend.abilities.kinds, "a backend supports at least one kind of request"
    unknown = backend.abilities.all - KINDS - BLANK_KINDS
    assert not unknown, f"unknown kinds of request: {sorted(unknown)}"
    assert backend.card.name, "a card names the model"
    assert backend.card.digest, "a card has a digest of the weights"
    requests = sample_requests(backend)
    together = _answers(backend, requests)
    for key, request in requests.items():
        _check_answer(request, together[key])
    backwards = _answers(backend, dict(reversed(requests.items())))
    alone = {
        key: answer
        for key, request in requests.items()
        for key, answer in _answers(backend, {key: request}).items()
    }
    for key in requests:
        assert _close(together[key], backwards[key], tolerance), (
            f"the answer to {requests[key]} depends on the order of asking"
        )
        assert _close(together[key], alone[key], tolerance), (
            f"the answer to {requests[key]} depends on what else is asked"
        )


def _answers(backend: Backend, requests: Mapping[str, Request]) -> dict[str, Answer]:
    pairs = list(backend.answer(requests))
    assert sorted(key for key, _ in pairs) == sorted(requests), (
        "every request is answered once, and nothing else"
    )
    return dict(pairs)


def _check_answer(request: Request, answer: Answer) -> None:
    if isinstance(request, Generate):
        assert answer.text is not None, f"the answer to {request} has no text"
        assert answer.end, f"the answer to {request} does not say why it ended"
        return
    name = "logodds" if isinstance(request, Follows) else "logprob"
    row = answer.column(name)
    length = expected_length(request)
    assert length is None or len(row) == length, (
        f"{request} has {length} tokens to score, the answer {len(row)}"
    )
    assert len(row) > 0, f"the answer to {request} is empty"
    assert all(math.isfinite(value) for value in row), (
        f"the answer to {request} has a number that is not finite"
    )


def _close(left: Answer, right: Answer, tolerance: float) -> bool:
    if left.text is not None or right.text is not None:
        return (left.text, left.end) == (right.text, right.end)
    return all(
        a.keys() == b.keys()
        and all(abs(x - y) < tolerance for name in a for x, y in zip(a[name], b[name], strict=True))
        for a, b in zip(left.rows, right.rows, strict=True)
    )


def check_source(source: Source, benchmark: Benchmark) -> None:
    """A card with every field filled, unique ids, slices and texts on every item, and measures for
    its shapes."""
    card = source.card
    needed = "name title citation licence language population year get known_problems not_concluded"
    for name in needed.split():
        assert getattr(card, name), f"the card of {source.name} has no {name}"
    assert card.name == source.name, "a card has the name of its benchmark"
    assert set(benchmark.measures) <= set(benchmark.shapes), (
        "default measures are for shapes that the benchmark has"
    )
    for shape, items in benchmark.shapes.items():
        assert items, f"{source.name} has no items of shape {shape}"
        ids = [item.id for item in items]
        assert len(set(ids)) == len(ids), f"{source.name} has the same id twice in shape {shape}"
        for item in items:
            _check_item(item, shape)


def _check_item(item: Item, shape: str) -> None:
    known = catalog.shape(shape)
    needed = {*known.slices} if isinstance(known, SentenceShape) else set()
    assert needed <= item.slices.keys(), f"{item.id} lacks the slices {needed - item.slices.keys()}"
    assert all(isinstance(text, str) for text in item.texts.values()), (
        f"{item.id} has a text that is not a string"
    )


def check_measure(measure: Measure, backend: Backend, items: Sequence[Item]) -> None:
    """Plans only what the backend supports, scores what it planned, and summarizes with
    denominators that add up."""
    asked_about, _ = measure.items(items)
    scores = [_scored(measure, backend, item) for item in islice(asked_about, 40)]
    most = sum(max(1, len(score.answers)) for score in scores)
    assert any(score.skipped is None for score in scores), (
        f"{measure.name} scores none of the items"
    )
    estimates = measure.summarize(iter(scores), Settings(resamples=200))
    assert estimates, f"{measure.name} gives no estimates"
    for estimate in estimates:
        assert 0 <= estimate.n <= estimate.asked <= most, (
            f"{estimate.name}: {estimate.n} of {estimate.asked}"
        )
        assert (estimate.value is None) == (estimate.why is not None), (
            f"{estimate.name} in {dict(estimate.slice)} has a value or a reason, not both"
        )
        bounded = (
            estimate.low is not None and estimate.high is not None and estimate.low <= estimate.high
        )
        assert (
            estimate.value is None or bounded or (estimate.interval or "").startswith("none: ")
        ), f"{estimate.name} has neither an interval nor why not"


def _scored(measure: Measure, backend: Backend, item: Item) -> Score:
    try:
        plan = measure.plan(item)
    except Skip as skip:
        return Score(item.id, item.slices, {}, skip.reason)
    requests = {request.key: request for asked in plan.values() for request in asked}
    assert all(request.kind in backend.abilities.kinds for request in requests.values()), (
        f"{measure.name} asks what the backend cannot answer"
    )
    answers = dict(backend.answer(requests))
    exchanged = {
        name: [(request, answers[request.key]) for request in asked] for name, asked in plan.items()
    }
    score = measure.score(item, exchanged)
    assert all(math.isfinite(value) for value in score.values.values()), (
        f"{measure.name} gives a score that is not finite"
    )
    return score


def check_system(system: Scorer, items: Sequence[Item]) -> None:
    """One score per item, in order, in both variants."""
    variants: tuple[Variant, ...] = ("paper", "sound")
    for variant in variants:
        scores = list(system.scores(items, variant))
        assert [score.item for score in scores] == [item.id for item in items], (
            "a system scores every item, in order"
        )
        assert all(score.values or score.skipped for score in scores), (
            "a score has values or a reason"
        )


def check_bars(
    *runs: str | Path, bars: str | Path, against: str | Path | None = None, undecided: bool = False
) -> None:
    """Stored runs meet every bar of a file; `undecided` lets those pass that more items would
    decide."""
    outcome = gate(*runs, bars=bars, against=against)
    open_bars = outcome.of("missed") + ([] if undecided else outcome.of("undecided"))
    lines = [f"{each.outcome}: {each.rule}: {each.seen} ({each.place})" for each in open_bars]
    assert not lines, "\n".join(lines)
