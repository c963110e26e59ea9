"""IdealLM and StereotypedLM (Nadeem et al. 2021, section 5.3): hypothetical models that read the gold labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from stereometer.types import Item, ModelCard, Score, Variant


class Gold:
    """A system whose scores are a rule over the candidates of an item."""

    scoring = "constructed"

    def __init__(
        self, name: str, note: str, rule: Callable[[bool, Variant, int], Mapping[str, float]]
    ) -> None:
        self.card = ModelCard(name, "baseline", f"{name}@1", name, notes=(note,))
        self._rule = rule

    def scores(self, items: Iterable[Item], variant: Variant) -> Iterator[Score]:
        seen: Counter[Any] = Counter()
        for item in items:
            is_cat = "task" in item.slices
            place = (
                (item.slices["domain"], item.slices["target"])
                if is_cat
                else item.slices["bias_type"]
            )
            if reason := getattr(item, "unscorable", None):
                yield Score(item.id, item.slices, {}, reason, item.texts)
                continue
            yield Score(
                item.id, item.slices, self._rule(is_cat, variant, seen[place]), texts=item.texts
            )
            seen[place] += 1


def _ideal(is_cat: bool, variant: Variant, number: int) -> Mapping[str, float]:
    """Prefers neither: a tie under `sound`; where ties are lost (`paper`) it alternates within a term or bias type."""
    first, second = (
        (-1.0, -1.0) if variant == "sound" else (-1.0, -2.0) if number % 2 == 0 else (-2.0, -1.0)
    )
    return (
        {"stereotype": first, "anti-stereotype": second, "unrelated": -9.0}
        if is_cat
        else {"sent_more": first, "sent_less": second}
    )


def _stereotyped(is_cat: bool, variant: Variant, number: int) -> Mapping[str, float]:
    """Always the stereotype; it says nothing of unrelated candidates, so its lms is not defined."""
    return (
        {"stereotype": -1.0, "anti-stereotype": -2.0}
        if is_cat
        else {"sent_more": -1.0, "sent_less": -2.0}
    )


def ideal() -> Gold:
    return Gold("ideal", "IdealLM: a hypothetical model that reads the gold labels.", _ideal)


def stereotyped() -> Gold:
    return Gold(
        "stereotyped",
        "StereotypedLM: a hypothetical model that reads the gold labels.",
        _stereotyped,
    )
