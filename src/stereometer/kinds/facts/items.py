"""Facts: a sentence that is right, and the same with a word that makes it wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from stereometer.core.types import ItemDefaults, Slice

FACT = "fact"


@dataclass(frozen=True)
class Fact(ItemDefaults):
    """A sentence in which an attribute follows from a word, and one that contradicts it."""

    shape: ClassVar[str] = FACT
    id: str
    right: str
    wrong: str
    attribute: str
    kind: str
    """Why it is a fact: `kin`, `role`, `title` ..."""

    @property
    def slices(self) -> Slice:
        return {"attribute": self.attribute, "fact": self.kind}

    @property
    def texts(self) -> Mapping[str, str]:
        return {"right": self.right, "wrong": self.wrong}
