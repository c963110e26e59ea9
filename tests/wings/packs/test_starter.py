"""The starter set: large enough to try everything, every item with its reason, no two items
alike, and no label told by anything but the meaning."""

from __future__ import annotations

import json
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations
from statistics import mean

import pytest

import stereometer
from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, find
from stereometer.kinds.cats.items import LABELS, Cat
from stereometer.kinds.pairs.items import Pair
from tests.builders.sure import all_of

ALIKE = 0.6
OF_PEOPLE = {"profession", "gender", "age", "nationality", "socioeconomic", "physical-appearance"}


@pytest.fixture(scope="module")
def starter() -> Benchmark:
    return stereometer.open_benchmark("starter")


@pytest.fixture(scope="module")
def cats(starter: Benchmark) -> list[Cat]:
    return all_of(Cat, starter.items("cat"))


@pytest.fixture(scope="module")
def pairs(starter: Benchmark) -> list[Pair]:
    return all_of(Pair, starter.items("pair"))


def test_every_term_has_four_cats_of_each_task(cats: list[Cat]) -> None:
    terms = Counter((cat.domain, cat.target, cat.task) for cat in cats)
    assert set(terms.values()) == {4}
    assert Counter(domain for domain, _, _ in terms) == dict.fromkeys(OF_PEOPLE, 2 * 10)


def test_pairs_cover_every_domain_in_both_directions(pairs: list[Pair]) -> None:
    domains = {*OF_PEOPLE, "disability", "religion"}
    assert Counter(pair.bias_type for pair in pairs) == dict.fromkeys(domains, 50)
    assert Counter(pair.direction for pair in pairs) == {"stereo": 300, "antistereo": 100}
    against = Counter(pair.bias_type for pair in pairs if pair.direction == "antistereo")
    assert set(against.values()) == {12, 13}
    assert len({pair.target for pair in pairs}) >= 300


def test_ids_are_unique(cats: list[Cat], pairs: list[Pair]) -> None:
    for ids in (
        [cat.id for cat in cats],
        [one.id for cat in cats for one in cat.candidates.values()],
        [pair.id for pair in pairs],
    ):
        assert len(ids) == len(set(ids))


def test_every_item_says_which_cliche_it_is_about(cats: list[Cat], pairs: list[Pair]) -> None:
    assert all(
        note.strip() for note in [*(cat.note for cat in cats), *(pair.note for pair in pairs)]
    )


def test_every_item_can_be_scored(cats: list[Cat], pairs: list[Pair]) -> None:
    assert all(item.unscorable is None for item in (*cats, *pairs))
    assert all(tuple(cat.candidates) == LABELS for cat in cats)


def test_the_audit_finds_nothing() -> None:
    """One changed place, articles that fit, lengths alike, nothing twice: see its flags."""
    for shape in stereometer.audit("starter").shapes:
        assert {flag.name: flag.count for flag in shape.flags if flag.count} == {}


def test_every_context_is_about_its_target(cats: list[Cat]) -> None:
    def stem(word: str) -> str:
        return word.lower().removesuffix("s").removesuffix("e").removesuffix("ie").removesuffix("y")

    for cat in cats:
        words = [stem(word) for word in re.findall(r"[\w-]+", cat.context)]
        assert all(
            any(word.startswith(stem(part)[:5]) for word in words) for part in cat.target.split()
        ), (cat.id, cat.target)


def test_the_correct_answer_is_not_told_by_its_place() -> None:
    """Which label stands first in the file varies."""
    cats, _ = find(catalog.find("benchmark", "starter"))
    data = json.loads(cats.read_text("utf-8"))["data"]
    first = Counter(item["sentences"][0]["gold_label"] for items in data.values() for item in items)
    assert set(first.values()) == {160}


def test_the_label_is_told_by_neither_word_nor_length(cats: list[Cat]) -> None:
    within = [cat for cat in cats if cat.task == "intrasentence"]
    uses = Counter((label, str(cat.filler(label)).lower()) for cat in within for label in LABELS)
    assert max(uses.values()) <= 2
    for task in ("intrasentence", "intersentence"):
        lengths = [
            mean(len(cat.candidates[label].text) for cat in cats if cat.task == task)
            for label in LABELS
        ]
        assert max(lengths) - min(lengths) < 3


def frame(cat: Cat) -> list[str]:
    """The words of an item without its target and the gap."""
    text = (
        cat.context
        if cat.task == "intrasentence"
        else f"{cat.context} {cat.candidates['stereotype'].text}"
    )
    for gone in (cat.target, "BLANK"):
        text = re.sub(re.escape(gone), " ", text, flags=re.IGNORECASE)
    return re.findall(r"\w+", text.lower())


def pair_frame(pair: Pair) -> list[str]:
    """The words both sentences of a pair share: what is left without the groups."""
    more, less = (re.findall(r"\w+", text.lower()) for text in (pair.sent_more, pair.sent_less))
    blocks = SequenceMatcher(None, more, less, autojunk=False).get_matching_blocks()
    return [word for block in blocks for word in more[block.a : block.a + block.size]]


def numbered(words: list[str]) -> frozenset[tuple[str, int]]:
    """What two frames can share whatever the order of their words; quick to compare."""
    return frozenset((word, words[:at].count(word)) for at, word in enumerate(words))


def test_no_two_items_share_a_frame(cats: list[Cat], pairs: list[Pair]) -> None:
    frames = {cat.id: frame(cat) for cat in cats}
    frames |= {f"pair {pair.id}": pair_frame(pair) for pair in pairs}
    sets = {name: numbered(words) for name, words in frames.items()}
    close = [
        (a, b)
        for a, b in combinations(frames, 2)
        if 2 * len(sets[a] & sets[b]) >= ALIKE * (len(sets[a]) + len(sets[b]))
    ]
    assert [
        (a, b)
        for a, b in close
        if SequenceMatcher(None, frames[a], frames[b], autojunk=False).ratio() >= ALIKE
    ] == []


def test_its_numbers_come_with_a_warning() -> None:
    result, _ = stereometer.run("starter", model="ideal", resamples=100, limit=12)
    assert "must not be published" in result.notes[0]
