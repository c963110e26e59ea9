"""From what a model wrote to the option it chose, or to why none was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from stereometer.core.asking.conversation import EMPTY, NOT_SAID, REFUSALS, REFUSED, UNPARSED, heard
from stereometer.core.asking.wordings import Wording
from stereometer.core.methods.spans import common_start
from stereometer.core.types import Answer
from stereometer.core.types.names import NEUTRAL


def read(
    answer: Answer, options: Sequence[str], worded: Wording, neutral: bool = False
) -> dict[str, str]:
    """The position that was chosen, that neither was, or why nothing can be read: an option's own
    words, or the letter of one and of no other."""
    record, end = heard(answer)
    if end:
        return record | {"skipped": end}
    labels = worded.offered(neutral)
    said = [*options, worded.without_label] if neutral else options
    found = _read(record["text"], said, labels)
    if found.get("position") == str(len(labels)) and neutral:
        found = {NEUTRAL: "chosen"}
    return record | found


def _read(text: str, options: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    plain, signs = text.replace("’", "'"), Signs.of(tuple(labels))
    said, offered = _words(plain), [_words(option) for option in options]
    quoted = [at for at, option in enumerate(offered, 1) if _quotes(said, option)]
    if len(quoted) == 1 and not _quotes_both(said, offered, quoted[0] - 1):
        return {"position": str(quoted[0])}
    if REFUSALS.search(plain) and not signs.opening.match(plain):
        return {"skipped": REFUSED}
    if small := signs.small.fullmatch(plain):
        return {"position": signs.place(small[1])}
    found = [match for match in signs.each.finditer(plain) if not _is_article(match, options)]
    if len({signs.place(match[0]) for match in found}) == 1 and not _is_denied(found[0]):
        return {"position": signs.place(found[0][0])}
    return {"skipped": UNPARSED if text.strip() else EMPTY}


@dataclass(frozen=True)
class Signs:
    """How the labels of options look in an answer."""

    labels: tuple[str, ...]
    each: re.Pattern[str]
    small: re.Pattern[str]
    """An answer that is a label and nothing else may be written small."""
    opening: re.Pattern[str]
    """An answer that begins with a label has answered, whatever it says after."""

    @classmethod
    @cache
    def of(cls, labels: tuple[str, ...]) -> Signs:
        any_of = "|".join(map(re.escape, labels))
        words = re.IGNORECASE if max(map(len, labels)) > 1 else 0  # a small letter is an article
        of_option = r"(?:the\s+)?(?:option|answer|choice|sentence|letter|number)\W+(?:is\W+)?"
        return cls(
            labels,
            re.compile(rf"(?<!\w)(?:{any_of})(?![\w'])", words),
            re.compile(rf"\W*(?:{of_option})?({any_of})\W*", re.IGNORECASE),
            re.compile(rf"\W*(?:{any_of})\W*(?:[.):\n]|$)", words),
        )

    def place(self, label: str) -> str:
        return str([each.casefold() for each in self.labels].index(label.casefold()) + 1)


QUOTED = 3
"""Words from which on the beginning of an option is that option; fewer are so only where they are
all of it."""
LINKS = "is was are because since as and or has seems sounds looks would will makes over"
"""Words that may follow a letter even where an option has them too."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w[\w']*", text.lower().replace("’", "'"))


def _quotes(said: Sequence[str], option: Sequence[str]) -> bool:
    """Whether an answer is the beginning of an option; its last word may be cut by the limit on its
    length."""
    same = common_start(said, option)
    if same == len(option):
        return same > 0
    cut = same == len(said) - 1 and option[same].startswith(said[same])
    return same >= QUOTED and (same == len(said) or cut)


def _quotes_both(said: Sequence[str], options: Sequence[Sequence[str]], first: int) -> bool:
    """Whether the other option follows the one that was quoted."""
    rest = said[len(options[first]) :]
    return bool(rest) and any(
        _quotes(rest, option) for at, option in enumerate(options) if at != first
    )


def _is_article(match: re.Match[str], options: Sequence[str]) -> bool:
    """`A cat`, where that is the beginning of an option or its second word is one of theirs; not `A
    is more likely`."""
    if match[0] != "A" or not re.match(r"\s+[a-z]", match.string[match.end() :]):
        return False
    after = _words(match.string[match.end() :])[0]
    if any(_words(option)[:2] == ["a", after] for option in options):
        return True
    return after not in LINKS.split() and any(after in _words(option) for option in options)


def _is_denied(match: re.Match[str]) -> bool:
    denied = rf"(?<!\w)(?:{NOT_SAID})(?!\w)[^.;:!?\n]*$"
    return re.search(denied, match.string[: match.start()], re.IGNORECASE) is not None
