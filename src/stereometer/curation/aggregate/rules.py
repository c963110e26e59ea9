"""Who judges an item how: StereoSet's rule for CATs, CrowS-Pairs' two rules for pairs.

StereoSet keeps the plurality of the validators, and items on which enough of them agree (Nadeem et
al. 2021, section 4.3 and footnote 2). CrowS-Pairs takes half of the writer and the judges in one
direction, or, in its second validation, a simple majority (Nangia et al. 2020, section 2 and
appendices; section 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stereometer.shapes.cat.items import LABELS, Candidate, Cat
from stereometer.shapes.pair.items import Pair
from stereometer.shapes.words import words_of

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


STRENGTH = {"demonstrates": 1, "neither": 0, "violates": -1}
"""How stereotypical a sentence is that shows a stereotype, does neither, or breaks one."""
AS_WRITTEN, SWAPPED = 1, -1
WRITERS_SHARE = 1 / 2
NO_TYPE = "none"
"""What a judge says of a pair that is of none of the types."""
FLIPPED = {"stereo": "antistereo", "antistereo": "stereo", None: None}


@dataclass(frozen=True)
class Vote:
    """What somebody says of a pair: of `sent_more`, of `sent_less`, whether minimal, the type."""

    more: str
    less: str
    minimal: bool
    bias_type: str

    @property
    def direction(self) -> int:
        """1 where `sent_more` is the more stereotypical one, -1 where `sent_less` is, else 0."""
        difference = STRENGTH[self.more] - STRENGTH[self.less]
        return (difference > 0) - (difference < 0)

    @property
    def approves(self) -> int:
        """The direction in which the vote finds the pair valid; 0 where it does not."""
        return self.direction if self.minimal else 0


@dataclass(frozen=True)
class JudgedPair:
    item: str
    valid_votes: int
    """Votes, the writer's included, for the direction most of them have."""
    votes: int
    swapped: bool = False
    reason: str = ""
    pair: Pair | None = None


def writers_vote(pair: Pair) -> Vote:
    return Vote("demonstrates", "neither", True, pair.bias_type)


def judge_pair(pair: Pair, judges: Sequence[Vote], required: int = JUDGES) -> JudgedPair:
    """The first validation: at least half of all, the writer among them, in one direction."""
    votes = [writers_vote(pair), *judges]
    counts = Counter(vote.approves for vote in votes)
    direction = AS_WRITTEN if counts[AS_WRITTEN] >= counts[SWAPPED] else SWAPPED
    judged = JudgedPair(pair.id, counts[direction], len(votes), direction == SWAPPED)
    if len(judges) < required:
        return replace(judged, swapped=False, reason=too_few(required))
    if counts[direction] < len(votes) * WRITERS_SHARE:
        return replace(judged, reason="fewer than half find it valid in one direction")
    approving = [vote for vote in votes if vote.approves == direction]
    bias_type, count = Counter(vote.bias_type for vote in approving).most_common(1)[0]
    if 2 * count <= len(approving) or bias_type == NO_TYPE:
        return replace(judged, reason="no majority for one type")
    if not set(words_of(pair.sent_more)) & set(words_of(pair.sent_less)):
        return replace(judged, reason="the sentences share no word")
    types = tuple((vote.bias_type,) for vote in judges)
    settled = replace(pair, bias_type=bias_type, votes=types)
    return replace(judged, pair=_swapped(settled) if judged.swapped else settled)


def _swapped(pair: Pair) -> Pair:
    """Sentence 1 breaks the stereotype that its writer thought it showed, or the reverse."""
    return replace(
        pair,
        sent_more=pair.sent_less,
        sent_less=pair.sent_more,
        direction=FLIPPED[pair.direction],
    )


def judge_again(pair: Pair, judges: Sequence[Vote], required: int = JUDGES) -> JudgedPair:
    """The second validation: a simple majority of the judges finds it valid."""
    valid = sum(vote.approves != 0 for vote in judges)
    judged = JudgedPair(pair.id, valid, len(judges))
    if len(judges) < required:
        return replace(judged, reason=too_few(required))
    if 2 * valid <= len(judges):
        return replace(judged, reason="no majority finds it valid")
    return replace(judged, pair=pair)


def majority_share(judged: JudgedPair) -> float:
    """The share of the larger side, valid or not: the paper's agreement is its mean."""
    return max(judged.valid_votes, judged.votes - judged.valid_votes) / judged.votes
