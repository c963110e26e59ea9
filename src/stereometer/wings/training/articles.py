"""Articles from text files, a split in which training and held-out text never share one, and pairs
of their sentences.

Three forms are read: plain text with blank lines between articles, JSON lines with a `text` field
(and perhaps a `title`), and a folder of WikiExtractor files (`<doc ...>` marks or JSON lines). All
may be gzipped.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path

from stereometer.core.errors import DataError
from stereometer.core.files import begins_with, read_jsonl, read_text
from stereometer.core.options import Option
from stereometer.core.stats.clusters import connected
from stereometer.core.types.packages import check_packages

ARTICLES = Option(
    "Articles with blank lines between them, JSON lines with `text`, or WikiExtractor's folder.",
    words=Path,
)
SHORTEST = 3
"""Words of a sentence that counts; shorter ones are mostly slips of the splitter."""


@dataclass(frozen=True)
class Article:
    title: str
    text: str


def read(path: Path) -> list[Article]:
    """Every article of a file or folder that has any text."""
    files = [path]
    if path.is_dir():
        every = (file for file in path.rglob("*") if file.is_file())
        files = sorted(file for file in every if not file.name.startswith("."))
    articles = [article for file in files for article in _articles(file) if article.text]
    if not articles:
        raise DataError(
            f"{path} holds no article. There is no text in it. Give one of: {ARTICLES.help}"
        )
    return articles


def digest(articles: Iterable[Article]) -> str:
    """Of titles and texts, in order."""
    hashed = sha256()
    for article in articles:
        hashed.update(json.dumps([article.title, article.text]).encode())
    return hashed.hexdigest()


def _articles(path: Path) -> Iterator[Article]:
    if begins_with(path) == "{":
        return _from_json_lines(path)
    text = read_text(path)
    if text.lstrip().startswith("<doc "):
        return _from_marks(text)
    return (_article(" ".join(part.split())) for part in re.split(r"\n[ \t]*\n", text))


def _from_json_lines(path: Path) -> Iterator[Article]:
    for number, record in read_jsonl(path):
        if not isinstance(record.get("text"), str):
            raise DataError(
                f"{path}, line {number}, has no text. Each line is an object with a string in "
                '"text". Add it.'
            )
        yield _article(record["text"], str(record.get("title") or ""))


def _from_marks(text: str) -> Iterator[Article]:
    """Of a dump of Wikipedia as WikiExtractor writes it: `<doc title="...">`, text, `</doc>`."""
    for mark, body in re.findall(r"<doc ([^>]*)>(.*?)</doc>", text, re.DOTALL):
        title = re.search(r'title="([^"]*)"', mark)
        name = title.group(1) if title else ""
        yield Article(name, body.strip().removeprefix(name).strip())


def _article(text: str, title: str = "") -> Article:
    """Where no title is given it may stand in the text, before ` -- `."""
    before, dash, after = text.strip().partition(" -- ")
    return Article(before, after.strip()) if dash and not title else Article(title, text.strip())


def sentences(text: str) -> list[str]:
    """Of an English text; a paragraph's end is a sentence's end."""
    try:
        from sentencex import segment
    except ImportError:
        check_packages("Sentences", ["sentencex"], "train")
        raise
    parts = (part.strip() for paragraph in text.split("\n") for part in segment("en", paragraph))
    return [part for part in parts if part]


def long_enough(sentence: str) -> bool:
    return len(sentence.split()) >= SHORTEST


def grouped(articles: Sequence[Article]) -> list[list[Article]]:
    """Articles that share a title, a sentence of a pair or their text, the first ones first."""
    marks = [list(_marks(article)) for article in articles]
    return [[articles[at] for at in group] for group in connected(marks)]


def _marks(article: Article) -> Iterator[str]:
    """What is the same in two articles that overlap, letter case and spaces aside."""
    if article.title:
        yield f"title:{_plain(article.title)}"
    yield f"text:{_plain(article.text)}"
    yield from (f"sentence:{_plain(text)}" for text in sentences(article.text) if long_enough(text))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


@dataclass(frozen=True)
class ArticleSplit:
    """Groups of articles for training, and others held out."""

    training: list[list[Article]]
    held_out: list[list[Article]]

    @property
    def counts(self) -> dict[str, int]:
        return {
            "training_groups": len(self.training),
            "training_articles": sum(map(len, self.training)),
            "held_out_groups": len(self.held_out),
            "held_out_articles": sum(map(len, self.held_out)),
        }


def split(articles: Sequence[Article], held_out: float, seed: int) -> ArticleSplit:
    """Whole groups to fit on and to try on, at least one on each side."""
    groups = grouped(articles)
    if len(groups) < 2:
        raise DataError(
            "All articles share a title or sentences. None can be held out. Give more text."
        )
    random.Random(seed).shuffle(groups)
    count = min(len(groups) - 1, max(1, round(held_out * len(groups))))
    return ArticleSplit(groups[count:], groups[:count])


@dataclass(frozen=True)
class SentencePair:
    first: str
    second: str
    follows: bool
    group: int
    """The group of articles that the first sentence is of."""


def sentence_pairs(
    groups: Sequence[Sequence[Article]], seed: int, limit: int | None = None
) -> list[SentencePair]:
    """For each two consecutive sentences, that pair and the first with a random sentence of another
    group; both or neither are kept."""
    rng = random.Random(seed)
    texts = [[sentences(article.text) for article in group] for group in groups]
    pools = [list(filter(long_enough, chain.from_iterable(group))) for group in texts]
    filled = [number for number, pool in enumerate(pools) if pool]
    if len(filled) < 2:
        return []
    heads = [
        (number, article, at)
        for number, group in enumerate(texts)
        for article in group
        for at in range(len(article) - 1)
        if long_enough(article[at]) and long_enough(article[at + 1])
    ]
    rng.shuffle(heads)
    pairs = []
    for number, article, at in heads[: None if limit is None else (limit + 1) // 2]:
        other = rng.choice(filled)
        while other == number:
            other = rng.choice(filled)
        pairs += [
            SentencePair(article[at], article[at + 1], True, number),
            SentencePair(article[at], rng.choice(pools[other]), False, number),
        ]
    return pairs if limit is None else pairs[:limit]
