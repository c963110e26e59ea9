"""Leaks: what training and test share, and the numbers without it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from stereometer.errors import UsageError
from stereometer.findings.compare import Compared, compared
from stereometer.findings.mitigation.judged import Effect, Kept, Part
from stereometer.mitigations.card import Leak, MitigationCard
from stereometer.mitigations.lists import Lists
from stereometer.types import Result, Score, Settings, Slice

if TYPE_CHECKING:
    from stereometer.findings.mitigation.judge import Side

ALL, WITH, WITHOUT, UNKNOWN = "all", "with a list word", "without a list word", "texts not stored"


def shared_sentences(card: MitigationCard, result: Result) -> int | None:
    """How many the training text shares with the benchmark, None where nobody looked; raises for
    any."""
    leak = _leak(card, result)
    if leak is not None and leak.sentences:
        raise UsageError(
            f"The text that {card.method} was fitted on shares {leak.sentences} sentences with "
            f"{result.benchmark}. Numbers on items that a model was changed on prove nothing. "
            "Make the mitigation from a text without them."
        )
    return None if leak is None else leak.sentences


def _leak(card: MitigationCard, result: Result) -> Leak | None:
    """Of the same data; a card of an older version has only the benchmark's name."""
    for name, leak in card.leaks.items():
        if leak.digest == result.data["digest"] or (not leak.digest and name == result.benchmark):
            return leak
    return None


def parts(
    base: Side, after: Side, slices: Sequence[Slice], pair: Compared, settings: Settings
) -> Iterator[Part]:
    """The comparison on all items, and on those that share a word with the lists or do not."""
    yield _part(ALL, slices, pair, base)
    words = Lists(after.card.words if after.card else ())
    for name, items in split((*base.scores, *after.scores), words).items():
        sides = [[score for score in side.scores if score.item in items] for side in (base, after)]
        if not _answered(sides):
            continue
        (some,) = compared(
            (base.label, after.label),
            sides,
            base.shape,
            settings,
            False,
            (base.ties, after.ties),
            planned=slices,
        )
        yield _part(name, slices, some, base)


def split(scores: Sequence[Score], words: Lists) -> dict[str, set[str]]:
    """Ids of items by whether they have a list word, in the order in which they are shown."""
    known: dict[str, bool] = {}
    for score in scores:
        if score.texts and score.item not in known:
            known[score.item] = words.touch(score.texts.values())
    return {
        WITH: {item for item, touched in known.items() if touched},
        WITHOUT: {item for item, touched in known.items() if not touched},
        UNKNOWN: {score.item for score in scores} - known.keys(),
    }


def _answered(sides: Sequence[Sequence[Score]]) -> bool:
    first, second = ({score.item for score in side if score.skipped is None} for side in sides)
    return bool(first & second)


def _part(name: str, slices: Collection[Slice], pair: Compared, base: Side) -> Part:
    """Targeted domains first, then all items, then the domains of side effects."""
    key = base.shape.domains
    others = [{key: domain} for domain in _domains(pair, key)]
    shown = [*slices, *(slice_ for slice_ in ({}, *others) if slice_ not in slices)]
    return Part(
        name,
        pair.items,
        tuple(
            Effect.of(row)
            for slice_ in shown
            for row in pair.differences
            if row.p_closer is not None and row.slice == slice_
        ),
        tuple(row for slice_ in shown for row in pair.withheld if row.slice == slice_),
        own_lms(base, pair),
    )


def _domains(pair: Compared, key: str) -> list[str]:
    slices = [row.slice for row in pair.differences] + [row.slice for row in pair.withheld]
    return sorted({slice_[key] for slice_ in slices if tuple(slice_) == (key,)})


def own_lms(base: Side, pair: Compared) -> Kept | None:
    """Of the same items, where they have one."""
    name = base.shape.modelling
    rows = [row for row in pair.differences if row.name == name and not row.slice]
    return Kept(base.result.benchmark, rows[0]) if rows else None
