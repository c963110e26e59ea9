"""Runs of a base, a mitigation of it and perhaps its control: compared on all items, on those that
share words with its lists, and on those of other runs in the same folders."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from stereometer.core import catalog
from stereometer.core.compare import Compared, pairs_among
from stereometer.core.errors import StereometerError, UsageError
from stereometer.core.runs import store
from stereometer.core.runs.stored import Run, Side, run_of
from stereometer.core.shapes.differences import Difference
from stereometer.core.types import Result, Score, Settings, Slice
from stereometer.kinds.facts.shape import AGREEMENT, FACT
from stereometer.wings.mitigation.card import MitigationCard, card_of
from stereometer.wings.mitigation.swapping import Lists
from stereometer.wings.mitigation.verdicts.judged import Effect, ItemsPart, KeptMetric


def mitigation_of(side: Side) -> MitigationCard | None:
    """What was done to the model, if anything was."""
    return card_of(side.result.model_card)


@dataclass(frozen=True)
class Held:
    """A mitigated model held against its base and its control."""

    pair: Compared
    """Before and after."""
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Trio:
    """A base, a mitigation of it with its card, and its control."""

    base: Side
    after: Side
    card: MitigationCard
    control: Side | None = None

    def on(self, items: Collection[str]) -> Self:
        control = self.control.on(items) if self.control else None
        return replace(self, base=self.base.on(items), after=self.after.on(items), control=control)

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

        def pair_of(first: Side, second: Side) -> tuple[Compared, list[Difference]]:
            """With the differences of the metric whose ideal is 50."""
            (pair,) = pairs_among((first, second), settings, planned=slices)
            return pair, [row for row in pair.differences if row.p_closer is not None]

        pair, rows = pair_of(self.base, self.after)
        effects = tuple(map(Effect.of, rows))
        if self.control is None:
            return Held(pair, effects)
        controls = pair_of(self.control, self.after), pair_of(self.base, self.control)
        beside = (
            [next((row for row in rows if row.slice == effect.slice), None) for _, rows in controls]
            for effect in effects
        )
        return Held(pair, tuple(map(Effect.beside, effects, *zip(*beside, strict=True))))


ALL, WITH, WITHOUT, UNKNOWN = "all", "with a list word", "without a list word", "texts not stored"


def shared_sentences(card: MitigationCard, result: Result) -> int | None:
    """Of the training text and the benchmark: raises for any, None where nobody looked."""
    leaks = (leak for leak in card.leaks.values() if leak.digest == result.data["digest"])
    leak = next(leaks, None)
    if leak is not None and leak.sentences:
        raise UsageError(
            f"The text that {card.method} was fitted on shares {leak.sentences} sentences with "
            f"{result.benchmark}. Numbers on items that a model was changed on prove nothing. "
            "Make the mitigation from a text without them."
        )
    return None if leak is None else leak.sentences


def item_parts(
    trio: Trio, held: Held, slices: Sequence[Slice], settings: Settings
) -> Iterator[ItemsPart]:
    """The comparison on all items, as it was made, and the same on those that share a word with
    the lists and on those that do not."""
    yield _part(ALL, slices, trio.base, held)
    words, scores = Lists(trio.card.words), (*trio.base.scores, *trio.after.scores)
    texts = {score.item: score.texts for score in reversed(scores) if score.texts}
    # Whether an item has a word of the lists.
    known = {item: words.touch(of.values()) for item, of in texts.items()}
    for name, items in (
        (WITH, {item for item, touched in known.items() if touched}),
        (WITHOUT, {item for item, touched in known.items() if not touched}),
        (UNKNOWN, {score.item for score in scores} - known.keys()),
    ):
        some = trio.on(items)
        if some.is_answered:
            yield _part(name, slices, some.base, some.held(settings, slices))


def _part(name: str, slices: Sequence[Slice], base: Side, held: Held) -> ItemsPart:
    """Targeted domains first, then all items, then the domains of side effects."""
    pair, key = held.pair, base.run.shape.domains
    known = [row.slice for rows in (pair.differences, pair.withheld) for row in rows]
    domains = sorted({slice_[key] for slice_ in known if tuple(slice_) == (key,)})
    others = ({}, *({key: domain} for domain in domains))
    shown = [*slices, *(slice_ for slice_ in others if slice_ not in slices)]
    return ItemsPart(
        name,
        pair.items,
        tuple(effect for slice_ in shown for effect in held.effects if effect.slice == slice_),
        tuple(row for slice_ in shown for row in pair.withheld if row.slice == slice_),
        own_lms(base, pair),
    )


def own_lms(base: Side, pair: Compared) -> KeptMetric | None:
    """Of the same items, where they have one."""
    name = base.run.shape.modelling
    rows = [row for row in pair.differences if row.name == name and not row.slice]
    return KeptMetric(base.result.benchmark, rows[0]) if rows else None


def other_lms(trio: Trio, settings: Settings) -> KeptMetric | None:
    """From the run with most items that has one."""
    return _kept_metric(trio, settings, lambda kind: catalog.shape(kind).modelling, None)


def fact_agreement(trio: Trio, settings: Settings) -> KeptMetric | None:
    """With facts about the mitigation's own attribute; those about another are left out."""
    of_kind = {FACT: AGREEMENT}
    return _kept_metric(trio, settings, lambda kind: of_kind.get(kind, ""), trio.card.attribute)


def _kept_metric(
    trio: Trio, settings: Settings, metric: Callable[[str], str], attribute: str | None
) -> KeptMetric | None:
    """The overall difference of a metric, named by the kind of result that has it; of items of an
    attribute only, where one is named."""
    # Of several that may stand in one column the first is taken.
    others = {str(store.conditions(run.result)): run for run in [*_beside(trio.after)][::-1]}
    kept = [
        KeptMetric(first.result.benchmark, row)
        for first in _beside(trio.base)
        if (name := metric(first.result.kind))
        and (second := others.get(str(store.conditions(first.result))))
        for row in _overall(first, second, settings, attribute)
        if row.name == name
    ]
    return max(kept, key=lambda each: (each.difference.n, each.benchmark), default=None)


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
