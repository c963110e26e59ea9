"""WinoBias: two files aligned line by line, numbers and brackets stripped."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import DataError
from stereometer.kinds.pairs.items import Pair
from tests.builders.sure import all_of
from tests.builders.winobias import ANTI, PRO, folder


def test_lines_become_pairs_without_numbers_and_brackets(tmp_path: Path) -> None:
    pairs = all_of(Pair, stereometer.open_benchmark("winobias", folder(tmp_path)).items("pair"))
    assert [pair.id for pair in pairs] == [
        "dev-type1-1",
        "dev-type1-2",
        "dev-type2-1",
        "dev-type2-2",
    ]
    assert pairs[0].sent_more == "The cook thanked the nurse because he was late."
    assert pairs[0].sent_less == "The cook thanked the nurse because she was late."
    assert [pair.bias_type for pair in pairs] == ["type1", "type1", "type2", "type2"]


def test_blank_lines_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    folder(tmp_path)
    plain = stereometer.open_benchmark("winobias", tmp_path)
    folder(tmp_path, [PRO[0] + "\r", "\r", PRO[1] + "\r"], [*ANTI, "", ""])
    assert stereometer.open_benchmark("winobias", tmp_path).digest == plain.digest


def test_files_of_unlike_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has 2 sentences, .* has 1"):
        stereometer.open_benchmark("winobias", folder(tmp_path, PRO, ANTI[:1]))


def test_files_out_of_step_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"4 of 4 pairs differ in more than a pronoun. The files are not aligned"
    ):
        stereometer.open_benchmark("winobias", folder(tmp_path, PRO, ANTI[::-1]))


def test_a_few_looser_pairs_are_noted(tmp_path: Path) -> None:
    found = stereometer.open_benchmark(
        "winobias",
        folder(
            tmp_path, PRO * 20, [*ANTI * 19, ANTI[0], "2 A baker met the clerk and praised him."]
        ),
    )
    assert "2 of 80 pairs differ in more than a pronoun, as released." in found.notes


def test_a_folder_without_one_of_the_files_is_refused(tmp_path: Path) -> None:
    folder(tmp_path)
    (tmp_path / "anti_stereotyped_type2.txt.dev").unlink()
    with pytest.raises(DataError, match=r"does not hold anti_stereotyped_type2\.txt\.dev"):
        stereometer.open_benchmark("winobias", tmp_path)


@pytest.mark.parametrize(
    "name", ["pro_stereotyped_type1.txt.dev", "anti_stereotyped_type1.txt.dev"]
)
def test_one_file_alone_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"made of 4 file\(s\), not 1"):
        stereometer.open_benchmark("winobias", folder(tmp_path) / name)
