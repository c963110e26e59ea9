"""Natural sentences about groups and traits, found in any text: what CEAT reads.

A text is plain, or JSONL with a field `text`. A pool holds at most a thousand sentences for each
word, drawn at random.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stereometer.core.errors import DataError
from stereometer.core.files import read_jsonl, read_text
from stereometer.core.types import ItemDefaults, Slice, digest_of
from stereometer.kinds.traits.abc.files import POLES, Trait

if TYPE_CHECKING:
    from stereometer.kinds.traits.abc.items import Grid

POOL = 1000
NO_TEMPLATE = "sentences"
"""Stands where a template's name does: scores of sentences are of no template."""
LONGEST = 64
"""Words of a sentence; longer ones are mostly lists."""
END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")


@dataclass(frozen=True)
class Occurrence:
    """A sentence and where in it the word stands."""

    text: str
    span: tuple[int, int]


Pool = tuple[Occurrence, ...]


def sentences(path: Path) -> list[str]:
    """The distinct sentences of a text, in order."""
    text = read_text(path)
    passages = text.split("\n\n")
    if text.lstrip().startswith("{"):
        passages = [_passage(path, line, row) for line, row in read_jsonl(path)]
    distinct = dict.fromkeys(
        " ".join(part.split()) for passage in passages for part in END.split(passage)
    )
    kept = [sentence for sentence in distinct if 0 < len(sentence.split()) <= LONGEST]
    if not kept:
        raise DataError(
            f"{path} holds no sentence. CEAT reads words in sentences. Give it running text."
        )
    return kept


def _passage(path: Path, line: int, row: Mapping[str, object]) -> str:
    text = row.get("text")
    if not isinstance(text, str):
        raise DataError(
            f"{path}, line {line} has no text. Each line needs a field `text`. Fix the row."
        )
    return text


class Concordance:
    """Which sentences hold which words."""

    def __init__(self, path: Path, words: Iterable[str], seed: int) -> None:
        self.words = tuple(dict.fromkeys(words))
        self.seed = seed
        texts = sentences(path)
        self.label = f"{path.name} ({digest_of(texts)[:12]})"
        self._pools = self._occurrences(texts)

    def _occurrences(self, texts: Sequence[str]) -> dict[str, list[Occurrence]]:
        """In one pass; of words that begin at the same place, the longest stands there."""
        ordered = sorted(self.words, key=len, reverse=True)
        pattern = re.compile(
            rf"(?<![\w-])(?:{'|'.join(_pattern(word) for word in ordered)})(?![\w-])"
        )
        pools: dict[str, list[Occurrence]] = {word: [] for word in self.words}
        for text in texts:
            seen: set[str] = set()
            for match in pattern.finditer(text):
                word = match[0] if match[0] in pools else match[0][0].lower() + match[0][1:]
                if word in pools and word not in seen:
                    seen.add(word)
                    pools[word].append(Occurrence(text, match.span()))
        return pools

    def pool(self, *words: str) -> Pool:
        """Sentences with any of these words, at most a thousand, drawn at random."""
        pool = [occurrence for word in words for occurrence in self._pools[word]]
        if len(pool) <= POOL:
            return tuple(pool)
        rng = np.random.default_rng([self.seed, int(digest_of(list(words))[:8], 16)])
        return tuple(pool[index] for index in sorted(rng.choice(len(pool), POOL, replace=False)))


def _pattern(word: str) -> str:
    """A word in lower case may begin a sentence; a name is written as it is."""
    if not word.islower():
        return re.escape(word)
    return f"[{re.escape(word[0])}{re.escape(word[0].upper())}]{re.escape(word[1:])}"


# -------------------------------------------------------------------------------------------- items


Pools = Mapping[str, Mapping[str, Pool]]
"""What is compared: each word with its pool, by role."""


@dataclass(frozen=True, eq=False)
class Usage(ItemDefaults):
    """A group (or two) and a trait, with the sentences of a text that use their words."""

    name: str
    domain: str
    trait: Trait
    targets: Pools = field(repr=False)
    """Of one group, or of two: their words."""
    poles: Pools = field(repr=False)
    label: str = ""
    seed: int = 0

    @property
    def id(self) -> str:
        return f"sentences/{self.name}/{self.trait.name}"

    @property
    def slices(self) -> Slice:
        places = {"group": self.name, "domain": self.domain, **self.trait.slices}
        return {**places, "template": NO_TEMPLATE}

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """How many sentences each word has: the sentences stay in the user's text."""
        pools = {**self.targets, **self.poles}
        return {"text": self.label} | {
            role: ", ".join(f"{word} {len(pool)}" for word, pool in words.items())
            for role, words in pools.items()
        }


def usages(grid: Grid, path: Path, seed: int) -> dict[str, list[Usage]]:
    """One item per group and trait, and one per pair of groups and trait."""
    forms = {
        group.name: tuple(dict.fromkeys((group.singular, group.plural))) for group in grid.groups
    }
    every = [word for trait in grid.traits for pole in POLES for word in trait.adjectives(pole)]
    concordance = Concordance(path, [*chain.from_iterable(forms.values()), *every], seed)
    pool = concordance.pool
    poles = {
        trait.name: {pole: {word: pool(word) for word in trait.adjectives(pole)} for pole in POLES}
        for trait in grid.traits
    }

    def items(name: str, domain: str, targets: Pools) -> Iterator[Usage]:
        for trait in grid.traits:
            yield Usage(name, domain, trait, targets, poles[trait.name], concordance.label, seed)

    joint = {name: {name: pool(*words)} for name, words in forms.items()}
    apart = {name: {word: pool(word) for word in words} for name, words in forms.items()}
    single: list[Usage] = []
    for group in grid.groups:
        single += items(group.name, group.domain, {"group": joint[group.name]})
    paired: list[Usage] = []
    for first, second in combinations(grid.groups, 2):
        if first.domain == second.domain or len(grid.groups) == 2:
            domain = " + ".join(dict.fromkeys((first.domain, second.domain)))
            targets = {"first": apart[first.name], "second": apart[second.name]}
            paired += items(f"{first.name} vs {second.name}", domain, targets)
    return {"sentences": single, "sentence-pairs": paired}
