"""The flags: each a definition in words and the check that follows it, which gives what it saw or
None; and items that say the same as another, or nearly."""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

from stereometer.core.shapes.sentences import SentenceItem, words_of
from stereometer.core.types import Item
from stereometer.kinds.cats.items import BLANK, Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.curation.english import AGREEMENT, content_words, mentions, wrong_article
from stereometer.wings.curation.terms import Zipf

NEAR = 0.8
"""Share of words two items have in common, of all words that either has (Jaccard)."""
MOST = 400
"""Items under a rare word that another is compared with: where all are alike, more takes hours."""


def normal(item: Item) -> tuple[str, ...]:
    return tuple(sorted(" ".join(text.lower().split()) for text in item.texts.values()))


def duplicates(items: Sequence[Item]) -> dict[str, str]:
    """By id of an item whose texts, case and spaces aside, stood before: the first with them."""
    first: dict[tuple[str, ...], str] = {}
    return {
        item.id: other
        for item in items
        if (other := first.setdefault(normal(item), item.id)) != item.id
    }


def near(sets: Mapping[str, frozenset[str]], least: float = NEAR) -> dict[str, str]:
    """For each id one other whose set of words is at least so alike.

    Two sets that alike share one of their rarest words: if all but the last `least` of each,
    ordered by rarity, were disjoint, too few would be left in common. So only sets that meet in
    those prefixes are compared, and with no more than `MOST` under a word.
    """
    often = Counter(word for words in sets.values() for word in words)
    seen: dict[str, list[str]] = defaultdict(list)
    nearest: dict[str, str] = {}
    for name, words in sets.items():
        rarest = sorted(words, key=lambda word: (often[word], word))
        prefix = rarest[: len(words) - ceil(least * len(words)) + 1]
        for other in dict.fromkeys(id_ for word in prefix for id_ in seen[word]):
            if name in nearest and other in nearest:
                continue
            if alike(words, sets[other]) >= least:
                nearest.setdefault(name, other)
                nearest.setdefault(other, name)
        for word in prefix:
            seen[word].append(name)
            if len(seen[word]) > MOST:
                # The latest that have no near one yet, and the latest of those that have.
                lone = [id_ for id_ in seen[word] if id_ not in nearest]
                paired = [id_ for id_ in seen[word] if id_ in nearest]
                seen[word] = [*paired[-MOST // 4 :], *lone[-MOST // 4 :]]
    return nearest


def alike(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first or second else 0.0


def is_farther(first: str, second: str, limit: int) -> bool:
    """Whether more than `limit` characters must be added, left out or changed (Levenshtein).

    Only the cells of the table that lie within the limit of its diagonal are filled in.
    """
    if abs(len(first) - len(second)) > limit:
        return True
    row = {at: at for at in range(min(limit, len(second)) + 1)}
    for number, letter in enumerate(first, 1):
        above, row = row, {}
        for at in range(max(0, number - limit), min(len(second), number + limit) + 1):
            steps = [above.get(at, limit) + 1, row.get(at - 1, limit) + 1]
            if at:
                steps.append(above.get(at - 1, limit + 1) + (letter != second[at - 1]))
            row[at] = min(steps)
        if min(row.values()) > limit:
            return True
    return row[len(second)] > limit


AGREED = 0.6
"""Share of validators who must have given an item's own label."""
UNEVEN = 2.0
"""Times as many words as the shortest candidate."""
FARTHEST = 13
"""Characters between a pair's sentences beyond which writers were warned (Nangia et al. 2020)."""
LONGEST_GROUP = 3
"""Words that name a group at the most."""
HERE = Path(__file__).parent
DEFINITIONS: Mapping[str, str] = tomllib.loads((HERE / "flags.toml").read_text("utf-8"))
FIRST_NAMES = frozenset((HERE / "first_names.txt").read_text("utf-8").split())


@dataclass(frozen=True)
class Background:
    """What checks know besides the item."""

    agreed: float = AGREED
    zipf: Zipf | None = None
    repeats: Mapping[str, str] = field(default_factory=dict)
    nearly: Mapping[str, str] = field(default_factory=dict)


def background_of(
    items: Sequence[SentenceItem], agreed: float = AGREED, zipf: Zipf | None = None
) -> Background:
    """Which items repeat others is found once for all of them."""
    repeats = duplicates(items)
    sets = {
        item.id: frozenset(words_of(" ".join(item.texts.values())))
        for item in items
        if item.id not in repeats
    }
    return Background(agreed, zipf, repeats, near(sets))


Check = Callable[[Any, Background], str | None]
"""Of an item of one of the flag's shapes."""


@dataclass(frozen=True)
class Flag:
    name: str
    shapes: tuple[str, ...]
    check: Check
    needs_words: bool = False
    """Only checked where wordfreq is installed."""
    needs_votes: bool = False
    """Only checked where items carry validators' labels."""
    english: bool = False
    """Rests on English words: not checked in a set of another language."""

    @property
    def definition(self) -> str:
        """In words, with its thresholds: `flags.toml`."""
        return DEFINITIONS[self.name].format(
            rare=RARE,
            common=COMMON,
            uneven=UNEVEN,
            longest=LONGEST_GROUP,
            near=NEAR,
            farthest=FARTHEST,
        )


def _intra(check: Callable[[Cat, Background], str | None]) -> Check:
    return lambda item, background: (
        check(item, background) if item.task == "intrasentence" else None
    )


def _glued_blank(item: Cat, background: Background) -> str | None:
    words = item.context.split()
    return None if BLANK in words else next((word for word in words if BLANK in word), None)


def _not_filled(item: Cat, background: Background) -> str | None:
    if BLANK not in item.context:
        return None
    return next((label for label in item.candidates if item.filler(label) is None), None)


def _case(item: Cat, background: Background) -> str | None:
    for label, candidate in item.candidates.items():
        filler = item.filler(label)
        if filler is not None and item.context.replace(BLANK, filler) != candidate.text:
            return label
    return None


def _glued_filler(item: Cat, background: Background) -> str | None:
    fillers = [filler.strip() for filler in item.fillers]
    return next((filler for filler in fillers if is_glued(filler, background.zipf)), None)


RARE, COMMON, SHORTEST = 1.5, 4.0, 3
"""On the Zipf scale, a word hardly ever seen and one that everybody uses; letters of a part."""


def is_glued(word: str, zipf: Zipf | None) -> bool:
    """Punctuation or a capital inside, or a word nobody uses that is two words everybody uses."""
    if re.search(r"[a-z][.,;:!?][A-Za-z]|[a-z][A-Z][a-z]", word):
        return True
    if zipf is None or not word.isalpha() or not word.islower() or zipf(word) >= RARE:
        return False
    return any(
        zipf(word[:at]) >= COMMON and zipf(word[at:]) >= COMMON
        for at in range(SHORTEST, len(word) - SHORTEST + 1)
    )


def _uneven(item: SentenceItem, background: Background) -> str | None:
    lengths = [len(text.split()) for text in item.varied.values() if text.strip()]
    if not lengths or max(lengths) <= UNEVEN * min(lengths):
        return None
    return f"{min(lengths)} and {max(lengths)} words"


def _same_sides(item: Pair, background: Background) -> str | None:
    same = item.sent_more.split() == item.sent_less.split() and item.sent_more.strip()
    return "both sentences are the same" if same else None


def _more_than_group(item: Pair, background: Background) -> str | None:
    """One kind of replacement, of a few words by a few words, is a change of group; what agrees
    with it is not counted."""
    changes = [edit for edit in item.edits if not set(chain(*edit)) <= AGREEMENT]
    if not all(all(edit) for edit in changes):
        return "words added or left out"
    if any(len(side) > LONGEST_GROUP for edit in changes for side in edit):
        return f"more than {LONGEST_GROUP} words in one place"
    return f"{len(set(changes))} different changes" if len(set(changes)) > 1 else None


def _far_apart(item: Pair, background: Background) -> str | None:
    both = item.sent_more.strip() and item.sent_less.strip()
    far = both and is_farther(item.sent_more, item.sent_less, FARTHEST)
    return f"more than {FARTHEST} characters" if far else None


def _nothing_shared(item: Pair, background: Background) -> str | None:
    more, less = words_of(item.sent_more), words_of(item.sent_less)
    return "no word in common" if more and less and not set(more) & set(less) else None


def _names(item: Pair, background: Background) -> str | None:
    """A name is written with a capital; possessives count."""
    written = set(re.findall(r"[A-Z]\w+", f"{item.sent_more} {item.sent_less}"))
    capitals = {word.lower() for word in written}
    changed = (word.removesuffix("'s") for edit in item.edits for side in edit for word in side)
    names = [word for word in changed if word in FIRST_NAMES and word in capitals]
    return ", ".join(dict.fromkeys(names)) or None


def _disagreement(item: SentenceItem, background: Background) -> str | None:
    own, voters = item.own_votes or (1, 1)
    is_low = item.own_votes is not None and own / voters < background.agreed - 1e-9
    return f"{own} of {voters}" if is_low else None


def _related(item: Cat, background: Background) -> str | None:
    option = item.varied.get("unrelated", "")
    shared = content_words(option) & content_words(item.context.replace(BLANK, " "))
    return ", ".join(sorted(shared)) or None


CAT, PAIR, BOTH = ("cat",), ("pair",), ("cat", "pair")
FLAGS: tuple[Flag, ...] = (
    Flag("no-blank", CAT, _intra(lambda item, _: None if BLANK in item.context else "no BLANK")),
    Flag(
        "several-blanks",
        CAT,
        _intra(lambda item, _: f"{n} blanks" if (n := item.context.count(BLANK)) > 1 else None),
    ),
    Flag("glued-blank", CAT, _intra(_glued_blank)),
    Flag("not-filled", CAT, _intra(_not_filled)),
    Flag("case-differs", CAT, _intra(_case)),
    Flag("glued-filler", CAT, _intra(_glued_filler), needs_words=True),
    Flag("uneven-lengths", BOTH, _uneven),
    Flag(
        "article",
        BOTH,
        lambda item, _: next(
            (f"{a} {word}" for a, word in item.articles if wrong_article(a, word)), None
        ),
        english=True,
    ),
    Flag(
        "empty",
        BOTH,
        lambda item, _: next((name for name, text in item.texts.items() if not text.strip()), None),
    ),
    Flag("same-sides", PAIR, _same_sides),
    Flag("more-than-group", PAIR, _more_than_group, english=True),
    Flag("far-apart", PAIR, _far_apart),
    Flag("nothing-shared", PAIR, _nothing_shared),
    Flag("names", PAIR, _names, english=True),
    Flag("duplicate", BOTH, lambda item, background: background.repeats.get(item.id)),
    Flag("near-duplicate", BOTH, lambda item, background: background.nearly.get(item.id)),
    Flag("disagreement", BOTH, _disagreement, needs_votes=True),
    Flag(
        "target-missing",
        CAT,
        lambda item, _: (
            None if mentions(" ".join(item.texts.values()), item.target) else item.target
        ),
    ),
    Flag("unrelated-overlap", CAT, _related, english=True),
)


def flags_for(shape: str) -> list[Flag]:
    return [flag for flag in FLAGS if shape in flag.shapes]
