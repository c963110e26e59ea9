"""How questions are worded: several ways a task, kept as data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from stereometer.core.asking.conversation import filled_in, packaged
from stereometer.core.errors import UnknownName
from stereometer.core.types.names import GRADED, WORDING

OURS = "stereometer.core.asking"
FIRST = "1"
"""The wording that is meant where none is named."""
NEUTRAL_LINE = "{neutral}"
LABEL = re.compile(r"^[^.:]+[.:]\s+")
"""What stands before the words of an option."""


def named(wording: str, graded: bool = False) -> tuple[str, ...]:
    """How the name of a measure says that it was put or read otherwise, which are other numbers."""
    worded = () if wording == FIRST else (f"{WORDING}{wording}",)
    return (*worded, GRADED) if graded else worded


@dataclass(frozen=True)
class Wording:
    """One way to put the question of a task."""

    id: str
    text: str
    """With slots for what is asked about."""
    options: tuple[str, ...] = ()
    """What a model is to answer with; where there is a neutral option, that is the last."""
    neutral: str = ""
    """The line that offers the neutral option."""

    @property
    def without_label(self) -> str:
        """What the neutral option says."""
        return LABEL.sub("", self.neutral)

    def offered(self, neutral: bool = False) -> tuple[str, ...]:
        """The options, with the neutral one or without it."""
        return self.options[:-1] if self.neutral and not neutral else self.options

    def template(self, neutral: bool = False) -> str:
        """The text with its slots, as it is put with a neutral option or without one."""
        lines = self.text.split("\n")
        kept = [line for line in lines if neutral or line != NEUTRAL_LINE]
        *others, last = self.offered(neutral)
        slots = {"neutral": self.neutral, "letters": f"{', '.join(others)} or {last}"}
        return filled_in("\n".join(kept), slots)

    def question(self, slots: Mapping[str, str], neutral: bool = False) -> str:
        return filled_in(self.template(neutral), slots)


@cache
def wordings(task: str, package: str = OURS) -> tuple[Wording, ...]:
    """Every wording of a task, which lies in a package."""
    rows = tomllib.loads(packaged(package, "wordings.toml"))[task]
    return tuple(Wording(**{**row, "options": tuple(row.get("options", ()))}) for row in rows)


def wording(task: str, name: str, package: str = OURS) -> Wording:
    known = {each.id: each for each in wordings(task, package)}
    if name not in known:
        raise UnknownName("wording", name, known, "They are listed in docs/howto/forced-choice.md.")
    return known[name]
