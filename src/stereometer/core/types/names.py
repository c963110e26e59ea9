"""Names of measures and models as values. Only this module takes such names apart."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import Any

from stereometer.core.errors import ModelError

WITHIN_WORD = "within-word"
"""The option of measures that hide tokens one at a time, where it made another number."""
WORDING, NEUTRAL, IN_WORDS, GRADED = "wording-", "neutral", "in-words", "graded"
"""Of measures that put questions: another wording than the first, by its number; a neutral option;
ratings that are read from words, or answers that are read from probabilities."""
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
        worded = [each.removeprefix(WORDING) for each in self.options if each.startswith(WORDING)]
        said = {"within_word": WITHIN_WORD, "neutral": NEUTRAL, "graded": GRADED}
        found = {name: True for name, option in said.items() if option in self.options}
        return found | ({"wording": worded[0]} if worded else {})


SIGN = "+"
SUFFIX = ".safetensors"
"""Of a mitigation's file; no part of what a model with it is called."""


@dataclass(frozen=True)
class ModelName:
    """`SCHEME:PATH`, or `PATH@REVISION`, each perhaps with `+MITIGATION`."""

    path: str
    """A folder, a file, a name of ours or on the hub, or what its scheme reads."""
    scheme: str = ""
    revision: str = ""
    """Of a name on the hub."""
    wrapper: str | None = None
    """What stands after the sign; empty where nothing does."""

    @classmethod
    def parse(cls, text: str, schemes: Collection[str] = ()) -> ModelName:
        """With one of these schemes or none: an opener reads what stands behind its own.

        What is a path itself has no mitigation. Names of files may hold the sign: the longest part
        after one that exists is the mitigation.
        """
        base, wrapper = text, None
        if SIGN in text and not Path(text).exists():
            places = [at for at, sign in enumerate(text) if sign == SIGN]
            there = (at for at in places if text[at + 1 :] and Path(text[at + 1 :]).exists())
            at = next(there, places[-1])
            base, wrapper = text[:at], text[at + 1 :]
        scheme, colon, rest = base.partition(":")
        if colon and scheme in schemes:
            return cls(rest, scheme, wrapper=wrapper)
        name, _, revision = base.partition("@")
        here = Path(base).exists()
        return cls(base, wrapper=wrapper) if here else cls(name, "", revision, wrapper)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.spec}" if self.scheme else self.spec

    @property
    def spec(self) -> str:
        """What the opener of its scheme reads."""
        end = "" if self.wrapper is None else f"{SIGN}{self.wrapper}"
        return f"{self.path}{f'@{self.revision}' if self.revision else ''}{end}"

    @property
    def base(self) -> ModelName:
        """The model without its mitigation."""
        return replace(self, wrapper=None)

    @property
    def mitigation(self) -> Path | None:
        return None if self.wrapper is None else Path(self.wrapper)

    @property
    def foreign(self) -> tuple[str, str]:
        """A scheme that is none of ours, and the rest: as other tools name a server's model."""
        scheme, colon, rest = self.spec.partition(":")
        is_scheme = colon and len(scheme) > 1 and "/" not in scheme  # one letter is a drive
        return (scheme, rest) if is_scheme else ("", self.spec)

    def checked(self) -> ModelName:
        """Raises where the mitigation is missing, or stands alone."""
        if self.mitigation is None:
            return self
        base = self.base
        if not str(base):
            raise ModelError(
                f"{self} names a mitigation and no model. A mitigation changes a model. Write the "
                "model before the sign: MODEL+FILE."
            )
        if not self.mitigation.name:
            raise ModelError(
                f"{self} names no mitigation after the +. Without one, the numbers would be those "
                "of the unchanged model. Write MODEL+FILE."
            )
        if not self.mitigation.exists():
            raise ModelError(
                f"The mitigation '{self.mitigation}' of {base} does not exist. Without it, the "
                "numbers would be those of the unchanged model. Check the path after the +."
            )
        return self


def name_of(spec: str, shown: int | None = 1) -> str:
    """The last parts of a path, or all of them; what is no path here is called as it is written."""
    if not Path(spec).exists():
        return spec
    whole = PureWindowsPath(os.path.abspath(spec))  # knows the separators of every system
    parts = [part for part in whole.parts if part != whole.anchor]
    return "/".join(parts[-(shown or 0) :]) or spec


def shown(address: str) -> str:
    """An address as far as it may be shown: without what may hold a password or a key."""
    return "The address given" if "@" in address or "?" in address else f"'{address[:100]}'"
