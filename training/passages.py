"""Passages grouped so that training and held-out text never share an article.

Many passages overlap: two belong to the same group when they have the same title (before ` -- `) or share a sentence.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path

LONG_ENOUGH = 40
"""Characters: shorter sentences ("See also.") are shared by chance."""


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text) if part]


def read(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def grouped(passages: list[str]) -> list[list[str]]:
    """Connected components of passages that share a title or a sentence, in order of first appearance."""
    parent = list(range(len(passages)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    first: dict[str, int] = {}
    for index, passage in enumerate(passages):
        title, dash, body = passage.partition(" -- ")
        marks = [f"title:{title}"] if dash else []
        marks += [part for part in sentences(body if dash else passage) if len(part) >= LONG_ENOUGH]
        for mark in marks:
            parent[root(index)] = root(first.setdefault(mark, index))
    groups: dict[int, list[str]] = {}
    for index, passage in enumerate(passages):
        groups.setdefault(root(index), []).append(passage)
    return list(groups.values())


def split(passages: list[str], held_out: float, seed: int) -> tuple[list[str], list[str]]:
    """Training and held-out passages, by whole groups."""
    groups = grouped(passages)
    random.Random(seed).shuffle(groups)
    count = round(held_out * len(groups))
    return [one for group in groups[count:] for one in group], [one for group in groups[:count] for one in group]
