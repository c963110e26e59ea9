"""Runs of the same two models on other items, in the same folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stereometer import catalog
from stereometer.errors import StereometerError
from stereometer.findings.mitigation.judged import Kept
from stereometer.findings.mitigation.sides import Side, pairs_among
from stereometer.mitigations.card import card_of
from stereometer.runs import store
from stereometer.runs.stored import Run, run_of
from stereometer.shapes.fact import AGREEMENT, FACT
from stereometer.shapes.paired import Difference
from stereometer.types import Result, Score, Settings


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
        Kept(first.result.benchmark, row)
        for first, second in _both(base, after)
        if (name := metric(first.result.kind))
        for row in _overall(first, second, settings, attribute)
        if row.name == name
    ]
    return max(kept, key=lambda each: (each.difference.n, each.benchmark), default=None)


def _both(base: Side, after: Side) -> Iterator[tuple[Run, Run]]:
    """Runs of both models that may stand in one column."""
    others = list(_beside(after))
    for first in _beside(base):
        for second in others:
            if store.measured_alike(first.result, second.result):
                yield first, second
                break


def _beside(side: Side) -> Iterator[Run]:
    """The runs of the same model in the folder that holds its run."""
    for file in sorted(side.run.folder.resolve().parent.glob(f"*/{store.RESULT}")):
        try:
            run = run_of(file.parent)
        except StereometerError:  # not ours to judge
            continue
        if _model(run.result) == _model(side.result):
            yield run


def _model(result: Result) -> tuple[object, ...]:
    """A mitigation may leave the digest as it is."""
    return result.model_card["digest"], card_of(result.model_card)


def _overall(
    first: Run, second: Run, settings: Settings, attribute: str | None
) -> tuple[Difference, ...]:
    def about(score: Score) -> bool:
        return attribute is None or score.slices.get("attribute") == attribute

    labels = store.labels([first.result, second.result])
    one, other = (
        Side(label, run, {score.item for score in run.scores if about(score)})
        for label, run in zip(labels, (first, second), strict=True)
    )
    if not (one.scores and other.scores):
        return ()
    return pairs_among((one, other), settings, overall=True)[0].differences
