"""A text of our own in which women and men do the same things, written by a seeded generator."""

from __future__ import annotations

import json
import random
from pathlib import Path

SUBJECTS = (("She", "her"), ("He", "his"), ("The woman", "her"), ("The man", "his"))
HELD_OUT = ("The queen", "The king", "A daughter", "A son", "An actress", "An actor")
DID = [
    "painted",
    "wrote",
    "sold",
    "opened",
    "closed",
    "found",
    "repaired",
    "carried",
    "bought",
    "cleaned",
]
THINGS = [
    "house",
    "letter",
    "garden",
    "book",
    "table",
    "window",
    "basket",
    "bridge",
    "boat",
    "lamp",
]
WHERE = ["near river", "before breakfast", "after lunch", "in spring", "on Monday", "without help"]


def text(path: Path, articles: int = 260, seed: int = 0) -> Path:
    """Articles of six sentences: two of each gender, one with a held-out word, one with neither."""
    rng = random.Random(seed)
    lines = [json.dumps({"text": _article(rng, number)}) for number in range(articles)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _article(rng: random.Random, number: int) -> str:
    first, second = rng.sample(SUBJECTS[::2], 1) * 2, rng.sample(SUBJECTS[1::2], 1) * 2
    parts = [_sentence(rng, who, own, number) for who, own in (*first, *second)]
    parts.append(_sentence(rng, rng.choice(HELD_OUT), "the", number))
    parts.append(_sentence(rng, "Somebody", "the", number))
    return " ".join(parts)


def _sentence(rng: random.Random, who: str, own: str, number: int) -> str:
    verb, thing, where = rng.choice(DID), rng.choice(THINGS), rng.choice(WHERE)
    return f"{who} {verb} {own} {thing} number {number} {where} {rng.randrange(10**6)} times."
