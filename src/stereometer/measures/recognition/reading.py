"""From what a model wrote to a label, or to the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stereometer.measures.recognition.settings import Setting
from stereometer.types import FILTERED, UNWRITTEN, Answer, Variant

EMPTY, UNPARSED, REFUSED = "empty", "unparsed", FILTERED
SEPARATOR = ", "
"""Between the labels of an answer that names several (`paper`, mixed settings)."""

REFUSALS = re.compile(
    r"\b(i\s+(can(no|')?t|am\s+(not\s+able|unable)|won'?t|will\s+not)|i'?m\s+(sorry|not\s+able|unable)|as\s+an?\s+(ai|language\s+model)"
    r"|cannot\s+(answer|assist|help|comply)|unable\s+to\s+(answer|assist|help|comply))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reader:
    """How the answers of a setting are read."""

    setting: Setting
    variant: Variant

    def read(self, answer: Answer, words: Mapping[str, str]) -> Mapping[str, str]:
        """`text`, and `label` or `skipped`. `words` is what stands for each label."""
        text = answer.text or ""
        if answer.end in UNWRITTEN:
            return {"text": text, "skipped": answer.end}
        return self.read_text(text, words)

    def read_text(self, text: str, words: Mapping[str, str]) -> Mapping[str, str]:
        label = self._paper(text, words) if self.variant == "paper" else first_clear(text, synonyms(words))
        if label is not None:
            return {"text": text, "label": label}
        if not text.strip():
            return {"text": text, "skipped": EMPTY}
        return {"text": text, "skipped": REFUSED if REFUSALS.search(text) else UNPARSED}

    def _paper(self, text: str, words: Mapping[str, str]) -> str | None:
        """What the study's code does: `no` anywhere is no; `not` anywhere is not; labels are substrings."""
        labels = list(words)
        if self.setting.mixed:
            named = [label for label in labels if label in text]
            return SEPARATOR.join(named) or OTHER
        if self.setting.words:
            return labels[1] if "not" in text else labels[0]
        plain = text.lower().strip()
        return labels[1] if "no" in plain else labels[0] if "yes" in plain else None


OTHER = "other"
"""An answer that names no label (`paper`, mixed settings): it counts, as of no category."""


def synonyms(words: Mapping[str, str]) -> Mapping[str, str]:
    """The label of every word that is clear: what was asked for, and the label itself after yes or no."""
    return {word.lower(): label for label, word in words.items()} | {label.lower(): label for label in words}


def first_clear(text: str, words: Mapping[str, str]) -> str | None:
    """The label that stands first as a word of its own; one that is denied stands for its opposite, or for nothing."""
    pattern = "|".join(_spelt(word) for word in sorted(words, key=len, reverse=True))
    for found in re.finditer(rf"(?<![\w-])(not?n?[\s-]+(?:an?\s+)?)?({pattern})(?!\w)", text, re.IGNORECASE):
        denied, word = found[1], re.sub(r"[\s-]+", "-", found[2].lower())
        label = _named(word, words)
        if denied and re.match(r"no(?!t|n)", denied, re.IGNORECASE) and "no" in words:
            return words["no"]
        if not denied:
            return label
        opposite = words.get(f"not-{label}") if label else None
        if opposite:
            return opposite
    return None


def _spelt(word: str) -> str:
    """`not-sexist` may be written with a space."""
    return r"[\s-]+".join(re.escape(part) for part in re.split(r"[\s-]+", word))


def _named(word: str, words: Mapping[str, str]) -> str | None:
    plain = {re.sub(r"[\s-]+", "-", name): label for name, label in words.items()}
    return plain.get(word)


def in_scope(text: str, words: Sequence[str]) -> bool:
    """Whether the first line of an answer is one of the words asked for and nothing else."""
    return text.strip().split("\n")[0].strip().strip(".\"'!").strip().lower() in {word.lower() for word in words}
