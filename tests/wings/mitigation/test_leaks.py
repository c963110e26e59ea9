"""A text that shares a sentence with a benchmark is refused before anything is fitted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stereometer.core.errors import DataError
from stereometer.core.runs.open import open_benchmark
from stereometer.wings.mitigation.attribute import load
from stereometer.wings.mitigation.methods.sentences import looked_at, read
from stereometer.wings.mitigation.swapping import Lists, Swaps

WORDS = load("gender").words
AFTER = ["", "'s", "’s", "'ll", ".", ",", "-made", "2", "s", "_", "s'"]


@pytest.mark.long
def test_what_is_shared_with_each_benchmark_is_counted() -> None:
    leaks = looked_at(["A sentence that nobody asks about."], WORDS)
    assert {"starter", "definitional"} <= leaks.keys()
    assert "abc" not in leaks
    assert leaks["definitional"].items == leaks["definitional"].with_words == 100
    assert 0 < leaks["starter"].with_words < leaks["starter"].items == 880
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
    assert lists.touch(["Then he left."])
    assert lists.touch(["The BEST  man spoke."])
    assert not lists.touch(["The manner of the best mango."])
    assert not Lists([]).touch(["He left."])


@pytest.mark.long
@pytest.mark.parametrize("name", ["gender", "race"])
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_list_word_is_what_a_counterfactual_changes(name: str, data: st.DataObject) -> None:
    attribute = load(name)
    word = st.sampled_from([*attribute.words, "table", "ran"])
    before, after = st.sampled_from(["", "'", "non-", "x", "("]), st.sampled_from(AFTER)
    parts = st.tuples(before, word.flatmap(lambda w: st.sampled_from([w, w.upper()])), after)
    text = " ".join("".join(part) for part in data.draw(st.lists(parts, min_size=1, max_size=3)))
    spots = list(Swaps(attribute).spots(text))
    assert Lists(attribute.words).touch([text]) == bool(spots)


def test_possessives_and_short_forms_are_list_words() -> None:
    for text in ("A woman's hat.", "He's here.", "I think she’ll go."):
        assert Lists(WORDS).touch([text])


PAIRS = "id,sent_more,sent_less,bias_type\na,The woman ran off.,The man ran off.,gender\n"


@pytest.mark.long
def test_a_file_of_ones_own_is_looked_at_where_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS, "utf-8")
    leak = looked_at(["A sentence that nobody asks about."], WORDS, [file])["pairs.csv"]
    assert (leak.items, leak.sentences, leak.with_words) == (1, 0, 1)
    assert leak.digest == open_benchmark(str(file)).digest
    with pytest.raises(DataError, match=r"shares sentences with 1 item of .*pairs\.csv"):
        looked_at(["THE MAN ran off!"], WORDS, [file])
    with pytest.raises(DataError, match="was not found"):
        looked_at([], WORDS, [tmp_path / "missing.csv"])


def test_a_file_without_sentences_is_not_passed_over(tmp_path: Path) -> None:
    comments = tmp_path / "comments.csv"
    comments.write_text("comment;isHate\nOne.;0.0\nTwo.;1.0\n", "utf-8")
    with pytest.raises(DataError):
        looked_at([], WORDS, [comments])


def test_an_item_of_several_sentences_is_found_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    two = "The woman ran off. Nobody knew why she did."
    file.write_text(PAIRS.replace("The woman ran off.", two), "utf-8")
    with pytest.raises(DataError, match="shares sentences with 1 item"):
        looked_at(["Nobody knew why she did."], WORDS, [file])


@pytest.mark.long
def test_a_counterfactual_is_fitted_on_as_well(tmp_path: Path, gendered_text: Path) -> None:
    """An item may be in no sentence of the text, but in one of their counterfactuals."""
    swaps = Swaps(load("gender"))
    sentences = read(gendered_text, load("gender"), 100, 0).fit
    other = swaps.versions(sentences[0].text)
    assert other is not None
    (swapped,) = set(other.values()) - {sentences[0].text}
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS.replace("The woman ran off.", swapped.rstrip(".")), "utf-8")
    with pytest.raises(DataError, match="shares sentences with 1 item"):
        read(gendered_text, load("gender"), 100, 0, [file])
