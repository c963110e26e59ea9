"""Misspelt and censored words: what is changed to what, where it is put, and which answers it turns
round."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from stereometer.core.errors import DataError
from stereometer.core.shapes.points import Coverage
from stereometer.core.stats.intervals import wilson
from stereometer.core.stats.tests import mcnemar
from stereometer.core.tables import read_table
from stereometer.core.types import Estimate, Score, Settings, Variant
from stereometer.kinds.comments.answers import first_label


def shipped_edits() -> Sequence[tuple[str, str]]:
    """Strings and what they are changed to (Chiu et al. 2021, Table 22)."""
    table = resources.files("stereometer.kinds.comments.recognition").joinpath("misspellings.csv")
    return read_edits(Path(str(table)))


def read_edits(path: Path) -> Sequence[tuple[str, str]]:
    """A table of `original` and `edit`."""
    edits = [(row["original"], row["edit"]) for _, row in read_table(path, ["original", "edit"])]
    if not edits or not all(original for original, _ in edits):
        raise DataError(
            f"{path} has no edits, or one whose original is empty. "
            "Each row has an original and an edit. Fix it."
        )
    return edits


PHUCK = "phuck"
"""A spelling that the study looked for as well, for one comment that its text discusses."""
TEST = "McNemar's exact test on comments that edits turn only one way"


def holds(text: str, original: str, variant: Variant) -> bool:
    """`paper`: as a substring, in lower case only; `sound`: at the start of a word, in any case."""
    if variant == "paper":
        return original in text or (original == "fuck" and PHUCK in text)
    return _at_word_start(original).search(text) is not None


def edited(text: str, original: str, edit: str, variant: Variant) -> str:
    """`paper`: every occurrence in any case, inside words too; `sound`: at the start of a word,
    keeping a capital."""
    if variant == "paper":
        return re.sub(re.escape(original), lambda _: edit, text, flags=re.IGNORECASE)
    return _at_word_start(original).sub(
        lambda match: edit.capitalize() if match[0][0].isupper() else edit, text
    )


def _at_word_start(original: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(original)}", re.IGNORECASE)


UNREAD, UNREAD_EDITS = "the comment as it was could not be read", "no edited copy could be read"


@dataclass
class _Flips:
    """What edits did to the comments of a slice."""

    asked: Coverage = field(default_factory=Coverage)
    sides: list[set[str]] = field(default_factory=list)
    """For each comment that was read before and after, the ways in which edits turned it round."""


def summarize(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """For each category and overall: the share of comments that some edit turned round, and
    McNemar's test. The test counts a comment once, and only where its edits turn it one way."""
    comments: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        comments.setdefault((score.slices["category"], score.slices["comment"]), []).append(score)
    groups = {"": _Flips(), **{category: _Flips() for category, _ in comments}}
    for (category, _), copies in comments.items():
        for flips in (groups[""], groups[category]):
            _count(flips, category, copies)
    return [_estimate(name, flips, settings) for name, flips in groups.items()]


def _count(flips: _Flips, category: str, copies: Sequence[Score]) -> None:
    flips.asked.count += 1
    was = next((first_label(copy) for copy in copies if "edit" not in copy.slices), None)
    now = [
        label
        for copy in copies
        if "edit" in copy.slices and (label := first_label(copy)) is not None
    ]
    if was is None or not now:
        flips.asked.skipped[UNREAD if was is None else UNREAD_EDITS] += 1
        return
    flips.sides.append({"lost" if was == category else "gained" for label in now if label != was})


def _estimate(name: str, flips: _Flips, settings: Settings) -> Estimate:
    slice_, n = {"category": name} if name else {}, len(flips.sides)
    why = flips.asked.shortfall(settings)
    if why is not None:
        return flips.asked.estimate("flipped", slice_, 0.0, why=why)
    turned = sum(bool(sides) for sides in flips.sides)
    low, high = wilson(turned, n, settings.level)
    lost, gained = (sum(sides == {way} for sides in flips.sides) for way in ("lost", "gained"))
    p = mcnemar(gained, lost)
    says = (
        "no longer recognised more often than newly recognised"
        if lost > gained
        else "newly recognised more often than no longer"
    )
    beyond = p < 1 - settings.level
    share = {"value": 100 * turned / n, "low": 100 * low, "high": 100 * high, "interval": "Wilson"}
    tested = {"p": p, "test": TEST, "p_adjusted": p, "tests": 1, "terms": n, "beyond_noise": beyond}
    verdict = says if beyond else "flips no more one way than the other"
    return flips.asked.estimate("flipped", slice_, 0.0, verdict=verdict, **share, **tested)
