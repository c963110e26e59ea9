"""The starter set: large enough to try everything, every item with its reason, no two items
alike."""

from __future__ import annotations

import json
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import combinations

import pytest

import stereometer
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.shapes.cat.items import LABELS, Cat
from stereometer.shapes.pair.items import Pair
from tests.builders.sure import all_of

ALIKE = 0.6


@pytest.fixture(scope="module")
def starter() -> Benchmark:
    return stereometer.open_benchmark("starter")


@pytest.fixture(scope="module")
def cats(starter: Benchmark) -> list[Cat]:
    return all_of(Cat, starter.items("cat"))


@pytest.fixture(scope="module")
def pairs(starter: Benchmark) -> list[Pair]:
    return all_of(Pair, starter.items("pair"))


def test_there_are_enough_items(cats: list[Cat], pairs: list[Pair]) -> None:
    tasks = Counter(cat.task for cat in cats)
    assert tasks["intrasentence"] >= 60
    assert tasks["intersentence"] >= 60
    assert len(pairs) >= 80
    assert len({cat.target for cat in cats}) >= 20
    assert len({pair.bias_type for pair in pairs}) >= 6
    assert len({cat.domain for cat in cats}) >= 4


def test_both_directions_of_pairs_occur(pairs: list[Pair]) -> None:
    directions = Counter(pair.direction for pair in pairs)
    assert set(directions) == {"stereo", "antistereo"}
    assert min(directions.values()) >= 10


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


def test_every_blank_is_found_with_its_filler(cats: list[Cat]) -> None:
    for cat in cats:
        if cat.task == "intrasentence":
            assert cat.context.count("BLANK") == 1
            fillers = [cat.filler(label) for label in LABELS]
            assert all(fillers)
            assert len(set(fillers)) == 3
            assert all(
                cat.context.replace("BLANK", str(filler)) == cat.candidates[label].text
                for label, filler in zip(LABELS, fillers, strict=True)
            )
        else:
            assert "BLANK" not in cat.context


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
    from stereometer.benchmarks.starter import packaged

    data = json.loads(packaged()[0].read_text("utf-8"))["data"]
    first = Counter(item["sentences"][0]["gold_label"] for items in data.values() for item in items)
    assert len(first) == 3
    assert min(first.values()) >= 20


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


def alike(one: list[str], other: list[str]) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return (
        matcher.ratio()
        if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE
        else 0.0
    )


def test_no_two_items_share_a_frame(cats: list[Cat], pairs: list[Pair]) -> None:
    frames = [(cat.id, frame(cat)) for cat in cats] + [
        (f"pair {pair.id}", pair_frame(pair)) for pair in pairs
    ]
    found = [
        (a, b) for (a, one), (b, other) in combinations(frames, 2) if alike(one, other) >= ALIKE
    ]
    assert found == []


def test_pairs_change_little(pairs: list[Pair]) -> None:
    for pair in pairs:
        more, less = pair.sent_more.split(), pair.sent_less.split()
        assert SequenceMatcher(None, more, less, autojunk=False).ratio() > 0.5, pair.id


def test_its_numbers_come_with_a_warning() -> None:
    result, _ = stereometer.run("starter", model="ideal", resamples=100)
    assert "must not be published" in result.notes[0]
