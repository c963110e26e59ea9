"""Words that a domain uses more than the language does: simple maths (Kilgarriff 2009; Nadeem et al. 2021, Table 3).

The score of a word is (its frequency per million here + N) / (its frequency per million in the language + N). Reference
frequencies come from wordfreq (code Apache-2.0, data CC BY-SA 4.0), an optional part of the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stereometer.benchmarks.stereoset import BLANK, Cat
from stereometer.curation.analyze.items import Kind, group_of, words_of
from stereometer.errors import ModelError
from stereometer.shapes.pair.items import edits

SMOOTHING = 1.0
"""N: larger brings commoner words to the top."""
FEWEST = 3
"""Items a keyword must be in: a word of one writer says nothing of a domain."""
LANGUAGES = {"English": "en", "French": "fr"}


def other_than_english(language: str) -> bool:
    """Whether a card names a language that is not English; a user's own file may not say."""
    return language in LANGUAGES and language != "English"


Frequency = Callable[[str], float]
"""Of a word, per million words of the language."""


@dataclass(frozen=True)
class Keyword:
    group: str
    word: str
    score: float
    count: int
    items: int
    per_million: float
    reference: float
    """Per million, in the language at large."""


def reference(language: str) -> Frequency:
    """Frequencies of a language by its name in a benchmark's card; English where the card does not say."""
    try:
        from wordfreq import word_frequency
    except ModuleNotFoundError:
        raise ModelError(
            "Keywords need wordfreq. It is in an optional part of the package. From a clone: `pip install '.[lexicon]'`."
        ) from None
    code = LANGUAGES.get(language, "en")
    return lambda word: 1e6 * float(word_frequency(word, code))


def keywords(
    items: Sequence[Kind],
    frequency: Frequency,
    top: int,
    smoothing: float = SMOOTHING,
    fewest: int = FEWEST,
) -> list[Keyword]:
    """The `top` keywords of each domain or bias type, target terms left out; of pairs, the words that change.

    A word no more frequent here than in the language (a score of at most 1) is none, even where fewer than `top` are left.
    """
    left_out = {word for item in items for word in _terms(item)}
    groups = sorted({group_of(item) for item in items})
    return [one for group in groups for one in _of(group, [item for item in items if group_of(item) == group], left_out, frequency, smoothing, fewest)[:top]]  # fmt: skip


def _terms(item: Kind) -> Iterator[str]:
    if isinstance(item, Cat):
        yield from words_of(item.target)
        return
    for edit in edits(words_of(item.sent_more), words_of(item.sent_less)):
        yield from (word for side in edit for word in side)


def _of(
    group: str,
    items: Sequence[Kind],
    left_out: set[str],
    frequency: Frequency,
    smoothing: float,
    fewest: int,
) -> list[Keyword]:
    counts: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for item in items:
        found = list(written(item))
        counts.update(found)
        spread.update(set(found))
    total = counts.total()
    made = [
        _keyword(group, word, count, spread[word], 1e6 * count / total, frequency(word), smoothing)
        for word, count in counts.items()
        if spread[word] >= fewest and not _is_target(word, left_out)
    ]
    return sorted((one for one in made if one.score > 1), key=lambda one: (-one.score, one.word))


def _keyword(
    group: str, word: str, count: int, items: int, here: float, there: float, smoothing: float
) -> Keyword:
    return Keyword(group, word, (here + smoothing) / (there + smoothing), count, items, here, there)


def written(item: Kind) -> Iterator[str]:
    """The words an item's writer chose: the context once, and what stereotype and anti-stereotype add to it."""
    if not isinstance(item, Cat):
        more, less = words_of(item.sent_more), words_of(item.sent_less)
        yield from more
        yield from (word for word in less if word not in more)
        return
    yield from words_of(item.context.replace(BLANK, " "))
    for label in ("stereotype", "anti-stereotype"):
        if label in item.candidates:
            text = (
                item.filler(label) if item.task == "intrasentence" else item.candidates[label].text
            )
            yield from words_of(text or "")


def _is_target(word: str, left_out: set[str]) -> bool:
    """A target term, its plural or its possessive."""
    return any(
        form in left_out
        for form in (word, word.removesuffix("'s"), word.removesuffix("s"), word.removesuffix("es"))
    )
