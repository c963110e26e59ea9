"""Splits by target term: disjoint, seeded, readable, and hidden where they should be."""

from __future__ import annotations

import json
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core import catalog
from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.stored import run_of
from stereometer.core.shapes.sentences import SentenceItem, SentenceShape
from stereometer.core.types import Item
from stereometer.core.verbs.run import run
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.report import write_report
from stereometer.wings.curation import split as splitting
from stereometer.wings.curation.split import parted, split
from tests.builders.commands import assert_refused, call
from tests.builders.little import intra, little_stereoset, pairs_file, stereoset_file
from tests.builders.sure import all_of
from tests.strategies import MODERATE


def cats(places: list[tuple[str, int]]) -> list[Cat]:
    return [
        Cat(str(at), "intersentence", f"{domain}-{term}", domain, "c", {})
        for at, (domain, term) in enumerate(places)
    ]


PLACES = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=2, max_size=60
).filter(lambda found: len(set(found)) > 1)


def sides(items: list[Any], share: float = 0.25, seed: int = 0) -> tuple[list[Any], list[Any]]:
    found = parted(items, share, seed)
    dev, test = (
        [item for group in side for item in group.items] for side in (found.dev, found.test)
    )
    return dev, test


@MODERATE
@given(PLACES, st.floats(0.05, 0.95), st.integers(0, 5))
def test_no_term_is_on_both_sides_and_no_item_is_lost(
    places: list[tuple[str, int]], share: float, seed: int
) -> None:
    items = cats(places)
    dev, test = sides(items, share, seed)
    assert {item.target for item in dev}.isdisjoint(item.target for item in test)
    assert sorted(item.id for item in [*dev, *test]) == sorted(item.id for item in items)
    assert dev
    assert test
    again = sides(list(reversed(items)), share, seed)
    assert {item.target for item in again[0]} == {item.target for item in dev}


@MODERATE
@given(PLACES, st.integers(0, 3))
def test_about_a_quarter_of_each_domains_items_is_dev(
    places: list[tuple[str, int]], seed: int
) -> None:
    items = cats(places)
    dev, _ = sides(items, 0.25, seed)
    for domain in {item.domain for item in items}:
        terms = Counter(item.target for item in items if item.domain == domain)
        mine = sum(item.domain == domain for item in dev)
        if len(terms) > 1:
            assert abs(mine - 0.25 * terms.total()) <= max(terms.values())


def test_another_seed_gives_another_split() -> None:
    items = cats([("a", term) for term in range(40)])
    assert {item.id for item in sides(items, 0.25, 0)[0]} != {
        item.id for item in sides(items, 0.25, 1)[0]
    }


# -------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    ("more", "less", "words"),
    [
        ("The old man sang.", "The young man sang.", {"old", "young"}),
        ("Blacks sing.", "Italians sing.", {"black", "italian"}),
        ("The black man's hat.", "The white ladies' hat.", {"black", "man", "white", "lady"}),
        (
            "African-American women sing.",
            "Swiss men sing.",
            {"african", "american", "woman", "swiss", "man"},
        ),
        ("He lost his hat.", "She lost her hat.", set()),
        ("Same.", "Same.", set()),
    ],
)
def test_the_words_of_a_change_are_base_forms_without_function_words(
    more: str, less: str, words: set[str]
) -> None:
    assert splitting.of_both(Pair("p", more, less, "age")) == words


def test_forms_of_a_word_and_words_beside_it_stay_together() -> None:
    """`black`, `blacks` and `black man` were three terms once."""
    said = [
        ("Black people", "Poles"),
        ("Blacks", "Danes"),
        ("The black man", "The Swede"),
        ("Cooks", "Smiths"),
        ("The cook's aunt", "Fay"),
    ]
    items = [
        Pair(str(at), f"{more} sing.", f"{less} sing.", "race")
        for at, (more, less) in enumerate(said)
    ]
    for seed in range(8):
        dev, test = sides(items, 0.4, seed)
        assert sorted((sorted(item.id for item in dev), sorted(item.id for item in test))) == [
            ["0", "1", "2"],
            ["3", "4"],
        ]


PHRASES = st.lists(
    st.sampled_from(["black", "blacks", "rich", "cook", "cook's", "she", "the", "lady", "ladies"]),
    min_size=1,
    max_size=3,
)


@MODERATE
@given(
    st.lists(st.tuples(PHRASES, PHRASES), min_size=2, max_size=12),
    st.floats(0.1, 0.9),
    st.integers(0, 3),
)
def test_no_changed_word_is_on_both_sides(
    changes: list[tuple[list[str], list[str]]], share: float, seed: int
) -> None:
    items = [
        Pair(str(at), f"{' '.join(more)} sing", f"{' '.join(less)} sing", "b")
        for at, (more, less) in enumerate(changes)
    ]
    try:
        found = parted(items, share, seed)
    except UsageError:
        return
    marks = splitting.of_both if found.by == splitting.CONNECTED else splitting.of_named(items)
    dev, test = (
        {word for group in side for item in group.items for word in marks(item)}
        for side in (found.dev, found.test)
    )
    assert not dev & test
    assert sum(len(group.items) for group in [*found.dev, *found.test]) == len(items)


def test_words_of_the_other_group_do_not_connect_everything() -> None:
    """All pairs set a group against white people; their own groups still come apart, and the split
    says by what."""
    groups = ["black", "mexican", "korean", "jewish", "turkish"]
    items = [
        Pair(f"{group}{at}", f"The {group} man number {at}.", f"The white man number {at}.", "race")
        for group in groups
        for at in range(3)
    ]
    items += [
        Pair(
            f"anti{at}",
            f"The white man won {at}.",
            f"The black man won {at}.",
            "race",
            "antistereo",
        )
        for at in range(3)
    ]
    found = parted(items, 0.25, 0)
    assert found.by == splitting.NAMED
    assert sorted(group.words for group in [*found.dev, *found.test]) == sorted(
        (group,) for group in groups
    )


def test_the_lot_is_drawn_once_over_all_shapes(tmp_path: Path) -> None:
    """`grandmother` is a target of CATs and a changed word of pairs."""
    for seed in range(4):
        split("starter", out=tmp_path / str(seed), seed=seed, hide=False)
        sides = {}
        for part in ("dev", "test"):
            folder = tmp_path / str(seed)
            cats_of = open_benchmark(str(folder / f"{part}-cat.json")).items("cat")
            pairs_of = open_benchmark(str(folder / f"{part}-pair.csv")).items("pair")
            items: list[SentenceItem] = [*all_of(Cat, cats_of), *all_of(Pair, pairs_of)]
            sides[part] = {word for item in items for word in splitting.of_both(item)}
        assert "grandmother" in sides["dev"] | sides["test"]
        assert not sides["dev"] & sides["test"]


def test_both_parts_are_files_that_run_reads_and_the_hidden_one_leaves_no_text(
    tmp_path: Path,
) -> None:
    told = split(str(little_stereoset(tmp_path / "dev.json", 12)), out=tmp_path / "parts")
    by_part = {one.part: one for one in told.parts}
    assert (by_part["dev"].hidden, by_part["test"].hidden) == (False, True)
    assert by_part["dev"].items + by_part["test"].items == 24
    hidden = tmp_path / "parts" / by_part["test"].file
    assert stat.S_IMODE(hidden.stat().st_mode) == 0o600
    for part, shown in (("dev", True), ("test", False)):
        place = tmp_path / part
        file = tmp_path / "parts" / by_part[part].file
        run(
            str(file),
            model="random",
            measure=["cat-likelihood"],
            resamples=100,
            out=place,
            cache=False,
        )
        assert all(bool(score.texts) is shown for score in run_of(place).scores)
    assert (
        "This is nurse number"
        not in write_report([tmp_path / "test"], tmp_path / "report.html").read_text()
    )


def test_target_terms_are_counted_and_groups_apart(tmp_path: Path) -> None:
    """`aunt` and `aunts` are two terms of one group."""
    places = [
        ("aunt", "gender"),
        ("aunts", "gender"),
        ("cook", "profession"),
        ("nurse", "profession"),
    ]
    intras = [
        intra(f"i{at}", target=term, bias_type=domain) for at, (term, domain) in enumerate(places)
    ]
    parts = split(str(stereoset_file(tmp_path / "own.json", intras)), out=tmp_path / "parts").parts
    assert (sum(one.terms or 0 for one in parts), sum(one.connected for one in parts)) == (4, 3)
    pairs = split(str(pairs_file(tmp_path / "pairs.csv")), out=tmp_path / "pairs").parts
    assert {one.terms for one in pairs} == {None}
    assert sum(one.connected for one in pairs) == 2


def test_the_list_of_parts_holds_no_text_and_no_hidden_term(tmp_path: Path) -> None:
    split("starter", out=tmp_path / "parts", seed=3)
    told = (tmp_path / "parts" / "split.json").read_text()
    assert "librarian" not in told
    assert json.loads(told)["schema"] == "split@1"
    assert json.loads(told)["connected_by"] == splitting.CONNECTED


def read_back(name: str, path: Path, items: Sequence[Item]) -> Sequence[Item]:
    shape = catalog.shape(name)
    assert isinstance(shape, SentenceShape)
    return open_benchmark(str(shape.write(path, items))).items(name)


def test_a_part_says_the_same_as_the_whole_did(tmp_path: Path) -> None:
    """Ids, texts, labels and votes survive the way through a file."""
    for shape, name in (("cat", "x.json"), ("pair", "x.csv")):
        items = open_benchmark("starter").items(shape)
        assert read_back(shape, tmp_path / name, items) == items
    votes = Pair("p", "a, b", 'c "d"', "age", "stereo", (("age", "race"), ()), "note\nwith a line")
    assert read_back("pair", tmp_path / "v.csv", [votes]) == [votes]


def test_nothing_is_overwritten_and_nonsense_is_refused(tmp_path: Path) -> None:
    split("starter", out=tmp_path / "parts")
    with pytest.raises(DataError, match="already holds a split"):
        split("starter", out=tmp_path / "parts")
    for share in (0.0, 1.0, -1.0, 7.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            split("starter", out=tmp_path / "other", share=share)
    one = pairs_file(
        tmp_path / "one.csv", "more,sent_less,bias_type\nThe old man.,The young man.,age\n"
    )
    with pytest.raises(DataError, match=r"lacks sent_more\. It has"):
        split(str(one), out=tmp_path / "other")
    said = call("split", one, "--out", tmp_path / "other", "--column", "sent_more=more")
    assert_refused(said, 2, "single target term")
