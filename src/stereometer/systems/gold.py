"""IdealLM and StereotypedLM (Nadeem et al. 2021, section 5.3), which read the gold labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stereometer.shapes.sentences import SentenceItem
from stereometer.types import ModelCard, Score, Variant

UNRELATED = -9.0
Rule = Callable[[Variant, int], tuple[float, ...]]
"""From the variant, and how many items of its term came before, to the scores of the candidates."""


class Gold:
    """A system whose scores are a rule over the candidates of an item."""

    scoring = "constructed"

    def __init__(self, name: str, label: str, rule: Rule) -> None:
        note = f"{label}: a hypothetical model that reads the gold labels."
        self.card = ModelCard(name, "baseline", f"{name}@1", name, notes=(note,))
        self._rule = rule

    def scores(self, items: Iterable[Any], variant: Variant) -> Iterator[Score]:
        seen: Counter[tuple[str, str]] = Counter()
        item: SentenceItem
        for item in items:
            if item.unscorable:
                yield Score(item.id, item.slices, {}, item.unscorable, item.texts)
                continue
            place = item.domain, item.term
            scores = self._rule(variant, seen[place])
            values = dict(zip(item.candidate_ids, scores, strict=False))
            yield Score(item.id, item.slices, values, texts=item.texts)
            seen[place] += 1


def _ideal(variant: Variant, number: int) -> tuple[float, ...]:
    """A tie under `sound`; where ties are lost (`paper`) it alternates within a term."""
    if variant == "sound":
        return -1.0, -1.0, UNRELATED
    return (-2.0, -1.0, UNRELATED) if number % 2 else (-1.0, -2.0, UNRELATED)


def _stereotyped(variant: Variant, number: int) -> tuple[float, ...]:
    """Always the stereotype; unrelated candidates have no score, so its lms is not defined."""
    return -1.0, -2.0


def ideal() -> Gold:
    return Gold("ideal", "IdealLM", _ideal)


def stereotyped() -> Gold:
    return Gold("stereotyped", "StereotypedLM", _stereotyped)
