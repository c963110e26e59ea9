"""Labelled sentences of a text, in three parts of articles that share nothing; and what the text
shares with benchmarks on this machine and with files of one's own.

One part is fitted on, with the words for that. The second trains a probe, with all words. The third
tests it, on sentences whose only list words are held-out ones.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataError, StereometerError, UsageError
from stereometer.core.runs.open import open_benchmark
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.show.numbers import count
from stereometer.kinds.facts.shape import FACT
from stereometer.wings.mitigation.attribute import Attribute
from stereometer.wings.mitigation.card import Leak
from stereometer.wings.mitigation.swapping import Lists, Swaps, plain
from stereometer.wings.training import articles
from stereometer.wings.training.articles import Article

Element = TypeVar("Element")
LEAST = 1000
"""Sentences of a class below which nothing is fitted."""
LEAST_TESTED = 30
"""Held-out sentences below which a probe's accuracy says nothing."""
LONGEST = 40
"""Words of a sentence; longer ones are costly and few."""
HELD_OUT = 0.3
"""Share of article groups that nothing is fitted on: half for the probe, half to test it."""
PROBED = 500
"""Sentences of each class that a probe is trained on, at most."""
PASSAGES = 100
"""Held-out sentences, with or without list words, whose perplexity is measured."""


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence with list words of one class, and the same for every class."""

    label: str
    versions: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.versions[self.label]


@dataclass(frozen=True)
class TrainingSentences:
    """Of a text, or of none."""

    swaps: Swaps
    fit: tuple[LabelledSentence, ...] = ()
    probe: tuple[LabelledSentence, ...] = ()
    test: tuple[LabelledSentence, ...] = ()
    neutral: tuple[str, ...] = ()
    """Of the part that is fitted on, without any list word."""
    passages: Mapping[str, int] = field(default_factory=dict)
    """Held-out sentences whose perplexity is measured, with the number of their article group."""
    text_digest: str = ""
    leaks: Mapping[str, Leak] = field(default_factory=dict)
    """What the whole text and the lists share with benchmarks."""


def counted(sentences: Iterable[LabelledSentence], attribute: Attribute) -> dict[str, int]:
    """By class."""
    tally = Counter(sentence.label for sentence in sentences)
    return {name: tally[name] for name in attribute.classes}


def read(
    text: Path,
    attribute: Attribute,
    limit: int,
    seed: int,
    against: Sequence[Path] = (),
    is_fitted: bool = True,
) -> TrainingSentences:
    """At most `limit` sentences of each class to fit on, drawn at random; the text is also held
    against files of items. Where nothing is fitted on it, it is only measured on."""
    if limit < LEAST and is_fitted:
        raise UsageError(
            f"--sentences is {limit}. Below {LEAST} per class a fit is mostly chance. Choose more."
        )
    swaps, whole = Swaps(attribute), articles.read(text)
    parts = articles.split(whole, HELD_OUT, seed)
    half = len(parts.held_out) // 2
    probe_texts = _sentences(parts.held_out[:half])
    test_texts = _sentences(parts.held_out[half:])
    fit_texts = _sentences(parts.training)
    fit = _Part(swaps, fit_texts, held_out=False)
    if is_fitted:
        _check_enough(fit, text, attribute)
    probe = _Part(swaps, probe_texts, held_out=None)
    test = _Part(swaps, test_texts, held_out=True)
    _check_probe(probe, test, text, attribute)
    rng, every = random.Random(seed), (*fit_texts, *probe_texts, *test_texts)
    # Fitted on as much as the sentences themselves.
    counterfactuals = (text for each in fit.labelled for text in each.versions.values())
    return TrainingSentences(
        swaps,
        _draw(fit.labelled, limit, rng),
        _draw(probe.labelled, min(limit, PROBED), rng),
        _draw(test.labelled, PROBED, rng),
        tuple(_sample(fit.neutral, limit, rng)),
        {text: test_texts[text] for text in _sample(list(test_texts), PASSAGES, rng)},
        articles.digest(whole),
        looked_at((*every, *counterfactuals), attribute.words, against),
    )


def _sentences(groups: Iterable[Sequence[Article]]) -> dict[str, int]:
    """Each once, in order, with the number of its group: no two groups share one."""
    return {
        text: number
        for number, group in enumerate(groups)
        for article in group
        for text in articles.sentences(article.text)
        if articles.long_enough(text) and len(text.split()) <= LONGEST
    }


class _Part:
    """Sentences of one part of the articles, by what their list words are."""

    def __init__(self, swaps: Swaps, texts: Iterable[str], held_out: bool | None) -> None:
        self.labelled: list[LabelledSentence] = []
        self.neutral: list[str] = []
        for text in texts:
            label = swaps.label(text, held_out)
            if label is not None and (versions := swaps.versions(text)) is not None:
                self.labelled.append(LabelledSentence(label, versions))
            elif next(swaps.spots(text), None) is None:
                self.neutral.append(text)


def _check_enough(part: _Part, text: Path, attribute: Attribute) -> None:
    tally = counted(part.labelled, attribute)
    rare = min(tally, key=lambda name: tally[name])
    if tally[rare] < LEAST:
        counts = ", ".join(f"{name} {number}" for name, number in tally.items())
        raise DataError(
            f"{text} has too few sentences of class {rare} to fit on ({counts}). Below {LEAST} "
            f"per class a fit is mostly chance. Give more text: {1 - HELD_OUT:.0%} is fitted on."
        )


def _check_probe(probe: _Part, test: _Part, text: Path, attribute: Attribute) -> None:
    """Both parts of it: what it is trained on, and what it is tested on."""
    for part, words in ((probe, "words"), (test, "held-out words")):
        if len(part.labelled) < LEAST_TESTED:
            raise DataError(
                f"{text} has {len(part.labelled)} held-out sentences with {words} of "
                f"{attribute.name}. With fewer than {LEAST_TESTED} no accuracy can be given. Give "
                "more text in more articles, or more held-out words."
            )


def _draw(
    labelled: Sequence[LabelledSentence], limit: int, rng: random.Random
) -> tuple[LabelledSentence, ...]:
    """At most so many of each class, in their order."""
    labels = sorted({sentence.label for sentence in labelled})
    parts = ([part for part in labelled if part.label == label] for label in labels)
    return tuple(sentence for part in parts for sentence in _sample(part, limit, rng))


def _sample(elements: Sequence[Element], limit: int, rng: random.Random) -> Iterator[Element]:
    chosen = sorted(rng.sample(range(len(elements)), min(limit, len(elements))))
    return (elements[at] for at in chosen)


# -------------------------------------------------------------------------------------------- leaks

NAMED = 5
"""Items that an error names."""


@dataclass(frozen=True)
class BenchmarkTexts:
    by_item: Mapping[str, tuple[str, ...]]
    """By shape and id."""
    digest: str
    """Of the data."""


def looked_at(
    sentences: Iterable[str], words: Iterable[str], files: Sequence[Path] = ()
) -> dict[str, Leak]:
    """By benchmark or file, how much of it the text and the word lists touch; raises where a
    sentence is shared: numbers on items that a model was changed on prove nothing."""
    known, lists = set(map(plain, sentences)), Lists(words)
    leaks = {}
    for name, texts in (_benchmarks() | _texts_by_name(files)).items():
        items = texts.by_item
        shared = [id_ for id_ in items if not known.isdisjoint(map(plain, items[id_]))]
        if shared:
            more = ", ..." if shared[NAMED:] else ""
            raise DataError(
                f"The text, or the text with its words swapped, shares sentences with "
                f"{count(len(shared), 'item')} of {name} ({', '.join(shared[:NAMED])}{more}). "
                "Numbers on items that a model was changed on prove nothing. Leave those sentences "
                "out of the text."
            )
        leaks[name] = Leak(len(items), 0, sum(map(lists.touch, items.values())), texts.digest)
    return leaks


@cache
def _benchmarks() -> dict[str, BenchmarkTexts]:
    """Those of the catalog whose data are here and whose items are sentences."""
    readable = {}
    for name, source in catalog.every("benchmark").items():
        if any(map(_is_text, source.measures)):
            with suppress(StereometerError):  # not here, or it asks for a file
                readable[name] = _texts(open_benchmark(name))
    return readable


def _texts_by_name(files: Sequence[Path]) -> dict[str, BenchmarkTexts]:
    """By their names alone: where they lie is nobody else's business."""
    known, names = {}, [file.name for file in files]
    for file in files:
        texts, own = _texts(open_benchmark(str(file))), file.name
        if not texts.by_item:
            raise DataError(
                f"{file} has no sentences that the text could be checked against. CATs, pairs and "
                "facts do. Leave it out of --against."
            )
        known[own if names.count(own) == 1 else f"{own} ({texts.digest[:8]})"] = texts
    return known


def _texts(benchmark: Benchmark) -> BenchmarkTexts:
    by_item = {
        f"{shape} {item.id}": tuple(_parts(item.texts.values()))
        for shape in filter(_is_text, benchmark.measures)
        for item in benchmark.shapes.get(shape, ())
    }
    return BenchmarkTexts(by_item, benchmark.digest)


def _parts(texts: Iterable[str]) -> Iterator[str]:
    """Texts and their sentences: an item may have several, where a text is read one by one."""
    for text in texts:
        yield text
        yield from (part for part in articles.sentences(text) if articles.long_enough(part))


def _is_text(shape: str) -> bool:
    """Whether items are sentences that somebody wrote."""
    return shape == FACT or isinstance(catalog.shape(shape), SentenceShape)
