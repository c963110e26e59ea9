"""Labelled sentences of a text, in three parts of articles that share nothing.

One part is fitted on, with the words for that. The second trains a probe, with all words. The third
tests it, on sentences whose only list words are held-out ones.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from stereometer.errors import DataError, UsageError
from stereometer.mitigations.attribute import Attribute
from stereometer.mitigations.card import Leak
from stereometer.mitigations.swapping import Swaps
from stereometer.training import articles
from stereometer.training.articles import Article
from stereometer.training.mitigation.leaks import looked_at

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
"""Held-out sentences, with or without list words, whose perplexity is measured; most are the only
one of their articles."""


@dataclass(frozen=True)
class Labelled:
    """A sentence with list words of one class, and the same for every class."""

    label: str
    versions: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.versions[self.label]


@dataclass(frozen=True)
class Sentences:
    swaps: Swaps
    fit: tuple[Labelled, ...]
    probe: tuple[Labelled, ...]
    test: tuple[Labelled, ...]
    neutral: tuple[str, ...]
    """Of the part that is fitted on, without any list word."""
    passages: Mapping[str, int]
    """Held-out sentences whose perplexity is measured; those with one number are from the same
    articles."""
    text_digest: str
    leaks: Mapping[str, Leak] = field(default_factory=dict)
    """What the whole text and the lists share with benchmarks."""


def counted(sentences: Iterable[Labelled], attribute: Attribute) -> dict[str, int]:
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
) -> Sentences:
    """At most `limit` sentences of each class to fit on, drawn at random; the text is also held
    against files of items. Where nothing is fitted on it, it is only measured on."""
    if limit < LEAST and is_fitted:
        raise UsageError(
            f"--sentences is {limit}. Below {LEAST} per class what is fitted is mostly chance. "
            "Choose a larger number."
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
    rng = random.Random(seed)
    return Sentences(
        swaps,
        _drawn(fit.labelled, limit, rng),
        _drawn(probe.labelled, min(limit, PROBED), rng),
        _drawn(test.labelled, PROBED, rng),
        tuple(_sample(fit.neutral, limit, rng)),
        {text: test_texts[text] for text in _sample(list(test_texts), PASSAGES, rng)},
        articles.digest(whole),
        looked_at(
            (*fit_texts, *probe_texts, *test_texts, *fit.counterfactuals), attribute.words, against
        ),
    )


def no_sentences(attribute: Attribute) -> Sentences:
    """Of no text."""
    return Sentences(Swaps(attribute), (), (), (), (), {}, "")


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
        self.labelled: list[Labelled] = []
        self.neutral: list[str] = []
        for text in texts:
            label = swaps.label(text, held_out)
            versions = swaps.versions(text) if label is not None else None
            if label is not None and versions is not None:
                self.labelled.append(Labelled(label, versions))
            elif next(swaps.spots(text), None) is None:
                self.neutral.append(text)

    @property
    def counterfactuals(self) -> Iterator[str]:
        """Fitted on as much as the sentences themselves."""
        return (text for sentence in self.labelled for text in sentence.versions.values())


def _check_enough(part: _Part, text: Path, attribute: Attribute) -> None:
    tally = Counter(sentence.label for sentence in part.labelled)
    if not tally:
        raise DataError(
            f"{text} has no sentence with a word of {attribute.name}. Nothing can be fitted on "
            "it. Give another text, or an attribute whose words it has."
        )
    rare = min(attribute.classes, key=lambda name: tally[name])
    if tally[rare] < LEAST:
        counts = ", ".join(f"{name} {tally[name]}" for name in attribute.classes)
        raise DataError(
            f"{text} has too few sentences of class {rare} to fit on ({counts}). Below {LEAST} "
            f"per class what is fitted is mostly chance. Give more text, of which "
            f"{1 - HELD_OUT:.0%} is fitted on."
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


def _drawn(labelled: Sequence[Labelled], limit: int, rng: random.Random) -> tuple[Labelled, ...]:
    """At most so many of each class, in their order."""
    by_label: dict[str, list[Labelled]] = {}
    for sentence in labelled:
        by_label.setdefault(sentence.label, []).append(sentence)
    return tuple(
        part for label in sorted(by_label) for part in _sample(by_label[label], limit, rng)
    )


def _sample(elements: Sequence[Element], limit: int, rng: random.Random) -> Iterator[Element]:
    chosen = sorted(rng.sample(range(len(elements)), min(limit, len(elements))))
    return (elements[at] for at in chosen)
