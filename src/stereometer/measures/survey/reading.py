"""From what a model wrote to the ratings of a page, or to why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stereometer.measures.recognition.reading import EMPTY, REFUSALS, REFUSED, UNPARSED
from stereometer.types import UNWRITTEN, Answer

NUMBER = r"\d{1,3}(?:\.\d+)?"
LINE = re.compile(
    rf"^\W*(?:scale\s+)?(\d{{1,2}})[\s*_]*[.:)=–-]+[\s*_]*({NUMBER})(?![\d.]*\d)",
    re.IGNORECASE | re.MULTILINE,
)
"""`3: 40`, `3. 40`, `Scale 3 - 40`."""
ALONE = re.compile(rf"(?<![\d.\-])({NUMBER})(?![\d.]*\d)")
LABEL = re.compile(r"^\s*1:")
"""The number of the first scale, which a model that continues a text is given: it is no rating."""
OUT_OF = re.compile(r"(?:/|\bout of|\bfrom 0 to|\b0 to)\s*100\b", re.IGNORECASE)
MOST = 100.0


def read(answer: Answer, count: int) -> tuple[Mapping[int, float], str]:
    """The rating of each scale by its number on the page, and why those that are not there are not.

    A scale that is rated twice, and not alike, has no rating.
    """
    text = answer.text or ""
    if answer.end in UNWRITTEN:
        return {}, answer.end
    plain = OUT_OF.sub("", text)
    rated: dict[int, set[float]] = {}
    for number, value in LINE.findall(plain):
        rated.setdefault(int(number), set()).add(float(value))
    known = {
        number: values.pop()
        for number, values in rated.items()
        if len(values) == 1 and 1 <= number <= count and max(values) <= MOST
    }
    return known if rated else _bare(plain, count), _why(text)


def _bare(text: str, count: int) -> Mapping[int, float]:
    """Ratings without their numbers, where there are as many as scales."""
    values = [float(value) for value in ALONE.findall(LABEL.sub("", text))]
    if len(values) != count or max(values) > MOST:
        return {}
    return dict(enumerate(values, 1))


def _why(text: str) -> str:
    if not text.strip():
        return EMPTY
    return REFUSED if REFUSALS.search(text.replace("’", "'")) else UNPARSED
