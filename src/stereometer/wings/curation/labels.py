"""aggregate: a table of labels becomes items with gold labels, and a list of those left out.

StereoSet keeps the plurality of the validators, and items on which enough of them agree (Nadeem et
al. 2021, section 4.3 and footnote 2). CrowS-Pairs takes half of the writer and the judges in one
direction, or, in its second validation, a simple majority (Nangia et al. 2020, section 2 and
appendices; section 5).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from stereometer.core.errors import DataError, UnknownName, UsageError
from stereometer.core.options import Option, verb
from stereometer.core.runs.open import open_benchmark
from stereometer.core.shapes.sentences import words_of
from stereometer.core.tables import read_rows, write_csv
from stereometer.core.types import Item
from stereometer.core.types.groups import lists_by_key
from stereometer.core.types.shown import Told
from stereometer.kinds.cats import files as cat_files
from stereometer.kinds.cats.items import LABELS, Cat
from stereometer.kinds.pairs import files as pair_files
from stereometer.kinds.pairs.items import Pair

AGREE = 3
JUDGES = 5
"""People who must have judged an item, in either paper."""


@dataclass(frozen=True)
class JudgedCat:
    """An item as its validators see it, or why it is left out."""

    item: str
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
    if min(len(votes.get(each.id, ())) for each in candidates) < judges:
        return JudgedCat(cat.id, too_few(judges))
    if any(label is None or count < agree for label, count in results.values()):
        return JudgedCat(cat.id, f"fewer than {agree} agree on an association")
    by_label = {
        results[each.id][0]: replace(each, votes=tuple(votes[each.id])) for each in candidates
    }
    if by_label.keys() != set(LABELS):
        return JudgedCat(cat.id, "the labels are not one of each kind")
    return JudgedCat(cat.id, cat=replace(cat, candidates={name: by_label[name] for name in LABELS}))


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


def judge_pair(pair: Pair, judges: Sequence[Vote], required: int = JUDGES) -> JudgedPair:
    """The first validation: at least half of all, the writer among them, in one direction."""
    votes = [Vote("demonstrates", "neither", True, pair.bias_type), *judges]  # the writer's first
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
    if judged.swapped:  # it breaks the stereotype that its writer thought it showed, or the reverse
        more, less, flipped = pair.sent_less, pair.sent_more, FLIPPED[pair.direction]
        settled = replace(settled, sent_more=more, sent_less=less, direction=flipped)
    return replace(judged, pair=settled)


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


CAT_COLUMNS = ("item", "candidate", "label")
PAIR_COLUMNS = ("item", "more", "less", "minimal", "type")
KNOWN: Mapping[str, Sequence[str]] = {
    "label": (*LABELS, "related"),
    "more": tuple(STRENGTH),
    "less": tuple(STRENGTH),
    "minimal": ("yes", "no"),
}
"""What may stand in a column."""
MEND = "Rename the columns, or export the labels again."


def vote_of(row: Mapping[str, str]) -> Vote:
    return Vote(row["more"], row["less"], row["minimal"] == "yes", row["type"])


def read_cat_labels(path: Path) -> dict[str, list[str]]:
    """The labels of each candidate, by its id."""
    rows = _judgements(path, CAT_COLUMNS, "candidate")
    return lists_by_key((row["candidate"], row["label"]) for row in rows)


def read_pair_votes(path: Path) -> dict[str, list[Vote]]:
    rows = _judgements(path, PAIR_COLUMNS, "item")
    return lists_by_key((row["item"], vote_of(row)) for row in rows)


def _judgements(path: Path, columns: Sequence[str], about: str) -> Iterator[dict[str, str]]:
    """Nobody judges the same thing twice, where the table says who judged."""
    seen: set[tuple[str, str]] = set()
    for line, values in read_rows(path, columns, MEND):
        row = {name: str(values[name]) for name in columns}
        for name, known in KNOWN.items():
            if row.get(name, known[0]) not in known:
                raise DataError(
                    f"{path}, line {line}: {name} is {row[name][:60]!r}. It must be one of "
                    f"{', '.join(known)}. Fix the row."
                )
        person, what = str(values.get("person") or ""), row[about]
        if person and (person, what) in seen:
            raise DataError(
                f"{path}, line {line}: {person[:60]!r} judges {what[:60]!r} a second time. Each "
                "person has one vote. Leave out one of the rows."
            )
        seen.add((person, what))
        yield row


RULES = ("stereoset", "crows-pairs", "majority")


@verb
def aggregate(
    labels: Annotated[str | Path, "A table of labels: one row per person and what they judged."],
    *,
    items: Annotated[
        str | Path, Option("The items they are about: a file or a benchmark.", words=str)
    ],
    rule: Annotated[str, "stereoset, crows-pairs, or majority (its second validation)."],
    out: Annotated[str | Path, "Folder for the items that are kept."],
    agree: Annotated[int, "How many must agree on each association, under stereoset."] = AGREE,
    judges: Annotated[int, "How many people must have judged an item for it to be kept."] = JUDGES,
) -> Told:
    """Write the items that the labels accept to `out`, and say what became of the others."""
    if judges < 1:
        raise UsageError(
            f"--judges {judges} would keep what nobody has judged. It is how many people must have "
            "judged an item. Write 1 or more."
        )
    if rule not in RULES:
        raise UnknownName("rule", rule, RULES, "`stereometer aggregate --help` describes them.")
    source = [item for listed in open_benchmark(str(items)).shapes.values() for item in listed]
    settle = _settle_cats if rule == "stereoset" else _settle_pairs
    document = settle(Path(labels), source, rule, Path(out), agree, judges)
    kept = f"{document['kept']} of {document['judged']} items are kept, in {document['file']}."
    left_out = (f"{count} left out: {reason}." for reason, count in document["left_out"].items())
    return Told(kept, *left_out, **document)


def _settle_cats(
    labels: Path, source: Sequence[Item], rule: str, out: Path, agree: int, judges: int
) -> dict[str, Any]:
    votes = read_cat_labels(labels)
    cats = [item for item in source if isinstance(item, Cat)]
    _known(labels, votes, {each.id for cat in cats for each in cat.candidates.values()})
    judged = [judge_cat(cat, votes, agree, judges) for cat in cats]
    cat_files.write(out / "items.json", [each.cat for each in judged if each.cat])
    return _document(rule, judged, out, "items.json")


def _settle_pairs(
    labels: Path, source: Sequence[Item], rule: str, out: Path, agree: int, judges: int
) -> dict[str, Any]:
    votes = read_pair_votes(labels)
    pairs = [item for item in source if isinstance(item, Pair)]
    _known(labels, votes, {pair.id for pair in pairs})
    decide: Callable[..., JudgedPair] = judge_pair if rule == "crows-pairs" else judge_again
    judged = [decide(pair, votes.get(pair.id, ()), judges) for pair in pairs]
    pair_files.write(out / "pairs.csv", [each.pair for each in judged if each.pair])
    document = _document(rule, judged, out, "pairs.csv")
    shares = [majority_share(each) for each in judged if each.item in votes]
    return {**document, "mean_majority": sum(shares) / len(shares) if shares else None}


def _known(path: Path, votes: Mapping[str, object], ids: set[str]) -> None:
    unknown = [id_ for id_ in votes if id_ not in ids]
    if unknown:
        raise DataError(
            f"{path} judges {unknown[0][:60]!r}, which is not among the items. "
            f"{len(unknown)} of its ids are unknown. Name the items that these labels are about."
        )


def _document(
    rule: str, judged: Sequence[JudgedCat | JudgedPair], out: Path, name: str
) -> dict[str, Any]:
    removed = [(each.item, each.reason) for each in judged if each.reason]
    write_csv(out / "removed.csv", [("item", "reason"), *removed])
    return {
        "schema": "aggregate@1",
        "rule": rule,
        "judged": len(judged),
        "kept": len(judged) - len(removed),
        "left_out": dict(Counter(reason for _, reason in removed)),
        "file": str(out / name),
    }
