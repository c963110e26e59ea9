"""The scale on which people answered, and where an answer lies between 0 and 100."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stereometer.errors import DataError, UsageError
from stereometer.files import finite
from stereometer.shapes.words import plain_name

BOUNDS = re.compile(r"\s*(-?[\d.]*\d)\s*(?:-|–|to)\s*(-?[\d.]*\d)\s*")
MISSING = ("", "NA", "N/A", ".", "-99")
"""What survey and statistics programs write for an answer that was not given."""
SHORT = 10.0
"""Ratings from 0 to 100 that never go beyond this were given on another scale."""


@dataclass(frozen=True)
class AnswerScale:
    """From the answer at the left pole to the one at the right, in equal steps."""

    low: float = 0.0
    high: float = 100.0
    labels: tuple[str, ...] = ()
    """Answers in words, which count from 1."""

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def answer(self, value: object, where: str) -> float | None:
        """The number that was given, or None."""
        text = "" if value is None else str(value).strip()
        if text in MISSING:
            return None
        if plain_name(text) in self.labels:
            return self.labels.index(plain_name(text)) + 1.0
        number = finite(
            value,
            where,
            f"Ratings are from {self}. Export numbers instead of the texts of answers, or give all "
            "answers in their order: --scale 'strongly disagree,...,strongly agree'.",
        )
        if not min(self.low, self.high) <= number <= max(self.low, self.high):
            raise DataError(
                f"{where}: a rating of {number:g}. Ratings are from {self}. Fix that cell, empty "
                "it if the answer is missing, or give the right scale with --scale."
            )
        return number

    def percent(self, number: float) -> float:
        """0 at the left pole, 100 at the right one."""
        return (number - self.low) * (100 / (self.high - self.low))

    def note(self, least: float, most: float, file: object) -> str:
        """How answers became 0 to 100; refuses those that cannot be meant as such."""
        if self == AnswerScale() and most <= SHORT:
            raise DataError(
                f"{file}: no rating is above {most:g}. Ratings are from 0 to 100, and 50 is the "
                f"middle. If people answered on another scale, say so: --scale 1-{most:g}."
            )
        used = {least, most} == {self.low, self.high}
        unused = "" if used else f" No answer is below {least:g} or above {most:g}."
        ends = f"{self.low:g} is 0, {(self.low + self.high) / 2:g} is 50, {self.high:g} is 100"
        return (
            "" if self == AnswerScale() else f"Ratings from {self} became 0 to 100: {ends}.{unused}"
        )


def scale_of(text: str) -> AnswerScale:
    """From `1-7`, or from all answers in words with commas between them."""
    labels = tuple(map(plain_name, text.split(",")))
    if (bounds := BOUNDS.fullmatch(text)) and bounds[1] != bounds[2]:
        return AnswerScale(float(bounds[1]), float(bounds[2]))
    if bounds or len(labels) < 2 or len(set(labels)) < len(labels):
        raise UsageError(
            f"--scale {text} is not a scale. It is the lowest and the highest answer, or all "
            "answers in words, in their order. Write, for example, 1-7."
        )
    return AnswerScale(1.0, float(len(labels)), labels)
