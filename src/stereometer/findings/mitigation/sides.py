"""Runs of a base, a mitigation of it and perhaps its control, compared on the same items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from stereometer import catalog
from stereometer.findings.compare import Compared, compared
from stereometer.findings.mitigation.judged import Effect
from stereometer.mitigations.card import MitigationCard, card_of
from stereometer.runs.counted import settings_of
from stereometer.shapes.paired import Difference
from stereometer.shapes.shape import Shape
from stereometer.types import Result, Score, Settings, Slice


@dataclass(frozen=True)
class Side:
    """A stored run under the name that it is shown by."""

    label: str
    folder: Path
    result: Result
    scores: tuple[Score, ...]

    @cached_property
    def card(self) -> MitigationCard | None:
        return card_of(self.result.model_card)

    @property
    def ties(self) -> float:
        """The share of them that leaves a score open."""
        return settings_of(self.result).ties

    @property
    def shape(self) -> Shape:
        return catalog.shape(self.result.kind)

    def on(self, items: Collection[str]) -> Side:
        """The run on some of its items."""
        return replace(self, scores=tuple(each for each in self.scores if each.item in items))


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
        pair = pair_of(self.base, self.after, settings, slices)
        effects = tuple(Effect.of(row) for row in _closeness_rows(pair))
        if self.control is None:
            return Held(pair, effects)
        from_control = pair_of(self.control, self.after, settings, slices)
        of_control = pair_of(self.base, self.control, settings, slices)
        beside = (
            effect.beside(_row(from_control, effect), _row(of_control, effect))
            for effect in effects
        )
        return Held(pair, tuple(beside))


def pair_of(
    first: Side,
    second: Side,
    settings: Settings,
    slices: Sequence[Slice] = (),
    overall: bool = False,
) -> Compared:
    (pair,) = compared(
        (first.label, second.label),
        (first.scores, second.scores),
        first.shape,
        settings,
        False,
        (first.ties, second.ties),
        overall,
        slices,
    )
    return pair


def _closeness_rows(pair: Compared) -> list[Difference]:
    """Of the metric whose ideal is 50."""
    return [row for row in pair.differences if row.p_closer is not None]


def _row(pair: Compared, effect: Effect) -> Difference | None:
    rows = _closeness_rows(pair)
    return next((row for row in rows if row.slice == effect.slice), None)
