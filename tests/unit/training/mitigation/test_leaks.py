"""A text that shares a sentence with a benchmark is refused before anything is fitted."""

from __future__ import annotations

import pytest

from stereometer.errors import DataError
from stereometer.mitigations.attribute import load
from stereometer.mitigations.lists import Lists, plain
from stereometer.runs.open import open_benchmark
from stereometer.training.mitigation.leaks import looked_at

WORDS = load("gender").words


def test_what_is_shared_with_each_benchmark_is_counted() -> None:
    leaks = looked_at(["A sentence that nobody asks about."], WORDS)
    assert {"starter", "definitional"} <= leaks.keys()
    assert "abc" not in leaks
    assert leaks["definitional"].items == leaks["definitional"].with_words == 100
    assert 0 < leaks["starter"].with_words < leaks["starter"].items == 240
    assert {leak.sentences for leak in leaks.values()} == {0}


@pytest.mark.parametrize("change", [str, str.upper, lambda text: f"  {text.rstrip('.')} !"])
def test_a_shared_sentence_is_refused_however_it_is_spaced(change: object) -> None:
    item = open_benchmark("starter").items("pair")[0]
    text = next(iter(item.texts.values()))
    assert callable(change)
    with pytest.raises(DataError, match=f"1 item of starter.*pair {item.id}"):
        looked_at(["Something else.", change(text)], WORDS)


def test_list_words_are_whole_words_and_may_be_several() -> None:
    lists = Lists(["He", "best man"])
    assert lists.touch([plain("Then he left.")])
    assert lists.touch([plain("The BEST  man spoke.")])
    assert not lists.touch([plain("The manner of the best mango.")])
    assert not Lists([]).touch([plain("He left.")])
