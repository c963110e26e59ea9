"""Runs of a base, a mitigation of it and perhaps its control, compared on the same items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stereometer.findings.compare import Compared, compared
from stereometer.findings.mitigation.judged import Effect
from stereometer.mitigations.card import MitigationCard, card_of
from stereometer.runs.stored import Run
from stereometer.shapes.paired import Difference
from stereometer.types import Result, Score, Settings, Slice


@dataclass(frozen=True)
class Side:
    """A run under the name that it is shown by, on all or some of its items."""

    label: str
    run: Run
    items: Collection[str] | None = None
    """Those of its items that count; None for all."""

    @property
    def result(self) -> Result:
        return self.run.result

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        every = self.run.scores
        if self.items is None:
            return every
        return tuple(score for score in every if score.item in self.items)

    @cached_property
    def card(self) -> MitigationCard | None:
        return card_of(self.result.model_card)

    def on(self, items: Collection[str]) -> Side:
        """The run on some of its items."""
        return replace(self, items={each.item for each in self.scores} & set(items))


@dataclass(frozen=True)
class Held:
    """A mitigated model held against its base and its control."""

    pair: Compared
    """Before and after."""
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Trio:
    base: Side
    after: Side
    control: Side | None

    def on(self, items: Collection[str]) -> Trio:
        control = self.control.on(items) if self.control else None
        return Trio(self.base.on(items), self.after.on(items), control)

    @property
    def is_answered(self) -> bool:
        """Whether all have an item in common."""
        sides = [side for side in (self.base, self.after, self.control) if side]
        answered = [
            {score.item for score in side.scores if score.skipped is None} for side in sides
        ]
        return bool(set.intersection(*answered))

    def held(self, settings: Settings, slices: Sequence[Slice]) -> Held:
        """Against the base, and beside the control."""
        (pair,) = pairs_among((self.base, self.after), settings, planned=slices)
        effects = tuple(Effect.of(row) for row in _closeness_rows(pair))
        if self.control is None:
            return Held(pair, effects)
        (from_control,) = pairs_among((self.control, self.after), settings, planned=slices)
        (of_control,) = pairs_among((self.base, self.control), settings, planned=slices)
        beside = (
            effect.beside(_row(from_control, effect), _row(of_control, effect))
            for effect in effects
        )
        return Held(pair, tuple(beside))


def pairs_among(
    sides: Sequence[Side],
    settings: Settings,
    all_pairs: bool = False,
    overall: bool = False,
    planned: Sequence[Slice] = (),
) -> tuple[Compared, ...]:
    """As `compared` gives them: each with the first, or all."""
    labels, scores = [side.label for side in sides], [side.scores for side in sides]
    shape, ties = sides[0].run.shape, [side.run.ties for side in sides]
    return compared(labels, scores, shape, settings, all_pairs, ties, overall, planned)


def _closeness_rows(pair: Compared) -> list[Difference]:
    """Of the metric whose ideal is 50."""
    return [row for row in pair.differences if row.p_closer is not None]


def _row(pair: Compared, effect: Effect) -> Difference | None:
    rows = _closeness_rows(pair)
    return next((row for row in rows if row.slice == effect.slice), None)
