"""IdealLM and StereotypedLM (Nadeem et al. 2021, section 5.3), which read the gold labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any

from stereometer.core.shapes.sentences import SentenceItem
from stereometer.core.types import ModelCard, Score, Variant

UNRELATED = -9.0
Rule = Callable[[Variant, int], tuple[float, ...]]
"""From the variant and the number of an item within its term to the scores of its candidates."""


class Gold:
    """A system whose scores are a rule over the candidates of an item."""

    scoring = "constructed"

    def __init__(self, name: str, label: str, rule: Rule) -> None:
        note = f"{label}: a hypothetical model that reads the gold labels."
        self.card = ModelCard(name, "baseline", f"{name}@1", name, notes=(note,))
        self._rule = rule

    def scores(self, items: Iterable[Any], variant: Variant) -> Iterator[Score]:
        item: SentenceItem
        listed = list(items)
        counts = Counter((item.domain, item.term) for item in listed if not item.unscorable)
        # How many terms with an odd number of items stand before each: what makes two such terms
        # lean to opposite sides.
        odd = accumulate((count % 2 for count in counts.values()), initial=0)
        before = dict(zip(counts, odd, strict=False))
        for item in listed:
            if item.unscorable:
                yield Score(item.id, item.slices, {}, item.unscorable, item.texts)
                continue
            place = item.domain, item.term
            values = dict(zip(item.candidate_ids, self._rule(variant, before[place]), strict=False))
            yield Score(item.id, item.slices, values, texts=item.texts)
            before[place] += 1


def _ideal(variant: Variant, number: int) -> tuple[float, ...]:
    """A tie under `sound`; where ties are lost (`paper`) it alternates within a term, and from one
    term with an odd number of items to the next."""
    if variant == "sound":
        return -1.0, -1.0, UNRELATED
    return (-2.0, -1.0, UNRELATED) if number % 2 else (-1.0, -2.0, UNRELATED)


def ideal() -> Gold:
    return Gold("ideal", "IdealLM", _ideal)


def stereotyped() -> Gold:
    """Always the stereotype; unrelated candidates have no score, so its lms is not defined."""
    return Gold("stereotyped", "StereotypedLM", lambda variant, number: (-1.0, -2.0))
