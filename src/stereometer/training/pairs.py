"""Pairs of sentences: one that follows another in an article, and one of another article."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from stereometer.training.articles import Article, long_enough, sentences


@dataclass(frozen=True)
class SentencePair:
    first: str
    second: str
    follows: bool
    group: int
    """The group of articles that the first sentence is of."""


def sentence_pairs(
    groups: Sequence[Sequence[Article]], seed: int, limit: int | None = None
) -> list[SentencePair]:
    """For each two consecutive sentences, that pair and the first with a random sentence of another
    group; both or neither are kept."""
    rng = random.Random(seed)
    texts = [[sentences(article.text) for article in group] for group in groups]
    pools = [
        [text for article in group for text in article if long_enough(text)] for group in texts
    ]
    filled = [number for number, pool in enumerate(pools) if pool]
    if len(filled) < 2:
        return []
    heads = [
        (number, article, at)
        for number, group in enumerate(texts)
        for article in group
        for at in range(len(article) - 1)
        if long_enough(article[at]) and long_enough(article[at + 1])
    ]
    rng.shuffle(heads)
    pairs = []
    for number, article, at in heads[: None if limit is None else (limit + 1) // 2]:
        other = rng.choice(filled)
        while other == number:
            other = rng.choice(filled)
        pairs += [
            SentencePair(article[at], article[at + 1], True, number),
            SentencePair(article[at], rng.choice(pools[other]), False, number),
        ]
    return pairs if limit is None else pairs[:limit]
