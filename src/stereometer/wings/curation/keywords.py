"""Words that a domain uses more than the language (Kilgarriff 2009; Nadeem et al. 2021, Table 3).

The score of a word is (its frequency per million here + N) / (its frequency per million in the
language + N). Reference frequencies come from wordfreq (code Apache-2.0, data CC BY-SA 4.0), an
optional part of the package.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.shapes.sentences import SentenceItem

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
    """Frequencies of the language that a card names; of English where it names none."""
    try:
        from wordfreq import word_frequency
    except ModuleNotFoundError:
        raise ModelError(
            "Keywords need wordfreq. It is in an optional part of the package. From a clone: "
            "`pip install '.[lexicon]'`."
        ) from None
    code = LANGUAGES.get(language, "en")
    return lambda word: 1e6 * float(word_frequency(word, code))


def lemma(word: str) -> str:
    """The base form of an English word; a word that can stand for itself does."""
    from lemminflect import getAllLemmas

    forms = [form for forms in getAllLemmas(word).values() for form in forms]
    return word if word in forms or not forms else str(forms[0])


def by_lemma(language: str) -> Frequency:
    """The frequency of a word in all of its forms."""
    if other_than_english(language):
        raise UsageError(
            f"--lemmas is for English, and the items are {language}. Their word forms are not "
            "known. Leave the option out."
        )
    if find_spec("lemminflect") is None:
        raise ModelError(
            "Keywords by lemma need lemminflect. It is in an optional part of the package. From a "
            "clone: `pip install '.[lexicon]'`."
        )
    from lemminflect import getAllInflections

    frequency = reference(language)

    def of_forms(word: str) -> float:
        inflected = getAllInflections(word).values()
        forms = {word, *(form for several in inflected for form in several)}
        return sum(map(frequency, sorted(forms)))  # in one order: rounding depends on it

    return of_forms


def keywords(
    items: Sequence[SentenceItem], frequency: Frequency, top: int, form: Callable[[str], str] = str
) -> list[Keyword]:
    """The `top` keywords of each domain or bias type, target terms left out; of pairs, the words
    that change.

    A word no more frequent here than in the language (a score of at most 1) is none, even where
    fewer than `top` are left. `form` says what words are counted as.
    """
    left_out = {word for item in items for word in (*item.about, *item.instead)}
    keywords: list[Keyword] = []
    for domain in sorted({item.domain for item in items}):
        texts = [list(map(form, item.written)) for item in items if item.domain == domain]
        counts = Counter(word for words in texts for word in words)
        spread = Counter(word for words in texts for word in set(words))
        scored = []
        for word, count in counts.items():
            here, there = 1e6 * count / counts.total(), frequency(word)
            score = (here + SMOOTHING) / (there + SMOOTHING)
            # A target term, its plural or its possessive.
            ends = ("", "'s", "s", "es")
            is_target = any(word.removesuffix(end) in left_out for end in ends)
            if score > 1 and spread[word] >= FEWEST and not is_target:
                scored.append(Keyword(domain, word, score, count, spread[word], here, there))
        keywords += sorted(scored, key=lambda keyword: (-keyword.score, keyword.word))[:top]
    return keywords
