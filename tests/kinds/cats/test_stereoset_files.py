"""StereoSet files: the shape of dev.json, every quirk it has, and what is refused."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataError
from stereometer.kinds.cats.benchmarks import as_pairs
from stereometer.kinds.cats.files import read_cats, statistics
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from tests.builders.little import QUICK, inter, intra, stereoset_file
from tests.builders.sure import all_of


def opened(folder: Path, intras: list[Any] = [], inters: list[Any] = []) -> Benchmark:  # noqa: B006
    return stereometer.open_benchmark(
        "stereoset", stereoset_file(folder / "dev.json", intras, inters)
    )


def cats_in(folder: Path, intras: list[Any] = [], inters: list[Any] = []) -> list[Cat]:  # noqa: B006
    return all_of(Cat, opened(folder, intras, inters).items("cat"))


def test_items_of_both_tasks_are_read_within_before_across(tmp_path: Path) -> None:
    cats = cats_in(tmp_path, [intra("a")], [inter("b")])
    assert [(cat.id, cat.task) for cat in cats] == [("a", "intrasentence"), ("b", "intersentence")]
    assert cats[0].slices == {"task": "intrasentence", "domain": "profession", "target": "cook"}
    assert cats[0].texts["anti-stereotype"] == "The cook is calm today."


def test_candidates_are_known_by_label_whatever_their_order(tmp_path: Path) -> None:
    item = intra("a")
    item["sentences"].reverse()
    (cat,) = cats_in(tmp_path, [item])
    assert list(cat.candidates) == ["stereotype", "anti-stereotype", "unrelated"]
    assert cat.candidates["stereotype"].id == "a-s"


def test_the_intrasentence_items_are_pairs_too(tmp_path: Path) -> None:
    (pair,) = all_of(Pair, opened(tmp_path, [intra("a")], [inter("b")]).items("pair"))
    assert (pair.sent_more, pair.sent_less, pair.bias_type) == (
        "The cook is loud today.",
        "The cook is calm today.",
        "profession",
    )


def test_a_pair_is_hidden_where_its_cat_is(tmp_path: Path) -> None:
    (cat,) = read_cats(stereoset_file(tmp_path / "dev.json", [intra("1")]))
    shown, hidden = as_pairs([cat, replace(cat, hidden=True)])
    assert not shown.hidden
    assert hidden.hidden


def test_one_task_alone_is_read_and_noted(tmp_path: Path) -> None:
    assert "There are no intersentence items." in opened(tmp_path, [intra("a")]).notes


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    plain = stereoset_file(tmp_path / "dev.json", [intra("a")])
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_cats(packed) == read_cats(plain)


def test_other_items_than_those_released_are_noted(tmp_path: Path) -> None:
    found = opened(tmp_path, [intra("a")])
    assert not found.as_released
    assert any("not those released as stereoset" in note for note in found.notes)


@pytest.mark.parametrize(
    ("context", "filler"),
    [
        ("The cook is BLANK.", "loud"),
        ("BLANKcook sings.", "loud"),
        ("He said:BLANK!", "loud"),
        ("BLANK, very BLANK.", "loud"),
    ],
)
def test_blanks_that_are_glued_or_stand_twice_are_filled(
    tmp_path: Path, context: str, filler: str
) -> None:
    (cat,) = cats_in(tmp_path, [intra("a", context)])
    assert cat.filler("stereotype") == filler


def test_a_missing_candidate_makes_an_item_unscorable_and_is_counted(tmp_path: Path) -> None:
    item = intra("a")
    item["sentences"].pop()
    path = stereoset_file(
        tmp_path / "dev.json", [item, *(intra(f"b{number}") for number in range(19))]
    )
    (result,) = stereometer.run(str(path), model="fake", **QUICK)
    assert result.estimate("ss").skipped == {"no unrelated candidate": 1}
    assert (result.estimate("ss").n, result.estimate("ss").asked) == (19, 20)


def test_an_empty_sentence_is_counted(tmp_path: Path) -> None:
    item = intra("a")
    item["sentences"][0]["sentence"] = ""
    path = stereoset_file(
        tmp_path / "dev.json", [item, *(intra(f"b{number}") for number in range(19))]
    )
    (result,) = stereometer.run(str(path), model="fake", **QUICK)
    assert result.estimate("ss").skipped == {"a text is empty": 1}


def labelled(*labels: str) -> dict[str, Any]:
    item = intra("a")
    for sentence, label in zip(item["sentences"], labels, strict=True):
        sentence["gold_label"] = label
    return item


def with_id(item: dict[str, Any], at: int, number: str) -> dict[str, Any]:
    item["sentences"][at]["id"] = number
    return item


@pytest.mark.parametrize(
    ("items", "says"),
    [
        (
            [labelled("stereotype", "anti-stereotype", "related")],
            "item a has the gold labels stereotype, anti-stereotype, related",
        ),
        ([labelled("stereotype", "stereotype", "unrelated")], "item a has the gold labels"),
        ([intra("a"), intra("a")], "item id 'a' occurs twice"),
        ([intra("a"), with_id(intra("b"), 0, "a-s")], "sentence id 'a-s' occurs twice"),
        ([with_id(intra("a"), 1, "a-s")], "sentence id 'a-s' occurs twice"),
        ([], "has no items"),
        ([{"id": "a"}], r"data\.intrasentence\.0\.target: Field required"),
        ([{**intra("a"), "id": 7}], r"data\.intrasentence\.0\.id"),
        ([intra("a", target=None)], r"data\.intrasentence\.0\.target"),
        ([intra("a", sentences=[{"id": "s"}])], r"sentences\.0\.sentence: Field required"),
        (["text"], r"data\.intrasentence\.0"),
    ],
)
def test_contradictions_are_named(tmp_path: Path, items: list[Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        opened(tmp_path, items)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "is not a StereoSet file: top level"),
        ({}, "data: Field required"),
        ({"data": {}}, r"has the task\(s\) none"),
        ({"data": {"other": []}}, r"has the task\(s\) other"),
        ({"data": {"intrasentence": [], "other": []}}, r"has the task\(s\) other"),
        ({"data": []}, "is not a StereoSet file: data"),
    ],
)
def test_other_shapes_are_named(tmp_path: Path, value: Any, says: str) -> None:
    (tmp_path / "dev.json").write_text(json.dumps(value))
    with pytest.raises(DataError, match=says):
        read_cats(tmp_path / "dev.json")


def test_the_digest_is_of_the_content_not_of_its_layout_or_order(tmp_path: Path) -> None:
    items = [intra("a"), intra("b", "A BLANK cook.")]
    first = opened(tmp_path, items).digest
    assert opened(tmp_path, items[::-1]).digest == first
    (tmp_path / "dev.json").write_text(
        json.dumps(json.loads((tmp_path / "dev.json").read_text()), indent=4)
    )
    assert stereometer.open_benchmark("stereoset", tmp_path / "dev.json").digest == first
    assert opened(tmp_path, [intra("a"), intra("b", "A BLANK cook!")]).digest != first
    assert (
        opened(tmp_path, [intra("a"), intra("b", "A BLANK cook.", target="baker")]).digest != first
    )


def test_statistics_count_terms_items_words_and_agreement(tmp_path: Path) -> None:
    split = intra("a", "The cook is BLANK.")
    split["sentences"][0]["labels"] = [{"label": "stereotype"}, {"label": "related"}]
    rows = statistics(cats_in(tmp_path, [split], [inter("b", target="baker")]))
    by_place = {(row["task"], row["domain"]): row for row in rows}
    assert by_place["intrasentence", "profession"] | {} == {
        "task": "intrasentence",
        "domain": "profession",
        "terms": 1,
        "items": 1,
        "words": 4.0,
        "agreement": pytest.approx(2.5 / 3),
    }
    assert by_place["intersentence", "all"]["words"] == pytest.approx((8 + 8 + 9) / 3)
    assert (by_place["both", "all"]["terms"], by_place["both", "all"]["items"]) == (2, 2)
