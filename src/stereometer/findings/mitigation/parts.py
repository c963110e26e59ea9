"""Leaks: what training and test share, and the numbers without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.errors import UsageError
from stereometer.findings.compare import Compared
from stereometer.findings.mitigation.judged import Kept, Part
from stereometer.findings.mitigation.sides import Held, Side, Trio
from stereometer.mitigations.card import MitigationCard
from stereometer.mitigations.lists import Lists
from stereometer.types import Result, Score, Settings, Slice

ALL, WITH, WITHOUT, UNKNOWN = "all", "with a list word", "without a list word", "texts not stored"


def shared_sentences(card: MitigationCard, result: Result) -> int | None:
    """How many the training text shares with the benchmark, None where nobody looked; raises for
    any."""
    leaks = (leak for leak in card.leaks.values() if leak.digest == result.data["digest"])
    leak = next(leaks, None)
    if leak is not None and leak.sentences:
        raise UsageError(
            f"The text that {card.method} was fitted on shares {leak.sentences} sentences with "
            f"{result.benchmark}. Numbers on items that a model was changed on prove nothing. "
            "Make the mitigation from a text without them."
        )
    return None if leak is None else leak.sentences


def parts(trio: Trio, held: Held, slices: Sequence[Slice], settings: Settings) -> Iterator[Part]:
    """The comparison on all items, as it was made, and the same on those that share a word with
    the lists and on those that do not."""
    yield _part(ALL, slices, trio.base, held)
    words = Lists(trio.after.card.words if trio.after.card else ())
    scores = (*trio.base.scores, *trio.after.scores)
    for name, items in split(scores, words).items():
        some = trio.on(items)
        if some.is_answered:
            yield _part(name, slices, some.base, some.held(settings, slices))


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


def _part(name: str, slices: Sequence[Slice], base: Side, held: Held) -> Part:
    """Targeted domains first, then all items, then the domains of side effects."""
    pair, key = held.pair, base.run.shape.domains
    others = [{key: domain} for domain in _domains(pair, key)]
    shown = [*slices, *(slice_ for slice_ in ({}, *others) if slice_ not in slices)]
    return Part(
        name,
        pair.items,
        tuple(effect for slice_ in shown for effect in held.effects if effect.slice == slice_),
        tuple(row for slice_ in shown for row in pair.withheld if row.slice == slice_),
        own_lms(base, pair),
    )


def _domains(pair: Compared, key: str) -> list[str]:
    slices = [row.slice for row in pair.differences] + [row.slice for row in pair.withheld]
    return sorted({slice_[key] for slice_ in slices if tuple(slice_) == (key,)})


def own_lms(base: Side, pair: Compared) -> Kept | None:
    """Of the same items, where they have one."""
    name = base.run.shape.modelling
    rows = [row for row in pair.differences if row.name == name and not row.slice]
    return Kept(base.result.benchmark, rows[0]) if rows else None
