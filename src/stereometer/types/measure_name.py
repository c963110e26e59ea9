"""A measure's name as a value. Only this module takes such a name apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

WITHIN_WORD = "within-word"
"""The option of measures that hide tokens one at a time, where it made another number."""
AFTER_FIRST = "after-first-token"
"""Where the first token of a text has no number: that is another sum."""


@dataclass(frozen=True)
class MeasureName:
    """`cat-likelihood@1+within-word`: a method, its version, and what makes it another number."""

    name: str
    """The method."""
    version: str = ""
    options: tuple[str, ...] = ()
    """What was chosen or lacked, and what was made of the scores since (`intersection@1`)."""

    @classmethod
    def parse(cls, text: str) -> MeasureName:
        head, *options = text.split("+")
        name, _, version = head.partition("@")
        return cls(name, version, tuple(options))

    def __str__(self) -> str:
        return "+".join(
            (f"{self.name}@{self.version}" if self.version else self.name, *self.options)
        )

    def plus(self, *options: str) -> MeasureName:
        return replace(self, options=(*self.options, *options))

    @property
    def unversioned(self) -> str:
        """With its options, and no version of anything."""
        return "+".join((self.name, *(option.partition("@")[0] for option in self.options)))

    @property
    def known_as(self) -> str:
        """As bars and tables of published values name it: the method, with what it lacks."""
        return f"{self.name}+{AFTER_FIRST}" if AFTER_FIRST in self.options else self.name

    @property
    def settings(self) -> dict[str, Any]:
        """The options of the method that the name tells of."""
        return {"within_word": True} if WITHIN_WORD in self.options else {}
