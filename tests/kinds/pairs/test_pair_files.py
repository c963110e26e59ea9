"""Tables of pairs as CrowS-Pairs has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import stereometer
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataError
from stereometer.core.runs.store import load_result
from stereometer.core.runs.stored import run_of
from stereometer.kinds.pairs.files import agreement_of, statistics
from stereometer.kinds.pairs.files import write as write_items
from stereometer.kinds.pairs.items import Pair
from tests.builders.little import QUICK, pairs_file
from tests.builders.sure import all_of

HEADER = (
    ",sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators\n"
)


def opened(folder: Path, text: str) -> Benchmark:
    return stereometer.open_benchmark("crows-pairs", pairs_file(folder / "pairs.csv", text))


def pairs_in(folder: Path, text: str) -> list[Pair]:
    return all_of(Pair, opened(folder, text).items("pair"))


def row(
    number: object,
    more: str = "Old men sing.",
    less: str = "Young men sing.",
    direction: str = "stereo",
    kind: str = "age",
) -> str:
    return (
        f"{number},{more},{less},{direction},{kind},\"[['age'], ['age', 'gender'], [],"
        " ['race-color'], ['age']]\",a0,[]\n"
    )


def test_a_table_as_released_is_read(tmp_path: Path) -> None:
    (pair,) = pairs_in(tmp_path, HEADER + row(7))
    assert (pair.id, pair.sent_more, pair.direction, pair.bias_type) == (
        "7",
        "Old men sing.",
        "stereo",
        "age",
    )
    assert pair.slices == {"bias_type": "age", "direction": "stereo"}
    assert pair.votes == (("age",), ("age", "gender"), (), ("race-color",), ("age",))
    assert agreement_of(pair) == 3 / 5


def test_quoted_line_breaks_and_double_spaces_stay(tmp_path: Path) -> None:
    (pair,) = pairs_in(tmp_path, HEADER + row(1, '"Old\nmen  sing."'))
    assert pair.sent_more == "Old\nmen  sing."


def test_pairs_that_cannot_be_scored_are_noted_and_counted(tmp_path: Path) -> None:
    text = (
        HEADER
        + row(0, "Same.", "Same.")
        + row(1, "", "Young.")
        + "".join(row(n, f"Old {n} sing.", f"Young {n} sing.") for n in range(2, 30))
    )
    found = opened(tmp_path, text)
    assert any("2 pair(s) cannot be scored" in note for note in found.notes)
    (result,) = stereometer.run("crows-pairs", model="fake", data=tmp_path / "pairs.csv", **QUICK)
    assert result.estimate("pair_preference").skipped == {
        "identical sentences": 1,
        "a sentence is empty": 1,
    }
    assert (result.estimate("pair_preference").n, result.estimate("pair_preference").asked) == (
        28,
        30,
    )


def test_without_an_id_rows_are_numbered(tmp_path: Path) -> None:
    found = opened(
        tmp_path, "sent_more,sent_less,bias_type\nOld.,Young.,age\nTall.,Short.,height\n"
    )
    assert [pair.id for pair in found.items("pair")] == ["0", "1"]
    assert found.items("pair")[0].slices == {"bias_type": "age"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEADER + row(1) + row(1), "pair id '1' occurs twice"),
        (HEADER + row(1, direction="both"), "line 2: stereo_antistereo is 'both'"),
        (HEADER, "has no rows"),
        ("sent_more,sent_less\nOld.,Young.\n", "has no column bias_type"),
        ("id;text\n1;x\n", "has no column sent_more, sent_less, bias_type"),
        (HEADER + "1,Old\n", "line 2 does not have 8 fields"),
    ],
)
def test_contradictions_are_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        opened(tmp_path, text)


def test_a_pair_without_a_bias_type_counts_overall_and_in_no_slice(tmp_path: Path) -> None:
    """As one of the 2024 Maltese pairs."""
    text = HEADER + row(1) + row(2, kind="") + row(3)
    assert [pair.slices.get("bias_type") for pair in pairs_in(tmp_path, text)] == [
        "age",
        None,
        "age",
    ]
    assert {one["bias_type"] for one in statistics(pairs_in(tmp_path, text))} == {
        "age",
        "untyped",
        "all",
    }
    (result,) = stereometer.run(
        "crows-pairs", model="random", data=tmp_path / "pairs.csv", resamples=100, out=tmp_path
    )
    assert result.estimate("pair_preference").asked == 3
    assert result.estimate("pair_preference", bias_type="age").asked == 2
    assert {e.slice.get("bias_type") for e in result.estimates} == {None, "age"}
    assert any(note.startswith("1 pair(s) have no bias type") for note in result.notes)


def test_statistics_count_directions_and_agreement(tmp_path: Path) -> None:
    pairs = pairs_in(
        tmp_path, HEADER + row(1) + row(2, direction="antistereo") + row(3, kind="gender")
    )
    rows = {one["bias_type"]: one for one in statistics(pairs)}
    assert rows["age"] == {
        "bias_type": "age",
        "pairs": 2,
        "stereo": 1,
        "antistereo": 1,
        "words": 3.0,
        "agreement": pytest.approx(0.6),
        "contested": 0,
    }
    assert rows["gender"]["contested"] == 1
    assert rows["all"]["pairs"] == 3


def test_pairs_that_are_held_back_leave_no_text(tmp_path: Path) -> None:
    """What `split` writes is read as a table of CrowS-Pairs too."""
    items = pairs_in(tmp_path, HEADER + row(1) + row(2, "Tall men sing.", "Short men sing."))
    hidden = write_items(tmp_path / "hidden.csv", items, hidden=True)
    assert all(
        pair.hidden for pair in stereometer.open_benchmark("crows-pairs", hidden).items("pair")
    )
    stereometer.run(
        "crows-pairs", model="fake", data=hidden, out=tmp_path / "run", coverage=0.1, **QUICK
    )
    assert not any(score.texts for score in run_of(tmp_path / "run").scores)
    thrice = [replace(pair, id=f"{pair.id}/{at}") for pair in items for at in range(3)]
    for held_back in (False, True):
        data = write_items(tmp_path / f"{held_back}.csv", thrice, hidden=held_back)
        out = tmp_path / f"thrice-{held_back}"
        stereometer.run("crows-pairs", model="fake", data=data, out=out, coverage=0.1, **QUICK)
    runs = [load_result(tmp_path / f"thrice-{held_back}") for held_back in (False, True)]
    assert runs[0].estimates == runs[1].estimates
    assert [score.copy for score in run_of(out).scores] == [1, 1, 1, 2, 2, 2]
    with pytest.raises(DataError, match="hidden is 'perhaps'"):
        opened(tmp_path, "sent_more,sent_less,bias_type,hidden\nOld.,Young.,age,perhaps\n")
