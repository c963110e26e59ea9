"""CrowS-Pairs: real scores of bert-base-uncased (jerryspan/Dutch-CrowS-Pairs@7cf5196) and the
counts of Table 2."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.core.stats.tests import holm, sign_test
from stereometer.kinds.pairs.benchmarks import read_crows_pairs, read_winobias
from stereometer.kinds.pairs.files import statistics
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.curation import split
from stereometer.wings.curation.split import parted
from tests.builders.sure import all_of, sure
from tests.conftest import released

pytestmark = pytest.mark.golden

TABLE_2_COUNTS = {
    "race-color": 516,
    "gender": 262,
    "socioeconomic": 172,
    "nationality": 159,
    "religion": 105,
    "age": 87,
    "sexual-orientation": 84,
    "physical-appearance": 63,
    "disability": 60,
}
TABLE_2 = {
    "bert-base-uncased": [58.1, 58.0, 59.9, 62.9, 71.4, 55.2, 67.9, 63.5, 61.7],
    "roberta-large": [62.0, 57.3, 68.6, 66.0, 71.4, 66.7, 65.5, 68.3, 71.7],
}


@pytest.mark.parametrize("data", [None, "crows_pairs/crows_eng.csv"])
def test_bert_scores_replay(data: str | None, tmp_path: Path) -> None:
    """61.45 overall (899 of 1,463), 61.98 stereo, 58.85 antistereo, 2 neutral; difference of median
    confidences 0.96."""
    file = released("crows_pairs/results_bert.csv")
    place = released(data) if data else None
    result = stereometer.replay(
        file,
        benchmark="crows-pairs",
        data=place,
        variant="paper",
        resamples=500,
        out=tmp_path / "run",
    )[0]
    overall = result.estimate("pair_preference")
    assert (round(sure(overall.value), 2), overall.n, overall.ties) == (61.45, 1463, 2)
    assert overall.value == pytest.approx(100 * 899 / 1463, abs=1e-9)
    assert round(sure(result.estimate("pair_preference", direction="stereo").value), 2) == 61.98
    assert round(sure(result.estimate("pair_preference", direction="antistereo").value), 2) == 58.85
    assert round(sure(result.estimate("confidence_median_difference").value), 2) == 0.96


def test_the_pairs_of_that_file_are_said_not_to_be_the_released_ones(tmp_path: Path) -> None:
    result = stereometer.replay(
        released("crows_pairs/results_bert.csv"),
        benchmark="crows-pairs",
        resamples=100,
        out=tmp_path / "run",
    )[0]
    assert result.data["as_released"] is False
    assert any("not those released" in note for note in result.notes)
    assert result.estimate("pair_preference").published is None


def test_counts_of_table_2_and_contested_types() -> None:
    shapes, _ = read_crows_pairs([released("crows_pairs/crows_pairs_anonymized.csv")])
    rows = {row["bias_type"]: row for row in statistics(all_of(Pair, shapes["pair"]))}
    assert {name: rows[name]["pairs"] for name in TABLE_2_COUNTS} == TABLE_2_COUNTS
    assert (
        rows["all"]["pairs"],
        rows["all"]["stereo"],
        rows["all"]["antistereo"],
        rows["all"]["contested"],
    ) == (1508, 1290, 218, 162)


@pytest.mark.parametrize(
    ("model", "indistinguishable"), [("bert-base-uncased", 5), ("roberta-large", 0)]
)
def test_holm_over_the_nine_types_of_table_2(model: str, indistinguishable: int) -> None:
    """methods.md: five of BERT's nine types are not distinguishable from 50, all nine of RoBERTa's
    are."""
    wins = [
        round(percent * count / 100)
        for percent, count in zip(TABLE_2[model], TABLE_2_COUNTS.values(), strict=True)
    ]
    adjusted = holm(
        [
            sign_test(won, count - won)
            for won, count in zip(wins, TABLE_2_COUNTS.values(), strict=True)
        ]
    )
    assert sum(p >= 0.05 for p in adjusted) == indistinguishable


@pytest.mark.parametrize(
    "name", ["crows_pairs_EN_revised+210.csv", "crows_pairs_FR_languagearc_contribution+210.csv"]
)
def test_the_revised_and_french_sets_have_ten_types(name: str) -> None:
    shapes, _ = read_crows_pairs([released(f"crows_pairs/{name}")])
    assert len(shapes["pair"]) == 1677
    assert len({pair.bias_type for pair in all_of(Pair, shapes["pair"])}) == 10


def test_french_pairs_that_cannot_be_scored_say_why() -> None:
    shapes, notes = read_crows_pairs(
        [released("crows_pairs/crows_pairs_FR_languagearc_contribution+210.csv")]
    )
    reasons = [pair.unscorable for pair in shapes["pair"] if pair.unscorable]
    assert sorted(reasons) == ["a sentence is empty", *["identical sentences"] * 3]
    assert "4 pair(s)" in notes[0]


@pytest.mark.parametrize(("split", "loose"), [("dev", 9), ("test", 10)])
def test_winobias_is_396_pairs_a_type(split: str, loose: int) -> None:
    files = [
        released(f"winobias/{side}_stereotyped_{kind}.txt.{split}")
        for kind in ("type1", "type2")
        for side in ("pro", "anti")
    ]
    shapes, notes = read_winobias(files)
    pairs = all_of(Pair, shapes["pair"])
    assert [sum(pair.bias_type == kind for pair in pairs) for kind in ("type1", "type2")] == [
        396,
        396,
    ]
    assert notes == [f"{loose} of 792 pairs differ in more than a pronoun, as released."]
    assert not any(
        "[" in text or text[0].isdigit() for pair in pairs for text in pair.texts.values()
    )


def test_a_split_of_the_released_pairs_is_near_a_quarter_and_shares_no_naming_word() -> None:
    """What docs/howto/analyze.md says of it."""
    benchmark = stereometer.open_benchmark(
        "crows-pairs", released("crows_pairs/crows_pairs_anonymized.csv")
    )
    items = all_of(Pair, benchmark.items("pair"))
    assert max(len(group.items) for group in split.bundled(items, split.of_both)) == 1306
    for seed in range(3):
        found = parted(items, 0.25, seed)
        assert found.by == split.NAMED
        assert sum(len(group.items) for group in found.dev) / len(items) == pytest.approx(
            0.25, abs=0.02
        )
        dev, test = (
            {word for group in side for word in group.words} for side in (found.dev, found.test)
        )
        assert not dev & test
    first = parted(items, 0.25, 0)
    assert (sum(len(one.items) for one in first.dev), len(first.dev) + len(first.test)) == (
        397,
        440,
    )
    assert max(len(group.items) for group in first.test) == 352
