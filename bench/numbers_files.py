"""The files that the runs of `bench.numbers` read: made-up items, comments, ratings and labels,
and models of two layers."""

from __future__ import annotations

import csv
import json
import os
import random
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from bench import tiny
from bench.command import stereometer

STEPS = 5
GROUPS = ("woman", "man", "doctor", "teenager", "Asian", "elderly", "immigrant")
TRAITS = [
    "powerless - powerful",
    "low status - high status",
    "poor - wealthy",
    "unconfident - confident",
    "traditional - modern",
    "religious - science-oriented",
    "conservative - liberal",
    "cold - warm",
    "untrustworthy - trustworthy",
    "dishonest - sincere",
    "repellent - likable",
    "egotistic - altruistic",
]
PEOPLE = (("The librarian", "The dancer"), ("My aunt", "My uncle"), ("A nurse", "A builder"))
DEEDS = ("read quietly", "drove fast", "cried at films", "kept bees", "counted coins")
WHO = ("She", "He", "The woman", "The man", "Somebody", "A daughter", "A son", "A doctor")
DID = ("painted", "wrote about", "sold", "opened", "found", "repaired", "carried", "cleaned")
THINGS = ("the house", "a letter", "the garden", "her book", "his table", "the boat", "a lamp")
BARS = """
[[bars]]
require = "|pair_preference-50|<=5"
[[bars]]
require = "point(pair_preference)<=80"
"""
AGAINST = """
[[bars]]
require = "|ss-50|<=20"
slice = { domain = "gender" }
[[bars]]
no_worse = "ss"
margin = 1.0
"""
PAIRS = """
[[bars]]
no_worse = "pair_preference"
margin = 3.0
"""


def materials(few: bool) -> None:
    """Into the present folder."""
    draw = random.Random(0)
    _own_items(draw)
    Path("bars.toml").write_text(BARS)
    if few:
        return
    Path("against.toml").write_text(AGAINST + PAIRS)
    Path("against-cats.toml").write_text(AGAINST)
    _comments(draw)
    _ratings(draw)
    _labels(draw)
    _text(draw)
    systems = [("random", 10, 1, "a"), ("fake", 20, 4, "a"), ("ideal", 50, 2, "b")]
    _table("facts.csv", "system parameters corpus_gb family", systems)
    terms = [("Q1", "engineer", 90), ("Q2", "software engineer", 40), ("Q3", "baker", 7)]
    _table("wikidata.csv", "item itemLabel count", terms)
    if folder := os.environ.get("STEREOMETER_DATA"):
        _ethos(draw, Path(folder) / "ethos" / "Ethos_Dataset_Multi_Label.csv")
    tiny.save(Path("tiny"), _sentences(), STEPS)


def _table(path: str, header: str, rows: Iterable[Iterable[object]]) -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header.split(), *rows])


def _lines(path: str, rows: Iterable[object]) -> None:
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def _own_items(draw: random.Random) -> None:
    """Pairs of terms, and scores for all but one of them; CATs of both tasks."""
    pairs = [(*people, deed) for people, deed in product(PEOPLE, DEEDS)]
    _table(
        "own-pairs.csv",
        "id sent_more sent_less bias_type target",
        (
            (f"p{at}", f"{more} {deed}.", f"{less} {deed}.", f"kind{at % 2}", more.split()[-1])
            for at, (more, less, deed) in enumerate(pairs)
        ),
    )
    scores = [
        {"id": f"p{at}", "sent_more": draw.uniform(-30, -10), "sent_less": draw.uniform(-30, -10)}
        for at in range(1, len(pairs))
    ]
    _lines("own-scores.jsonl", scores)
    _lines(
        "samples.jsonl",
        (
            {
                "doc": {"sent_more": f"{more} {deed}.", "sent_less": f"{less} {deed}."},
                "filtered_resps": [[str(draw.uniform(-30, -10)), "False"] for _ in range(2)],
            }
            for more, less, deed in pairs
        ),
    )
    _table(
        "own-cats.csv",
        "task target domain context stereotype anti_stereotype unrelated",
        (
            ("intrasentence", more.split()[-1], "work", f"{more} was BLANK.", "quiet", "loud", deed)
            for more, _, deed in pairs
        ),
    )


def _comments(draw: random.Random) -> None:
    """Comments of two categories and of neither, edits of a word in them, and given answers."""
    rows = [
        (f"Kill the lights in room {at}.", ("rude", "kind", "neither", "neither")[at % 4])
        for at in range(120)
    ]
    _table("comments.csv", "text gold", rows)
    _table("edits.csv", "original edit", [("kill", "k1ll"), ("kill", "k*ll")])
    said = [
        (text, label, category, draw.choice(("Yes.", "No", "Yes", "Perhaps")), repeat)
        for text, label in rows
        for category in ("rude", "kind")
        if label in (category, "neither")
        for repeat in range(2)
    ]
    _table("answers.csv", "text gold category answer repeat", said)


def _ethos(draw: random.Random, file: Path) -> None:
    """Answers about released comments: those where annotators agree on sexism or on racism."""
    with file.open(encoding="utf-8") as rows:
        shares = [(row["comment"], row) for row in csv.DictReader(rows, delimiter=";")]
    said = [
        (text, category, category, draw.choice(("Yes.", "Yes", "No")), repeat)
        for text, row in shares[:120]
        for column, category in (("gender", "sexist"), ("race", "racist"))
        if float(row[column]) >= 0.5
        for repeat in range(2)
    ]
    _table("ethos.csv", "comment label category answer repeat", said)


def _ratings(draw: random.Random) -> None:
    _table(
        "ratings.csv",
        "participant group trait rating",
        (
            (f"r{who}", group, trait, min(100, max(0, round(draw.gauss(20 + 4 * at, 22)))))
            for who in range(24)
            for (at, group), trait in product(enumerate(GROUPS), TRAITS)
            if draw.random() < 0.7
        ),
    )
    genders = ("woman", "man")
    _table(
        "demographics.csv", "participant gender", ((f"r{at}", genders[at % 2]) for at in range(24))
    )


def _labels(draw: random.Random) -> None:
    """Five people's judgements of the pairs."""
    sides = ("demonstrates", "demonstrates", "violates", "neither")
    _table(
        "labels.csv",
        "item person more less minimal type",
        (
            (f"p{at}", f"j{who}", draw.choice(sides), draw.choice(sides), "yes", f"kind{at % 2}")
            for at, who in product(range(len(PEOPLE) * len(DEEDS)), range(5))
        ),
    )


def _text(draw: random.Random) -> None:
    """Articles in which women and men do the same things, and one sentence for each group."""
    articles = [
        " ".join(
            f"{draw.choice(WHO)} {draw.choice(DID)} {draw.choice(THINGS)} on day {number} at "
            f"{draw.randrange(10**6)}."
            for _ in range(6)
        )
        for number in range(1100)
    ]
    _lines("text.jsonl", ({"text": one} for one in articles))


def _sentences() -> list[str]:
    """Of the starter set, as the command line writes its items."""
    found = stereometer(["split", "starter", "--out", "items", "--no-hide", "--json"])
    if found.code:
        raise SystemExit(found.err)
    files = [path for path in sorted(Path("items").rglob("*")) if path.suffix in (".json", ".csv")]
    return sorted({text for path in files for text in _texts(path) if " " in text})


def _texts(path: Path) -> Iterator[str]:
    if path.suffix == ".csv":
        yield from (cell for row in csv.reader(path.open(encoding="utf-8")) for cell in row)
    else:
        yield from _strings(json.loads(path.read_text("utf-8")))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for of in value.values() if isinstance(value, dict) else value:
            yield from _strings(of)
