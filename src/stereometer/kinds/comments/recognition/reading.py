"""From what a model wrote to a label, or to the reason why there is none."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from stereometer.core.asking.conversation import NOT_SAID, REFUSALS, heard, why_unread
from stereometer.core.shapes.sentences import plain_name
from stereometer.core.types import Answer, Variant
from stereometer.kinds.comments.items import SEPARATOR, UNNAMED, Setting


@dataclass(frozen=True)
class AnswerReader:
    """How the answers of a setting are read."""

    setting: Setting
    variant: Variant

    def read(self, answer: Answer, words: Mapping[str, str]) -> Mapping[str, str]:
        """`text`, and `label` or `skipped`. `words` is what stands for each label."""
        record, end = heard(answer)
        return {**record, **({"skipped": end} if end else self.read_text(record["text"], words))}

    def read_text(self, text: str, words: Mapping[str, str]) -> Mapping[str, str]:
        paper = self.variant == "paper"
        plain = text if paper else text.replace("’", "'")
        label = self._paper(plain, words) if paper else _sound(plain, synonyms(words))
        if label is not None:
            return {"text": text, "label": label}
        return {"text": text, "skipped": why_unread(plain)}

    def _paper(self, text: str, words: Mapping[str, str]) -> str | None:
        """What the study's code does: `no` anywhere is no; `not` anywhere is not; labels are
        substrings."""
        labels = list(words)
        if self.setting.mixed:
            named = [label for label in labels if label in text]
            return SEPARATOR.join(named) or UNNAMED
        if self.setting.words:
            return labels[1] if "not" in text else labels[0]
        plain = text.lower().strip()
        return labels[1] if "no" in plain else labels[0] if "yes" in plain else None


def synonyms(words: Mapping[str, str]) -> Mapping[str, str]:
    """The label of every word that is clear: what was asked for, and the label itself after yes or
    no."""
    return {word.lower(): label for label, word in words.items()} | {
        label.lower(): label for label in words
    }


def _sound(text: str, words: Mapping[str, str]) -> str | None:
    """A refusal may name labels; it gives one only where it begins with it."""
    if REFUSALS.search(text) and not _begins_with_label(text, words):
        return None
    return first_clear(text, words)


GAP = r"[\s\"'*]*"
_AFTER_NO = (
    "it|its|this|that|these|those|the|they|there|i|he|she|we|you|because|since|as|and|but|not"
)
NO = rf"no(?![^\S\n]+(?!(?:{_AFTER_NO})\b)\w)"
"""`no` as an answer: `no opinion` and `no way to tell` are none."""


@cache
def _signs(words: tuple[str, ...]) -> re.Pattern[str]:
    """What a reader looks at: labels, denied, asked about or answered, lists to choose from, words
    that deny, ends of clauses."""
    spelt = {word: _spelt(word) for word in sorted(words, key=len, reverse=True)}
    label = "|".join((spelt | {"no": NO} if "no" in spelt else spelt).values())
    denied = r"not?n?[\s_-]+(?:an?\s+)?"
    option = f"(?:{denied})??(?:{'|'.join(spelt.values())})(?!\\w)"
    listed = (
        rf"{option}(?:{GAP}(?:,{GAP}or\b|,|/|\bor\b){GAP}{option})*"
        rf"{GAP},?{GAP}(?:\bor\b|/){GAP}(?:{option}|not(?!\w))"
    )
    verdict = rf"{GAP}(?:[:=?→]|[-–—]+>?){GAP}(?P<verdict>yes|true|false|{NO})(?!\w)"
    return re.compile(
        rf"(?<![\w-])(?P<choice>{listed})"
        rf"|(?<![\w-])(?P<denied>{denied})??(?P<label>{label})(?!\w)"
        rf"(?:{verdict}|(?P<doubt>{GAP}\?))?"
        rf"|(?<!\w)(?P<denial>{NOT_SAID})(?!\w)|(?P<end>[.;:!?\n—]|\bbut\b)|(?P<comma>,)",
        re.IGNORECASE,
    )


def _begins_with_label(text: str, words: Mapping[str, str]) -> bool:
    match = _signs(tuple(words)).search(text)
    if match is None or match["label"] is None:
        return False
    return re.search(r"\w", text[: match.start()]) is None


def _is_all(match: re.Match[str]) -> bool:
    return re.search(r"\w", match.string[: match.start()] + match.string[match.end() :]) is None


def first_clear(text: str, words: Mapping[str, str]) -> str | None:
    """The label that stands first as a word of its own.

    `not` right before a label, or `no` as what follows it (`sexist: no`), stands for its opposite,
    where there is one. A label that is denied in other words, asked about or offered in a list is
    passed over. A comma ends a denial only after the label that it denies.
    """
    denying = passed = False
    for match in _signs(tuple(words)).finditer(_unmarked(text)):
        if match["label"] and not denying and (not match["doubt"] or _is_all(match)):
            label = _meant(match, words)
            if label is not None:
                return label
        if match["end"] or match["verdict"] or (match["comma"] and passed):
            denying = passed = False
        elif match["denial"]:
            denying, passed = True, False
        elif match["label"]:
            denying, passed = denying or bool(match["denied"]), True
    return None


def _unmarked(text: str) -> str:
    """Without underscores around words, which set them off; those within words join them."""
    return re.sub(r"(?<![^\W_])_+|_+(?![^\W_])", "", text)


def _meant(match: re.Match[str], words: Mapping[str, str]) -> str | None:
    """A label, its opposite where it is denied, or nothing where it has none."""
    named = {plain_name(name): label for name, label in words.items()}
    word = plain_name(match["label"])
    label, verdict = named.get(word), (match["verdict"] or "").lower()
    if verdict and word in ("yes", "no"):
        return None
    if not match["denied"] and verdict not in ("no", "false"):
        return label
    if match["denied"] and verdict in ("no", "false"):
        return None
    if "no" in words and re.match(r"no(?!t|n)", match["denied"] or "", re.IGNORECASE):
        return words["no"]
    return named.get(plain_name(f"not-{label}")) or named.get(plain_name(f"non-{label}"))


def _spelt(word: str) -> str:
    """`not-sexist` may be written with a space or an underscore."""
    return r"[\s_-]+".join(re.escape(part) for part in re.split(r"[\s_-]+", word))
