"""Articles in three forms, groups that share nothing, and pairs whose second sentence is from
elsewhere."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.errors import DataError
from stereometer.wings.training.articles import (
    Article,
    digest,
    grouped,
    read,
    sentence_pairs,
    split,
)
from stereometer.wings.training.articles import sentences as sentences_of

words = st.text("abc", min_size=1, max_size=4)
sentences = st.lists(words, min_size=3, max_size=12).map(
    lambda some: " ".join(some).capitalize() + "."
)
articles = st.builds(
    Article,
    st.sampled_from(["", "One", "Two", "Three"]),
    st.lists(sentences, min_size=1, max_size=5).map(" ".join),
)


def test_plain_text_has_blank_lines_between_articles(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "Harbour -- The sea is\nwide. It is deep.\n\n \nNo title here.\n"
    )
    assert read(tmp_path / "a.txt") == [
        Article("Harbour", "The sea is wide. It is deep."),
        Article("", "No title here."),
    ]


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Harbour -- The sea is\r\nwide.\r\n\r\nNo title here.\r\n")
    assert read(tmp_path / "a.txt") == [
        Article("Harbour", "The sea is wide."),
        Article("", "No title here."),
    ]


def test_a_dash_in_the_text_of_a_titled_record_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"title": "Mill", "text": "The wheel -- an old one -- turns."})
    )
    assert read(tmp_path / "a.jsonl") == [Article("Mill", "The wheel -- an old one -- turns.")]


def test_json_lines_may_be_gzipped_and_titled(tmp_path: Path) -> None:
    lines = [{"text": "Harbour -- The sea."}, {"title": "Mill", "text": "The wheel."}, {"text": ""}]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    assert read(tmp_path / "a.jsonl.gz") == [
        Article("Harbour", "The sea."),
        Article("Mill", "The wheel."),
    ]


def test_a_folder_of_wikiextractor_files(tmp_path: Path) -> None:
    (tmp_path / "AA").mkdir()
    (tmp_path / "AA" / "wiki_00").write_text(
        '<doc id="1" url="u" title="Mill">\nMill\n\nThe wheel turns.\nIt is old.\n</doc>\n'
    )
    (tmp_path / "AA" / "wiki_01").write_text(
        json.dumps({"id": "2", "title": "Harbour", "text": "The sea."}) + "\n"
    )
    assert read(tmp_path) == [
        Article("Mill", "The wheel turns.\nIt is old."),
        Article("Harbour", "The sea."),
    ]


WHOLE = gzip.compress(b"The sea is wide. " * 50, mtime=0)
DAMAGED = WHOLE[:10] + b"\xff" * 8 + WHOLE[18:]
"""The marks of gzip, and nonsense where the compressed text was."""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b'{"text": 1}\n', "line 1, has no text"),
        (b'{"text": "a"}\n{', "line 2 is not valid JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"\x1f\x8bxx", "cannot be read"),
        (DAMAGED, "cannot be read"),
    ],
)
def test_files_that_are_no_articles(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError, match=says):
        read(tmp_path / "a")


def shares(left: Article, right: Article) -> bool:
    """A title, a sentence that pairs are made of, or everything."""
    said = [
        {one for one in sentences_of(article.text) if len(one.split()) >= 3}
        for article in (left, right)
    ]
    return bool(
        (left.title and left.title == right.title) or said[0] & said[1] or left.text == right.text
    )


@given(st.lists(articles, max_size=8))
def test_groups_are_whole_and_apart(some: list[Article]) -> None:
    pytest.importorskip("sentencex")
    groups = grouped(some)
    assert sorted(map(repr, some)) == sorted(repr(one) for group in groups for one in group)
    for number, group in enumerate(groups):
        for other in groups[number + 1 :]:
            assert not any(shares(one, two) for one in group for two in other)


def test_a_chain_of_shared_sentences_is_one_group() -> None:
    pytest.importorskip("sentencex")
    a, b = "The mill is old.", "The wheel still turns."
    some = [
        Article("x", a),
        Article("y", f"{b} {a.upper()}"),
        Article("z", b),
        Article("w", "See also."),
    ]
    assert grouped(some) == [some[:3], some[3:]]


def test_the_same_short_text_is_on_one_side() -> None:
    """Articles without titles and of sentences too short to say anything are still the same
    article."""
    pytest.importorskip("sentencex")
    some = [
        Article("", "He died. They wept."),
        Article("", "She sang. All rose."),
        Article("", "He died.  They wept."),
    ]
    assert grouped(some) == [[some[0], some[2]], [some[1]]]


def test_no_sentence_of_a_held_out_pair_was_in_training() -> None:
    pytest.importorskip("sentencex")
    rng = random.Random(0)
    texts = [" ".join(f"He saw {rng.randrange(60)} boats." for _ in range(2)) for _ in range(30)]
    found = split([Article("", text) for text in texts], 0.3, 0)
    training, held_out = (
        {one for pair in sentence_pairs(side, 0) for one in (pair.first, pair.second)}
        for side in (found.training, found.held_out)
    )
    assert training
    assert held_out
    assert not training & held_out


@given(st.lists(articles, min_size=2, max_size=12), st.integers(0, 5))
def test_a_split_shares_no_article(some: list[Article], seed: int) -> None:
    pytest.importorskip("sentencex")
    if len(grouped(some)) < 2:
        with pytest.raises(DataError):
            split(some, 0.2, seed)
        return
    found = split(some, 0.2, seed)
    assert found.training
    assert found.held_out
    assert not any(
        shares(a, b) for one in found.training for a in one for two in found.held_out for b in two
    )
    assert found.counts["training_articles"] + found.counts["held_out_articles"] == len(some)
    assert split(some, 0.2, seed) == found


def test_pairs_follow_or_come_from_another_group() -> None:
    pytest.importorskip("sentencex")
    groups = [
        [Article(str(n), " ".join(f"Sentence {k} of article {n}." for k in range(6)))]
        for n in range(7)
    ]
    found = sentence_pairs(groups, seed=3)
    assert len(found) == 2 * 7 * 5
    for true, false in zip(found[::2], found[1::2], strict=True):
        assert true.follows
        assert not false.follows
        assert true.first == false.first
        number = int(true.first.split()[1])
        assert true.second == true.first.replace(f"Sentence {number}", f"Sentence {number + 1}")
        assert false.second.split()[-1] != true.second.split()[-1]
        assert true.first.endswith(f"{true.group}.")
    assert sentence_pairs(groups, seed=3) == found
    assert sentence_pairs(groups, seed=4) != found
    assert len(sentence_pairs(groups, seed=3, limit=9)) == 9
    assert sentence_pairs(groups[:1], seed=3) == []


def test_the_digest_is_of_titles_and_texts() -> None:
    assert digest([Article("a", "b")]) == digest([Article("a", "b")])
    assert digest([Article("a", "b")]) != digest([Article("", "b")])
