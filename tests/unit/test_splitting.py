"""Splits by target term: disjoint, seeded, readable, and hidden where they should be."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer import api, runs
from stereometer.benchmarks.pairs import Pair
from stereometer.benchmarks.stereoset import Cat
from stereometer.errors import DataError, UsageError
from stereometer.report import write_report
from stereometer.splitting import parted, split, term_of
from stereometer.writing import write_items
from tests.strategies import MODERATE
from tests.unit.little import little_stereoset, pairs_file


def cats(places: list[tuple[str, int]]) -> list[Cat]:
    return [Cat(str(at), "intersentence", f"{domain}-{term}", domain, "c", {}) for at, (domain, term) in enumerate(places)]


PLACES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=2, max_size=60).filter(lambda found: len(set(found)) > 1)


@MODERATE
@given(PLACES, st.floats(0.05, 0.95), st.integers(0, 5))
def test_no_term_is_on_both_sides_and_no_item_is_lost(places: list[tuple[str, int]], share: float, seed: int) -> None:
    items = cats(places)
    dev, test = parted(items, share, seed)
    assert {item.target for item in dev}.isdisjoint(item.target for item in test)
    assert sorted(item.id for item in [*dev, *test]) == sorted(item.id for item in items)
    assert dev
    assert test
    again = parted(list(reversed(items)), share, seed)
    assert {item.target for item in again[0]} == {item.target for item in dev}


@MODERATE
@given(PLACES, st.integers(0, 3))
def test_about_a_quarter_of_each_domains_terms_is_dev(places: list[tuple[str, int]], seed: int) -> None:
    items = cats(places)
    dev, _ = parted(items, 0.25, seed)
    for domain in {item.domain for item in items}:
        terms = {item.target for item in items if item.domain == domain}
        mine = {item.target for item in dev if item.domain == domain}
        if len(terms) > 1:
            assert abs(len(mine) - 0.25 * len(terms)) <= 1


def test_another_seed_gives_another_split() -> None:
    items = cats([("a", term) for term in range(40)])
    assert {item.id for item in parted(items, 0.25, 0)[0]} != {item.id for item in parted(items, 0.25, 1)[0]}


def test_the_term_of_a_pair_is_what_only_the_more_stereotyping_sentence_has() -> None:
    assert term_of(Pair("p", "The old man sang.", "The young man sang.", "age")) == ("age", "old")
    assert term_of(Pair("p", "Same.", "Same.", "age")) == ("age", "p")


def test_both_parts_are_files_that_run_reads_and_the_hidden_one_leaves_no_text(tmp_path: Path) -> None:
    told = split(str(little_stereoset(tmp_path / "dev.json", 12)), tmp_path / "parts")
    by_part = {one["part"]: one for one in told["parts"]}
    assert (by_part["dev"]["hidden"], by_part["test"]["hidden"]) == (False, True)
    assert by_part["dev"]["items"] + by_part["test"]["items"] == 24
    hidden = tmp_path / "parts" / by_part["test"]["file"]
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    for part, shown in (("dev", True), ("test", False)):
        place = tmp_path / part
        file = tmp_path / "parts" / by_part[part]["file"]
        api.run(str(file), model="random", measures=["cat-likelihood"], resamples=100, out=place, keep_cache=False)
        assert all(bool(score.texts) is shown for score in runs.load_scores(place))
    assert "This is nurse number" not in write_report([tmp_path / "test"], tmp_path / "report.html").read_text()


def test_the_list_of_parts_holds_no_text_and_no_hidden_term(tmp_path: Path) -> None:
    split("starter", tmp_path / "parts", seed=3)
    told = (tmp_path / "parts" / "split.json").read_text()
    assert "librarian" not in told
    assert json.loads(told)["schema"] == "split@1"


def test_a_part_says_the_same_as_the_whole_did(tmp_path: Path) -> None:
    """Ids, texts, labels and votes survive the way through a file."""
    for shape, name in (("cat", "x.json"), ("pair", "x.csv")):
        items = api.open_named("starter").items(shape)
        again = api.open_named(str(write_items(tmp_path / name, items))).items(shape)
        assert again == items
    votes = Pair("p", "a, b", 'c "d"', "age", "stereo", (("age", "race"), ()), "note\nwith a line")
    (again,) = api.open_named(str(write_items(tmp_path / "v.csv", [votes]))).items("pair")
    assert again == votes


def test_nothing_is_overwritten_and_nonsense_is_refused(tmp_path: Path) -> None:
    split("starter", tmp_path / "parts")
    with pytest.raises(DataError, match="already holds a split"):
        split("starter", tmp_path / "parts")
    for share in (0.0, 1.0, -1.0, 7.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            split("starter", tmp_path / "other", share=share)
    one = pairs_file(tmp_path / "one.csv", "sent_more,sent_less,bias_type\nThe old man.,The young man.,age\n")
    with pytest.raises(UsageError, match="single target term"):
        split(str(one), tmp_path / "other")
