"""The flags: each a definition in words and the check that follows it. A check gives what it found, or None."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from stereometer.benchmarks.stereoset import BLANK, Cat
from stereometer.curation.analyze.items import Kind, votes_for, words_of
from stereometer.curation.analyze.words import (
    AGREEMENT,
    OPENING,
    content_words,
    mentions,
    wrong_article,
)
from stereometer.curation.audit.duplicates import NEAR, duplicates, near
from stereometer.shapes.pair.items import Edit, Pair, edits

AGREED = 0.6
"""Share of validators who must have given an item's own label."""
UNEVEN = 2.0
"""Times as many words as the shortest candidate."""
LONGEST_GROUP = 3
"""Words that name a group at the most."""

Zipf = Callable[[str], float]
"""How common a word is: the logarithm of its frequency per thousand million."""


@dataclass(frozen=True)
class Setting:
    """What checks know besides the item."""

    agreed: float = AGREED
    zipf: Zipf | None = None
    repeats: Mapping[str, str] = field(default_factory=dict)
    nearly: Mapping[str, str] = field(default_factory=dict)


def setting_for(items: Sequence[Kind], agreed: float = AGREED, zipf: Zipf | None = None) -> Setting:
    """Which items repeat others is found once for all of them."""
    repeats = duplicates(items)
    sets = {
        item.id: frozenset(words_of(" ".join(item.texts.values())))
        for item in items
        if item.id not in repeats
    }
    return Setting(agreed, zipf, repeats, near(sets))


Check = Callable[[Kind, Setting], str | None]


@dataclass(frozen=True)
class Flag:
    name: str
    shapes: tuple[str, ...]
    definition: str
    check: Check
    needs_words: bool = False
    """Only checked where wordfreq is installed."""
    needs_votes: bool = False
    """Only checked where items carry validators' labels."""
    english: bool = False
    """Rests on English words: not checked in a set of another language."""


def _cat(check: Callable[[Cat, Setting], str | None]) -> Check:
    return lambda item, setting: check(item, setting) if isinstance(item, Cat) else None


def _intra(check: Callable[[Cat, Setting], str | None]) -> Check:
    return lambda item, setting: (
        check(item, setting) if isinstance(item, Cat) and item.task == "intrasentence" else None
    )


def _pair(check: Callable[[Pair, Setting], str | None]) -> Check:
    return lambda item, setting: check(item, setting) if isinstance(item, Pair) else None


# --------------------------------------------------------------------------------------------- checks


def _no_blank(item: Cat, setting: Setting) -> str | None:
    return "no BLANK" if BLANK not in item.context else None


def _several_blanks(item: Cat, setting: Setting) -> str | None:
    count = item.context.count(BLANK)
    return f"{count} blanks" if count > 1 else None


def _glued_blank(item: Cat, setting: Setting) -> str | None:
    words = item.context.split()
    return None if BLANK in words else next((word for word in words if BLANK in word), None)


def _not_filled(item: Cat, setting: Setting) -> str | None:
    if BLANK not in item.context:
        return None
    return next((label for label in item.candidates if item.filler(label) is None), None)


def _case(item: Cat, setting: Setting) -> str | None:
    for label, one in item.candidates.items():
        filler = item.filler(label)
        if filler is not None and item.context.replace(BLANK, filler) != one.text:
            return label
    return None


def _glued_filler(item: Cat, setting: Setting) -> str | None:
    fillers = [filler.strip() for label in item.candidates if (filler := item.filler(label))]
    return next((filler for filler in fillers if is_glued(filler, setting.zipf)), None)


RARE, COMMON, SHORTEST = 1.5, 4.0, 3
"""On the Zipf scale: a word hardly ever seen, a word everybody uses; and letters a part has at least."""


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


def _varied(item: Kind) -> dict[str, str]:
    """What differs between the candidates: fillers, continuations or sentences."""
    if isinstance(item, Pair):
        return dict(item.texts)
    if item.task == "intrasentence":
        return {label: item.filler(label) or "" for label in item.candidates}
    return {label: one.text for label, one in item.candidates.items()}


def _uneven(item: Kind, setting: Setting) -> str | None:
    lengths = [len(text.split()) for text in _varied(item).values() if text.strip()]
    if not lengths or max(lengths) <= UNEVEN * min(lengths):
        return None
    return f"{min(lengths)} and {max(lengths)} words"


def _article(item: Kind, setting: Setting) -> str | None:
    if isinstance(item, Pair):
        return _pair_article(item)
    found = re.search(
        rf"(?<!\w)(an?)\s+[{re.escape(OPENING)}]*{BLANK}", item.context, re.IGNORECASE
    )
    if found is None or item.task != "intrasentence":
        return None
    fillers = [filler for label in item.candidates if (filler := item.filler(label))]
    return next(
        (f"{found[1]} {filler}" for filler in fillers if wrong_article(found[1], filler)), None
    )


def _pair_article(item: Pair) -> str | None:
    """Only before words that the other sentence does not have."""
    for text, other in ((item.sent_more, item.sent_less), (item.sent_less, item.sent_more)):
        words, others = text.split(), set(other.split())
        for article, word in pairwise(words):
            if word not in others and wrong_article(article, word):
                return f"{article} {word}"
    return None


def _empty(item: Kind, setting: Setting) -> str | None:
    return next((name for name, text in item.texts.items() if not text.strip()), None)


def _same_sides(item: Pair, setting: Setting) -> str | None:
    same = item.sent_more.split() == item.sent_less.split() and item.sent_more.strip()
    return "both sentences are the same" if same else None


def _more_than_group(item: Pair, setting: Setting) -> str | None:
    """One kind of replacement, of a few words by a few words, is a change of group; what agrees with it is not counted."""
    made = [
        edit
        for edit in edits(words_of(item.sent_more), words_of(item.sent_less))
        if not _agrees(edit)
    ]
    if any(not left or not right for left, right in made):
        return "words added or left out"
    if any(len(side) > LONGEST_GROUP for edit in made for side in edit):
        return f"more than {LONGEST_GROUP} words in one place"
    return f"{len(set(made))} different changes" if len(set(made)) > 1 else None


def _agrees(edit: Edit) -> bool:
    return all(word in AGREEMENT for side in edit for word in side)


def _duplicate(item: Kind, setting: Setting) -> str | None:
    return setting.repeats.get(item.id)


def _near_duplicate(item: Kind, setting: Setting) -> str | None:
    return setting.nearly.get(item.id)


def _disagreement(item: Kind, setting: Setting) -> str | None:
    votes = votes_for(item)
    return (
        f"{votes[0]} of {votes[1]}"
        if votes is not None and votes[0] / votes[1] < setting.agreed - 1e-9
        else None
    )


def _target_missing(item: Cat, setting: Setting) -> str | None:
    return None if mentions(" ".join(item.texts.values()), item.target) else item.target


def _related(item: Cat, setting: Setting) -> str | None:
    option = _varied(item).get("unrelated", "")
    shared = content_words(option) & content_words(item.context.replace(BLANK, " "))
    return ", ".join(sorted(shared)) or None


BOTH = ("cat", "pair")
FLAGS: tuple[Flag, ...] = (
    Flag("no-blank", ("cat",), "An intrasentence context without BLANK.", _intra(_no_blank)),
    Flag("several-blanks", ("cat",), "An intrasentence context with more than one BLANK.", _intra(_several_blanks)),
    Flag("glued-blank", ("cat",), "BLANK is nowhere a word by itself: punctuation or letters touch it.", _intra(_glued_blank)),
    Flag("not-filled", ("cat",), "A candidate is not its context with BLANK replaced, letter case aside.", _intra(_not_filled)),
    Flag("case-differs", ("cat",), "A candidate is its context filled, but in other letter case.", _intra(_case)),
    Flag("glued-filler", ("cat",), f"A filler is several words written as one: punctuation or a capital inside, or a word rarer than Zipf {RARE} made of two of at least Zipf {COMMON}.", _intra(_glued_filler), True),
    Flag("uneven-lengths", BOTH, f"What differs between the candidates has more than {UNEVEN:g} times as many words in the longest as in the shortest.", _uneven),
    Flag("article", BOTH, "`a` before a vowel sound or `an` before a consonant, where the blank or the changed word follows.", _article, english=True),
    Flag("empty", BOTH, "A text is empty.", _empty),
    Flag("same-sides", ("pair",), "Both sentences have the same words.", _pair(_same_sides)),
    Flag("more-than-group", ("pair",), f"Pronouns, articles and agreeing verbs aside, the sentences differ in more than one kind of replacement, in more than {LONGEST_GROUP} words at one place, or in words that have no counterpart.", _pair(_more_than_group), english=True),
    Flag("duplicate", BOTH, "The texts stood in an item before, letter case and spaces aside.", _duplicate),
    Flag("near-duplicate", BOTH, f"Another item has at least {NEAR:.0%} of all words that either has.", _near_duplicate),
    Flag("disagreement", BOTH, "Too small a share of validators gave the item's own label (of a CAT: some candidate's); 60 % unless set.", _disagreement, needs_votes=True),
    Flag("target-missing", ("cat",), "The target term stands in none of the texts: neither itself nor its plural or possessive, nor, of a place, the word for who is from there.", _cat(_target_missing)),
    Flag("unrelated-overlap", ("cat",), "The unrelated option shares a content word with the context.", _cat(_related), english=True),
)  # fmt: skip


def flags_for(shape: str) -> list[Flag]:
    return [flag for flag in FLAGS if shape in flag.shapes]
