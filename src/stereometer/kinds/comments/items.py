"""Comments with the categories that people saw in them, and the five ways of asking about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stereometer.core.errors import DataError, UnknownName
from stereometer.core.files import finite
from stereometer.core.types import ItemDefaults, Score, Slice, Variant, digest_of

NEITHER = "neither"
"""The label of a comment of no category."""
SEPARATOR = "\n"
"""Between the labels of an answer that names several."""
UNNAMED = "(no label)"
"""What `paper` reads an answer as that names no label, in the mixed settings."""


@dataclass(frozen=True)
class Comment(ItemDefaults):
    """A text, how far people saw each category in it, and its place in the file."""

    shape: ClassVar[str] = "comment"
    id: str
    text: str
    scores: Mapping[str, float]
    """By category column, in [0, 1]: the share of annotators, or 1 for a label."""
    row: int
    """In the file that its scores are from, counted from 1."""
    hate: float | None = None
    """How far people saw anything hateful, where the data say; 0 is what nobody called so."""

    @property
    def slices(self) -> Slice:
        return {}

    @property
    def texts(self) -> Mapping[str, str]:
        """The text, and the scores as they are digested."""
        scores = {name: f"{value:.6g}" for name, value in self.scores.items() if value}
        return {
            "comment": self.text,
            "scores": str(sorted(scores.items())),
            "hate": "" if self.hate is None else f"{self.hate:.6g}",
        }

    @property
    def digest(self) -> str:
        """Names the comment where its text must not be shown."""
        return digest_of(self.text)[:12]


def share(value: object, where: str) -> float:
    number = finite(value, where)
    if not 0 <= number <= 1:
        raise DataError(
            f"{where}: {number:g} is not between 0 and 1. It is a share of annotators. Fix the row."
        )
    return number


def categories_of(comments: Sequence[Comment]) -> list[str]:
    """Every category that occurs, by name."""
    return sorted(
        {name for comment in comments for name, score in comment.scores.items() if score > 0}
    )


NOTHING: Mapping[str, Any] = {}


def slim(scores: Iterable[Score]) -> list[Score]:
    """What is counted of scores, of which there may be a million: no texts but of answers that name
    no label; readings that are the same are one object."""
    shared: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def reading(answer: Mapping[str, str]) -> Mapping[str, str]:
        dropped = "text" if answer.get("label", UNNAMED) != UNNAMED else ""
        kept = {name: text for name, text in answer.items() if name != dropped}
        return shared.setdefault(tuple(kept.items()), kept)

    parts = ((each.slices, each.skipped, tuple(map(reading, each.answers))) for each in scores)
    return [Score("", at, NOTHING, why, NOTHING, NOTHING, answers) for at, why, answers in parts]


@dataclass(frozen=True)
class Setting:
    """What is shown before the comment, and how much may be answered."""

    name: str
    mixed: bool
    """Whether all categories are asked at once; otherwise one at a time."""
    words: bool
    """Whether the answer is the label's own word; otherwise yes or no."""
    most: int
    """Tokens of an answer as the study had them."""
    stops: tuple[str, ...]
    """Where the study's answers end."""
    printed: str
    """Where the study prints what it found."""

    @property
    def shows(self) -> bool:
        """Whether examples come before the comment."""
        return self not in (ZERO_SHOT, MISSPELLING)

    def max_tokens(self, variant: Variant) -> int:
        return self.most if variant == "paper" else ROOM

    def stop(self, variant: Variant) -> tuple[str, ...]:
        """`sound` stops nowhere: a model that begins with a line break would have said nothing."""
        return self.stops if variant == "paper" else ()


ROOM = 8
"""`sound`: two tokens hold a yes in one vocabulary and half a word in another."""

ZERO_SHOT = Setting("zero-shot", False, False, 2, ("\n",), "Table 1")
ONE_SHOT = Setting("one-shot", False, False, 2, ("\n",), "Table 2")
FEW_SHOT_SINGLE = Setting("few-shot-single", False, True, 4, (".",), "Table 3")
FEW_SHOT_MIXED = Setting("few-shot-mixed", True, True, 4, (".",), "Tables 4 to 6")
MIXED_INSTRUCTION = Setting("few-shot-mixed-instruction", True, True, 4, (".",), "Table 7")
MISSPELLING = Setting("misspelling", False, False, 2, ("\n",), "Tables 22 and 23")
"""Zero-shot at temperature 0, with and without edits."""

FIVE = (ZERO_SHOT, ONE_SHOT, FEW_SHOT_SINGLE, FEW_SHOT_MIXED, MIXED_INSTRUCTION)
SETTINGS: Mapping[str, Setting] = {one.name: one for one in (*FIVE, MISSPELLING)}
STUDY = tuple(one.name for one in FIVE)
"""The five settings of the study."""


def setting_of(name: str) -> Setting:
    if name not in SETTINGS:
        raise UnknownName("setting", name, SETTINGS)
    return SETTINGS[name]
