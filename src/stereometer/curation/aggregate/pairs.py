"""CrowS-Pairs' rules: half of the writer and the judges in one direction, or a simple majority.

Nangia et al. (2020), section 2 and appendices, and for the second validation section 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stereometer.curation.aggregate.cats import JUDGES, too_few
from stereometer.shapes.pair.items import Pair
from stereometer.shapes.words import words_of

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
