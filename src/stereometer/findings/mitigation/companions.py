"""Runs of the same two models on other items, in the same folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from stereometer import catalog
from stereometer.errors import StereometerError
from stereometer.findings.mitigation.judged import Kept
from stereometer.findings.mitigation.sides import Side, pair_of
from stereometer.mitigations.card import card_of
from stereometer.runs import store
from stereometer.shapes.fact import AGREEMENT, FACT
from stereometer.shapes.paired import Difference
from stereometer.types import Result, Score, Settings

Run = tuple[Path, Result]


def lms(base: Side, after: Side, settings: Settings) -> Kept | None:
    """From the run with most items that has one."""
    return _kept(base, after, lambda kind: catalog.shape(kind).modelling, settings)


def agreement(base: Side, after: Side, settings: Settings) -> Kept | None:
    """With facts about the mitigation's own attribute; those about another are left out."""
    own = after.card.attribute if after.card else ""
    return _kept(base, after, lambda kind: AGREEMENT if kind == FACT else "", settings, own)


def _kept(
    base: Side,
    after: Side,
    metric: Callable[[str], str],
    settings: Settings,
    attribute: str | None = None,
) -> Kept | None:
    """The overall difference of a metric, named by the kind of result that has it; of items of an
    attribute only, where one is named."""
    kept = [
        Kept(first[1].benchmark, row)
        for first, second in _both(base, after)
        if (name := metric(first[1].kind))
        for row in _overall(first, second, settings, attribute)
        if row.name == name
    ]
    return max(kept, key=lambda each: (each.difference.n, each.benchmark), default=None)


def _both(base: Side, after: Side) -> Iterator[tuple[Run, Run]]:
    """Runs of both models that may stand in one column."""
    others = list(_beside(after))
    for first in _beside(base):
        for second in others:
            if store.measured_alike(first[1], second[1]):
                yield first, second
                break


def _beside(side: Side) -> Iterator[Run]:
    """The runs of the same model in the folder that holds its run."""
    for file in sorted(side.folder.resolve().parent.glob(f"*/{store.RESULT}")):
        try:
            result = store.load_result(file.parent)
        except StereometerError:  # not ours to judge
            continue
        if _model(result) == _model(side.result):
            yield file.parent, result


def _model(result: Result) -> tuple[object, ...]:
    """A mitigation may leave the digest as it is."""
    return result.model_card["digest"], card_of(result.model_card)


def _overall(
    first: Run, second: Run, settings: Settings, attribute: str | None
) -> tuple[Difference, ...]:
    def about(score: Score) -> bool:
        return attribute is None or score.slices.get("attribute") == attribute

    one, other = (
        Side(label, *run, tuple(each for each in store.load_scores(*run) if about(each)))
        for label, run in zip(store.labels([first[1], second[1]]), (first, second), strict=True)
    )
    both = one.scores and other.scores
    return pair_of(one, other, settings, overall=True).differences if both else ()
