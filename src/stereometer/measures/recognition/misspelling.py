"""Misspelt and censored words: where they are put, and which answers they turn round."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from stereometer.stats.intervals import wilson
from stereometer.stats.tests import mcnemar
from stereometer.types import Estimate, Score, Settings, Variant

PHUCK = "phuck"
"""A spelling that the study looked for as well, for one comment that its text discusses."""


def holds(text: str, original: str, variant: Variant) -> bool:
    """`paper`: as a substring, in lower case only; `sound`: at the start of a word, in any case."""
    if variant == "paper":
        return original in text or (original == "fuck" and PHUCK in text)
    return _at_word_start(original).search(text) is not None


def edited(text: str, original: str, edit: str, variant: Variant) -> str:
    """`paper`: every occurrence in any case, inside words too; `sound`: at the start of a word, keeping a capital."""
    if variant == "paper":
        return re.sub(re.escape(original), lambda _: edit, text, flags=re.IGNORECASE)
    return _at_word_start(original).sub(lambda found: edit.capitalize() if found[0][0].isupper() else edit, text)


def _at_word_start(original: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(original)}", re.IGNORECASE)


@dataclass
class _Flips:
    """Edited copies against the comment as it was, and comments that any edit turned round."""

    edits: int = 0
    lost: int = 0
    gained: int = 0
    comments: dict[str, set[str]] = field(default_factory=dict)
    unread: int = 0


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """For each category and overall: the share of comments that some edit turned round, and McNemar's test on single flips.

    The test counts a comment once: it is gained, or lost, by the side on which most of its edits fall.
    """
    found = list(scores)
    before = {(one.slices["category"], one.slices["comment"]): _label(one) for one in found if "edit" not in one.slices}
    groups = {"": _Flips(), **{name: _Flips() for name in dict.fromkeys(one.slices["category"] for one in found)}}
    for one in found:
        for flips in (groups[""], groups[one.slices["category"]]):
            _count(flips, one, before[one.slices["category"], one.slices["comment"]])
    return [_estimate(name, flips, settings) for name, flips in groups.items()]


def flipped(scores: Iterable[Score]) -> list[dict[str, str]]:
    """Every comment that an edit turned round, by its row, with the edit and both readings."""
    found = list(scores)
    before = {(one.slices["category"], one.slices["comment"]): _label(one) for one in found if "edit" not in one.slices}
    return [
        {"comment": one.slices["comment"], "category": one.slices["category"], "edit": one.slices["edit"], "was": was, "now": now}
        for one in found
        if "edit" in one.slices
        and (was := before[one.slices["category"], one.slices["comment"]]) is not None
        and (now := _label(one)) is not None
        and was != now
    ]


def _label(score: Score) -> str | None:
    return next((given.get("label") for given in score.answers), None)


def _count(flips: _Flips, score: Score, was: str | None) -> None:
    key = f"{score.slices['category']}:{score.slices['comment']}"
    now = _label(score)
    if "edit" not in score.slices:
        if was is not None:
            flips.comments.setdefault(key, set())
        else:
            flips.unread += 1
        return
    flips.edits += 1
    if was is None or now is None or was == now:
        return
    lost = was == score.slices["category"]
    flips.lost += lost
    flips.gained += not lost
    flips.comments.setdefault(key, set()).add("lost" if lost else "gained")


def _estimate(name: str, flips: _Flips, settings: Settings) -> Estimate:
    slice_ = {"category": name} if name else {}
    turned = [sides for sides in flips.comments.values() if sides]
    n, asked = len(flips.comments), len(flips.comments) + flips.unread
    skipped = {"the comment as it was could not be read": flips.unread} if flips.unread else {}
    if not n:
        return Estimate("flipped", slice_, None, None, None, 0, asked, 0, 0.0, skipped=skipped, why="no comment holds one of the strings")
    low, high = wilson(len(turned), n, settings.level)
    lost = sum(sides == {"lost"} for sides in turned)
    gained = sum(sides == {"gained"} for sides in turned)
    p = mcnemar(gained, lost)
    says = "no longer recognised more often than newly recognised" if lost > gained else "newly recognised more often than no longer"
    verdict = says if p < 1 - settings.level else "flips no more one way than the other"
    return Estimate(
        "flipped", slice_, 100 * len(turned) / n, 100 * low, 100 * high, n, asked, 0, 0.0, verdict=verdict, interval="Wilson", p=p,
        p_adjusted=p, tests=1, terms=n, skipped=skipped,
    )  # fmt: skip
