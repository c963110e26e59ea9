"""Natural sentences about groups and traits, found in any text: what CEAT reads.

A text is plain, or JSONL with a field `text`. A pool holds at most a thousand sentences a word, drawn by lot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.traits import POLES, Trait
from stereometer.errors import DataError
from stereometer.files import read_jsonl, read_text
from stereometer.types import Slice, digest_of

if TYPE_CHECKING:
    from stereometer.benchmarks.abc.items import Grid

POOL = 1000
TOLD = "sentences"
"""Stands where a template's name does: scores of sentences are of no template."""
LONGEST = 64
"""Words of a sentence; longer ones are mostly lists."""
END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")


@dataclass(frozen=True)
class Found:
    """A sentence and where in it the word stands."""

    text: str
    span: tuple[int, int]


Pool = tuple[Found, ...]


def sentences(path: Path) -> list[str]:
    """The distinct sentences of a text, in order."""
    text = read_text(path)
    passages = (
        [_passage(path, line, row) for line, row in read_jsonl(path)]
        if text.lstrip().startswith("{")
        else text.split("\n\n")
    )
    found = dict.fromkeys(
        " ".join(part.split()) for passage in passages for part in END.split(passage)
    )
    kept = [one for one in found if one and len(one.split()) <= LONGEST]
    if not kept:
        raise DataError(
            f"{path} holds no sentence. CEAT reads words in sentences. Give it running text."
        )
    return kept


def _passage(path: Path, line: int, row: Mapping[str, object]) -> str:
    text = row.get("text")
    if not isinstance(text, str):
        raise DataError(
            f"{path}, line {line} has no text. Each line needs a field `text`. Repair the row."
        )
    return text


class Concordance:
    """Which sentences hold which words."""

    def __init__(self, path: Path, words: Iterable[str], seed: int) -> None:
        self.words = tuple(dict.fromkeys(words))
        self.seed = seed
        texts = sentences(path)
        self.label = f"{path.name} ({digest_of(texts)[:12]})"
        self._pools = self._found(texts)

    def _found(self, texts: Sequence[str]) -> dict[str, list[Found]]:
        """One pass over the text: the longest word that begins at a place is the one that stands there."""
        ordered = sorted(self.words, key=len, reverse=True)
        pattern = re.compile(
            rf"(?<![\w-])(?:{'|'.join(_pattern(word) for word in ordered)})(?![\w-])"
        )
        exact, any_case = (
            {word: word for word in self.words},
            {word: word for word in self.words if word.islower()},
        )
        pools: dict[str, list[Found]] = {word: [] for word in self.words}
        for text in texts:
            seen: set[str] = set()
            for match in pattern.finditer(text):
                word = exact.get(match[0]) or any_case.get(match[0][0].lower() + match[0][1:], "")
                if word and word not in seen:
                    seen.add(word)
                    pools[word].append(Found(text, match.span()))
        return pools

    def pool(self, *words: str) -> Pool:
        """Sentences with any of these words, at most a thousand by lot."""
        found = [one for word in words for one in self._pools[word]]
        if len(found) <= POOL:
            return tuple(found)
        rng = np.random.default_rng([self.seed, int(digest_of(list(words))[:8], 16)])
        return tuple(found[index] for index in sorted(rng.choice(len(found), POOL, replace=False)))


def _pattern(word: str) -> str:
    """A word in lower case may begin a sentence; a name is written as it is."""
    if not word.islower():
        return re.escape(word)
    return f"[{re.escape(word[0])}{re.escape(word[0].upper())}]{re.escape(word[1:])}"


# ---------------------------------------------------------------------------------------------- items


@dataclass(frozen=True)
class Words:
    """What is compared: each word with its pool, by role."""

    targets: Mapping[str, Mapping[str, Pool]]
    """Of one group, or of two: their words."""
    poles: Mapping[str, Mapping[str, Pool]]


@dataclass(frozen=True, eq=False)
class Told:
    """A group (or two) and a trait as sentences tell of them."""

    name: str
    domain: str
    trait: Trait
    words: Words = field(repr=False)
    label: str = ""
    seed: int = 0

    @property
    def id(self) -> str:
        return f"sentences/{self.name}/{self.trait.name}"

    @property
    def slices(self) -> Slice:
        return {
            "group": self.name,
            "domain": self.domain,
            "trait": self.trait.name,
            "dimension": self.trait.dimension,
            "template": TOLD,
        }

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """How many sentences each word has: the sentences stay in the user's text."""
        pools = {**self.words.targets, **self.words.poles}
        return {"text": self.label} | {
            role: ", ".join(f"{word} {len(pool)}" for word, pool in words.items())
            for role, words in pools.items()
        }


def told(grid: Grid, path: Path, seed: int) -> dict[str, list[Told]]:
    """One item a group and trait, and one a pair of groups and trait."""
    forms = {
        group.name: tuple(dict.fromkeys((group.singular, group.plural))) for group in grid.groups
    }
    adjectives = [
        word for trait in grid.traits for pole in POLES for word in trait.adjectives(pole)
    ]
    found = Concordance(
        path, [*(word for words in forms.values() for word in words), *adjectives], seed
    )
    poles = {
        trait.name: {
            pole: {word: found.pool(word) for word in trait.adjectives(pole)} for pole in POLES
        }
        for trait in grid.traits
    }
    joint = {group.name: {group.name: found.pool(*forms[group.name])} for group in grid.groups}
    apart = {
        group.name: {word: found.pool(word) for word in forms[group.name]} for group in grid.groups
    }
    alone = [
        Told(
            group.name,
            group.domain,
            trait,
            Words({"group": joint[group.name]}, poles[trait.name]),
            found.label,
            seed,
        )
        for group in grid.groups
        for trait in grid.traits
    ]
    return {
        "sentences": alone,
        "sentence-pairs": list(_pairs(grid, apart, poles, found.label, seed)),
    }


def _pairs(
    grid: Grid,
    words: Mapping[str, Mapping[str, Pool]],
    poles: Mapping[str, Mapping[str, Mapping[str, Pool]]],
    label: str,
    seed: int,
) -> Iterator[Told]:
    """Groups of one domain against each other; of two groups alone, whatever they are."""
    for one, other in combinations(grid.groups, 2):
        if one.domain == other.domain or len(grid.groups) == 2:
            targets = {"first": words[one.name], "second": words[other.name]}
            domain = " + ".join(dict.fromkeys((one.domain, other.domain)))
            for trait in grid.traits:
                yield Told(
                    pair_name(one, other),
                    domain,
                    trait,
                    Words(targets, poles[trait.name]),
                    label,
                    seed,
                )


def pair_name(one: Group, other: Group) -> str:
    return f"{one.name} vs {other.name}"
