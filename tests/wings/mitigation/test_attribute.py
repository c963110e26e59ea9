"""Attributes are data: ours are whole, and a file that could not be used says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stereometer.core import catalog
from stereometer.core.errors import DataError, UnknownName
from stereometer.wings.mitigation.attribute import load

WHOLE: dict[str, Any] = {
    "name": "age",
    "classes": ["young", "old"],
    "rows": [["young", "old"]],
    "held_out": [["child", "elder"]],
}


@pytest.mark.parametrize("name", catalog.names("attribute"))
def test_shipped_attributes_hold_words_out(name: str) -> None:
    attribute = load(name)
    assert attribute.name == name
    assert attribute.domains
    trained = {word.lower() for row in attribute.trained_rows for word in row}
    assert not trained & {word.lower() for row in attribute.held_out for word in row}


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    attribute = load(str(_written(tmp_path, WHOLE)))
    assert attribute.words == ("child", "elder", "old", "young")
    assert attribute.digest == load(str(tmp_path / "own.json")).digest


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"held_out": []}, "nothing was fitted on"),
        ({"rows": []}, "none to fit on"),
        ({"rows": [["young"]]}, "one word for each class"),
        ({"rows": [["young", "old"], ["new", "old"]]}, "'old' stands in two rows"),
        ({"classes": ["young"]}, "at least two"),
        ({"rows": "young"}, "rows"),
        ({"rows": [["'un", "old"]]}, "never found"),
        ({"classes": ["young", ""]}, "one of them is empty"),
        ({"name": " "}, "one of them is empty"),
        ({"schema": "attribute@9"}, "attribute@1 is read"),
        ({"rowz": []}, "rowz"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match="is not an attribute") as error:
        load(str(_written(tmp_path, WHOLE | change)))
    assert said in str(error.value)


def test_an_unknown_name_is_answered_with_a_near_one() -> None:
    with pytest.raises(UnknownName, match="gender"):
        load("gendre")


def _written(folder: Path, value: dict[str, Any]) -> Path:
    path = folder / "own.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
