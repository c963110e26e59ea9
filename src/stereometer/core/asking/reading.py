"""From what a model wrote to the option it chose, or to why none was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stereometer.core.asking.conversation import (
    EMPTY,
    NOT_SAID,
    REFUSALS,
    REFUSED,
    UNPARSED,
    heard,
)
from stereometer.core.methods.spans import common_start
from stereometer.core.types import Answer

LETTERS = "AB"


def read(answer: Answer, options: Sequence[str]) -> dict[str, str]:
    """The position that was chosen, or why none was: an option's own words, or one letter and not
    the other."""
    record, end = heard(answer)
    return record | ({"skipped": end} if end else _read(record["text"], options))


def _read(text: str, options: Sequence[str]) -> dict[str, str]:
    plain = text.replace("’", "'")
    quoted = [at for at, option in enumerate(options, 1) if _quotes(_words(plain), _words(option))]
    if len(quoted) == 1 and not _quotes_both(
        _words(plain), [_words(option) for option in options], quoted[0] - 1
    ):
        return {"position": str(quoted[0])}
    if REFUSALS.search(plain) and not OPENING.match(plain):
        return {"skipped": REFUSED}
    if small := SMALL.fullmatch(plain):
        return {"position": str(LETTERS.index(small[1].upper()) + 1)}
    letters = [match for match in LETTER.finditer(plain) if not _is_article(match, options)]
    if len({match[0] for match in letters}) == 1 and not _is_denied(letters[0]):
        return {"position": str(LETTERS.index(letters[0][0]) + 1)}
    return {"skipped": UNPARSED if text.strip() else EMPTY}


LETTER = re.compile(rf"(?<!\w)[{LETTERS}](?![\w'])")
SMALL = re.compile(
    rf"\W*(?:(?:the\s+)?(?:option|answer|choice|sentence|letter)\W+(?:is\W+)?)?([{LETTERS}])\W*",
    re.IGNORECASE,
)
"""An answer that is a letter and nothing else may be written small."""
OPENING = re.compile(rf"\W*[{LETTERS}]\W*(?:[.):\n]|$)")
"""An answer that begins with a letter has answered, whatever it says after."""
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
    return (
        re.search(
            rf"(?<!\w)(?:{NOT_SAID})(?!\w)[^.;:!?\n]*$",
            match.string[: match.start()],
            re.IGNORECASE,
        )
        is not None
    )
