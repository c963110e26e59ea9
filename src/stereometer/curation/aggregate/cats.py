"""StereoSet's rule: the plurality of the validators, and items on which enough of them agree.

Nadeem et al. (2021), section 4.3 and footnote 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stereometer.shapes.cat.items import LABELS, Candidate, Cat

AGREE = 3
JUDGES = 5
"""People who must have judged an item, in either paper."""


@dataclass(frozen=True)
class JudgedCat:
    """An item with its validators' labels: the item as they see it, or why it is left out."""

    item: str
    golds: Mapping[str, str | None]
    """The label of each candidate; None where two labels are level."""
    reason: str = ""
    cat: Cat | None = None


def plurality(votes: Sequence[str]) -> tuple[str | None, int]:
    """The label most people gave, None where two are level, and how many gave it."""
    ranked = Counter(votes).most_common(2)
    if not ranked:
        return None, 0
    level = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    return (None if level else ranked[0][0]), ranked[0][1]


def too_few(judges: int) -> str:
    """Why an item that not everybody has judged is left out, whatever the others say of it."""
    return f"fewer than {judges} people judged it"


def judge_cat(
    cat: Cat, votes: Mapping[str, Sequence[str]], agree: int = AGREE, judges: int = JUDGES
) -> JudgedCat:
    """`votes` are the labels of each candidate, by its id."""
    candidates = list(cat.candidates.values())
    results = {each.id: plurality(votes.get(each.id, ())) for each in candidates}
    golds = {id_: label for id_, (label, _) in results.items()}
    if min(len(votes.get(each.id, ())) for each in candidates) < judges:
        return JudgedCat(cat.id, golds, too_few(judges))
    if any(label is None or count < agree for label, count in results.values()):
        return JudgedCat(cat.id, golds, f"fewer than {agree} agree on an association")
    if sorted(golds.values(), key=str) != sorted(LABELS):
        return JudgedCat(cat.id, golds, "the labels are not one of each kind")
    return JudgedCat(cat.id, golds, "", _relabelled(cat, candidates, golds, votes))


def _relabelled(
    cat: Cat,
    candidates: Iterable[Candidate],
    golds: Mapping[str, str | None],
    votes: Mapping[str, Sequence[str]],
) -> Cat:
    by_label = {
        str(golds[each.id]): replace(each, votes=tuple(votes[each.id])) for each in candidates
    }
    return replace(cat, candidates={label: by_label[label] for label in LABELS})
