"""A context association test: a context about a target term and its three candidates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from stereometer.core.errors import DataError
from stereometer.core.shapes.sentences import words_of
from stereometer.core.types import ItemDefaults, Slice

LABELS = ("stereotype", "anti-stereotype", "unrelated")
TASKS = ("intrasentence", "intersentence")
BLANK = "BLANK"
OPENING = "\"'“‘([$£€"
"""What may stand between an article and the word it goes with."""
ARTICLE = re.compile(rf"(?<!\w)(an?)\s+[{re.escape(OPENING)}]*{BLANK}", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A sentence that fills or follows the context, and the labels its validators gave it."""

    id: str
    text: str
    votes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cat(ItemDefaults):
    """A context about a target term and its three candidates."""

    shape: ClassVar[str] = "cat"
    id: str
    task: str
    target: str
    domain: str
    context: str
    candidates: Mapping[str, Candidate]
    note: str = ""
    hidden: bool = False
    """Held back: its texts stay out of runs and reports."""

    @property
    def slices(self) -> Slice:
        return {"task": self.task, "domain": self.domain, "target": self.target}

    @property
    def sentences(self) -> dict[str, str]:
        return {label: candidate.text for label, candidate in self.candidates.items()}

    @property
    def texts(self) -> Mapping[str, str]:
        return {"context": self.context} | self.sentences

    @property
    def unscorable(self) -> str | None:
        missing = [label for label in LABELS if label not in self.candidates]
        if missing:
            return f"no {missing[0]} candidate"
        return None if all(text.strip() for text in self.texts.values()) else "a text is empty"

    # ------------------------------------------------------------------------------------- fillers

    @cached_property
    def _frame(self) -> re.Pattern[str]:
        first, *rest = map(re.escape, self.context.split(BLANK))
        again = "".join("(?P=filler)" + part for part in rest[1:])
        return re.compile(f"{first}(?P<filler>.+){rest[0]}{again}", re.IGNORECASE | re.DOTALL)

    def filler(self, label: str) -> str | None:
        """What an intrasentence candidate puts in the blank; None where it is not the context."""
        if BLANK not in self.context:
            return None
        match = self._frame.fullmatch(self.candidates[label].text)
        return match["filler"] if match else None

    @property
    def fillers(self) -> list[str]:
        return [filler for label in self.candidates if (filler := self.filler(label))]

    # ------------------------------------------------------------------------- what curation asks

    @property
    def term(self) -> str:
        return self.target

    @property
    def candidate_ids(self) -> Mapping[str, Sequence[str]]:
        """A sentence has an id of its own; a file of scores may also name item and candidate."""
        return {
            label: (candidate.id, f"{self.id}:{label}")
            for label, candidate in self.candidates.items()
        }

    @property
    def varied(self) -> Mapping[str, str]:
        if self.task != "intrasentence":
            return self.sentences
        return {label: self.filler(label) or "" for label in self.candidates}

    @property
    def written(self) -> Iterator[str]:
        """The context once, and what stereotype and anti-stereotype add to it."""
        yield from words_of(self.context.replace(BLANK, " "))
        for label in LABELS[:2]:
            yield from words_of(self.varied.get(label, ""))

    @property
    def about(self) -> Sequence[str]:
        return words_of(self.target)

    @property
    def instead(self) -> Sequence[str]:
        return ()

    @property
    def articles(self) -> Iterator[tuple[str, str]]:
        match = ARTICLE.search(self.context) if self.task == "intrasentence" else None
        if match is not None:
            yield from ((match[1], filler) for filler in self.fillers)

    @property
    def labels(self) -> Sequence[Sequence[str]]:
        return [candidate.votes for candidate in self.candidates.values()]

    @property
    def own_votes(self) -> tuple[int, int] | None:
        if not self.candidates or not all(self.labels):
            return None
        return min(
            (candidate.votes.count(label), len(candidate.votes))
            for label, candidate in self.candidates.items()
        )

    def corrected(self, texts: Mapping[str, str]) -> Cat:
        """Intrasentence candidates without a text of their own fill the corrected context."""
        context = texts.get("context", self.context)
        refill = self.task == "intrasentence" and "context" in texts
        candidates = {}
        for label, candidate in self.candidates.items():
            text = candidate.text
            if label in texts:
                text = texts[label]
            elif refill:
                text = self._refilled(label, context)
            candidates[label] = replace(candidate, text=text)
        item = replace(self, context=context, candidates=candidates)
        for label in texts:
            if label in candidates and self.task == "intrasentence" and item.filler(label) is None:
                raise DataError(
                    f"The errata correct {label!r} of {self.id} to a text that is not its context "
                    "with BLANK replaced. An intrasentence candidate is. Give the whole sentence, "
                    "or correct the context too."
                )
        return item

    def _refilled(self, label: str, context: str) -> str:
        filler, reason = self.filler(label), ""
        if BLANK not in context:
            reason = f"it has no {BLANK}"
        elif filler is None:
            reason = f"what filled the blank of {label!r} is not clear"
        if filler is None or reason:
            raise DataError(
                f"The errata correct the context of {self.id}, and {reason}. Its candidates must "
                "be filled in again. Fix the entry."
            )
        return context.replace(BLANK, filler)


def words(cat: Cat, label: str) -> int:
    """Words a reader sees: the filled sentence, or the context and the continuation."""
    sentence = len(cat.candidates[label].text.split())
    return sentence if cat.task == "intrasentence" else sentence + len(cat.context.split())


def agreement_of(cat: Cat, label: str) -> float | None:
    """The share of validators who gave the gold label."""
    votes = cat.candidates[label].votes
    return votes.count(label) / len(votes) if votes else None
