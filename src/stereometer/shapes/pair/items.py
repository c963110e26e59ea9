"""A pair of sentences that differ in the group they are about, and how a table of them is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from stereometer.errors import DataError
from stereometer.files import read_table
from stereometer.types import Slice

DIRECTIONS = ("stereo", "antistereo")


@dataclass(frozen=True)
class Pair:
    """`sent_more` is the more stereotyping sentence, `sent_less` the less stereotyping one."""

    id: str
    sent_more: str
    sent_less: str
    bias_type: str
    direction: str | None = None
    votes: tuple[tuple[str, ...], ...] = ()
    """The bias types each validator named."""
    note: str = ""
    hidden: bool = False
    """Held back: its texts stay out of runs and reports."""

    @property
    def slices(self) -> Slice:
        direction = {"direction": self.direction} if self.direction else {}
        return {"bias_type": self.bias_type, **direction}

    @property
    def texts(self) -> Mapping[str, str]:
        return {"sent_more": self.sent_more, "sent_less": self.sent_less}

    @property
    def unscorable(self) -> str | None:
        if not self.sent_more.strip() or not self.sent_less.strip():
            return "a sentence is empty"
        return "identical sentences" if self.sent_more.split() == self.sent_less.split() else None


Edit = tuple[tuple[str, ...], tuple[str, ...]]
"""Words of the first sentence and what stands in the second instead; either may be empty."""


def edits(first: Sequence[str], second: Sequence[str]) -> list[Edit]:
    """Where two sentences differ, word by word, from the left."""
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return [
        (tuple(first[a:b]), tuple(second[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def read_pairs(path: Path) -> list[Pair]:
    """A table with sent_more, sent_less, bias_type and, where known, stereo_antistereo; ids from `id` or the unnamed first column."""
    pairs: list[Pair] = []
    for line, row in read_table(path, ["sent_more", "sent_less", "bias_type"]):
        number = row.get("id") or row.get("") or str(len(pairs))
        if not row["bias_type"].strip():
            raise DataError(
                f"{path}, line {line}: bias_type is empty. Every pair belongs to one. Repair the row."
            )
        direction = row.get("stereo_antistereo") or None
        if direction not in (None, *DIRECTIONS):
            raise DataError(
                f"{path}, line {line}: stereo_antistereo is {direction!r}. It must be one of {', '.join(DIRECTIONS)} or empty. Repair the row."
            )
        pairs.append(
            Pair(
                number,
                row["sent_more"],
                row["sent_less"],
                row["bias_type"],
                direction,
                read_votes(row.get("annotations", "")),
                row.get("note", ""),
                read_hidden(row, path, line),
            )
        )
    if not pairs:
        raise DataError(
            f"{path} has a header and no rows. There is nothing to measure in it. Check that it is the right file."
        )
    return pairs


def read_votes(text: str) -> tuple[tuple[str, ...], ...]:
    """CrowS-Pairs writes annotations as a Python list of lists of names: five validators, each with some bias types."""
    inner = text.strip().removeprefix("[").removesuffix("]")
    groups = [part.split("]")[0] for part in inner.split("[")[1:]]
    return tuple(
        tuple(name.strip(" '\"") for name in group.split(",") if name.strip(" '\""))
        for group in groups
    )


def read_hidden(row: Mapping[str, Any], path: Path, line: int) -> bool:
    """Whether an item is held back."""
    value = str(row.get("hidden") or "no").lower()
    if value not in ("yes", "no", "true", "false"):
        raise DataError(
            f"{path}, line {line}: hidden is {row.get('hidden')!r}. It must be yes, no or empty. Repair the row."
        )
    return value in ("yes", "true")
