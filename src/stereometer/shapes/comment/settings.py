"""The five ways of asking, and the test with misspellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stereometer.errors import UnknownName
from stereometer.types import Variant


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

ZERO_SHOT = Setting("zero-shot", False, False, 2, ("\n",))
ONE_SHOT = Setting("one-shot", False, False, 2, ("\n",))
FEW_SHOT_SINGLE = Setting("few-shot-single", False, True, 4, (".",))
FEW_SHOT_MIXED = Setting("few-shot-mixed", True, True, 4, (".",))
MIXED_INSTRUCTION = Setting("few-shot-mixed-instruction", True, True, 4, (".",))
MISSPELLING = Setting("misspelling", False, False, 2, ("\n",))
"""Zero-shot at temperature 0, with and without edits."""

SETTINGS: Mapping[str, Setting] = {
    one.name: one
    for one in (
        ZERO_SHOT,
        ONE_SHOT,
        FEW_SHOT_SINGLE,
        FEW_SHOT_MIXED,
        MIXED_INSTRUCTION,
        MISSPELLING,
    )
}
STUDY = tuple(name for name in SETTINGS if name != "misspelling")
"""The five settings of the study."""


def setting_of(name: str) -> Setting:
    if name not in SETTINGS:
        raise UnknownName("setting", name, SETTINGS)
    return SETTINGS[name]
