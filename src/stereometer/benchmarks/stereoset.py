"""StereoSet (Nadeem, Bethke, Reddy 2021): context association tests within and across sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from stereometer.benchmarks.benchmark import CAT_MEASURES, Shapes, Source
from stereometer.errors import DataError
from stereometer.files import read_json
from stereometer.shapes.pair.items import Pair
from stereometer.types import Slice

LABELS = ("stereotype", "anti-stereotype", "unrelated")
TASKS = ("intrasentence", "intersentence")
BLANK = "BLANK"


@dataclass(frozen=True)
class Candidate:
    """One way to go on: the sentence, and who among the validators called it what."""

    id: str
    text: str
    votes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cat:
    """A context about a target term and its three candidates."""

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
    def texts(self) -> Mapping[str, str]:
        return {"context": self.context} | {
            label: one.text for label, one in self.candidates.items()
        }

    @property
    def unscorable(self) -> str | None:
        missing = [label for label in LABELS if label not in self.candidates]
        if missing:
            return f"no {missing[0]} candidate"
        return None if all(text.strip() for text in self.texts.values()) else "a text is empty"

    @cached_property
    def _frame(self) -> re.Pattern[str]:
        first, *rest = map(re.escape, self.context.split(BLANK))
        again = "".join("(?P=filler)" + part for part in rest[1:])
        return re.compile(f"{first}(?P<filler>.+){rest[0]}{again}", re.IGNORECASE | re.DOTALL)

    def filler(self, label: str) -> str | None:
        """What stands in the blank of an intrasentence candidate; None where the sentence is not the context filled."""
        if BLANK not in self.context:
            return None
        found = self._frame.fullmatch(self.candidates[label].text)
        return found["filler"] if found else None

    def as_pair(self) -> Pair:
        """The stereotype against the anti-stereotype, as the CrowS-Pairs authors compared their measure on StereoSet."""
        return Pair(
            self.id,
            self.texts.get("stereotype", ""),
            self.texts.get("anti-stereotype", ""),
            self.domain,
        )


class _Label(BaseModel):
    label: str


class _Sentence(BaseModel):
    id: str
    sentence: str
    gold_label: str
    labels: list[_Label] = []


class _Item(BaseModel):
    id: str
    target: str
    bias_type: str
    context: str
    sentences: list[_Sentence]
    note: str = ""
    hidden: bool = False


class _File(BaseModel):
    data: dict[str, list[_Item]]


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """dev.json as released, plain or .gz, with one task or both."""
    (path,) = files
    cats = read_cats(path)
    notes = [
        f"The file has no {task} items."
        for task in TASKS
        if not any(cat.task == task for cat in cats)
    ]
    return {
        "cat": cats,
        "pair": [cat.as_pair() for cat in cats if cat.task == "intrasentence"],
    }, notes


def read_cats(path: Path) -> list[Cat]:
    try:
        parsed = _File.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "top level"
        raise DataError(
            f"{path} is not a StereoSet file: {where}: {first['msg']}. It should look like dev.json. Check that it is the right file."
        ) from None
    foreign = sorted(set(parsed.data) - set(TASKS))
    if foreign or not parsed.data:
        raise DataError(
            f"{path} has the task(s) {', '.join(foreign) or 'none'}. StereoSet has {' and '.join(TASKS)}. Check that it is the right file."
        )
    cats = [_cat(item, task, path) for task in TASKS for item in parsed.data.get(task, [])]
    if not cats:
        raise DataError(
            f"{path} has no items. There is nothing to measure in it. Check that it is the right file."
        )
    unique((cat.id for cat in cats), f"{path}: item")
    unique((one.id for cat in cats for one in cat.candidates.values()), f"{path}: sentence")
    return cats


def _cat(item: _Item, task: str, path: Path) -> Cat:
    candidates = {
        one.gold_label: Candidate(one.id, one.sentence, tuple(vote.label for vote in one.labels))
        for one in item.sentences
    }
    if len(candidates) != len(item.sentences) or not set(candidates) <= set(LABELS):
        found = ", ".join(one.gold_label for one in item.sentences)
        raise DataError(
            f"{path}: item {item.id} has the gold labels {found}. Each of {', '.join(LABELS)} may stand once. Repair the item."
        )
    ordered = {label: candidates[label] for label in LABELS if label in candidates}
    return Cat(
        item.id, task, item.target, item.bias_type, item.context, ordered, item.note, item.hidden
    )


def unique(ids: Iterable[str], what: str) -> None:
    """Raises where an id stands twice: a join by id would silently take one of the two."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise DataError(
                f"{what} id {one!r} stands twice. Scores are joined by id. Give every one its own."
            )
        seen.add(one)


# ---------------------------------------------------------------------------------------- statistics


def statistics(cats: Sequence[Cat]) -> list[dict[str, Any]]:
    """The rows of the paper's Table 1, with annotator agreement: by task and domain, by task, and overall."""
    domains = sorted({cat.domain for cat in cats})
    rows = []
    for task in [task for task in TASKS if any(cat.task == task for cat in cats)]:
        of_task = [cat for cat in cats if cat.task == task]
        rows += [
            _row(task, domain, [cat for cat in of_task if cat.domain == domain])
            for domain in domains
        ]
        rows.append(_row(task, "all", of_task))
    return [*rows, _row("both", "all", cats)]


def _row(task: str, domain: str, cats: Sequence[Cat]) -> dict[str, Any]:
    lengths = [words(cat, label) for cat in cats for label in cat.candidates]
    agreement = [
        share
        for cat in cats
        for label in cat.candidates
        if (share := agreement_of(cat, label)) is not None
    ]
    return {
        "task": task,
        "domain": domain,
        "terms": len({cat.target for cat in cats}),
        "items": len(cats),
        "words": sum(lengths) / len(lengths) if lengths else None,
        "agreement": sum(agreement) / len(agreement) if agreement else None,
    }


def term_agreement(cats: Sequence[Cat]) -> list[dict[str, Any]]:
    """Agreement for each target term (the paper's Table 10), lowest first; nothing where no votes are known."""
    shares: dict[tuple[str, str], list[float]] = {}
    for cat in cats:
        found = [
            share for label in cat.candidates if (share := agreement_of(cat, label)) is not None
        ]
        shares.setdefault((cat.domain, cat.target), []).extend(found)
    rows = [
        {
            "domain": domain,
            "target": target,
            "sentences": len(found),
            "agreement": sum(found) / len(found),
        }
        for (domain, target), found in shares.items()
        if found
    ]
    return sorted(rows, key=lambda row: (row["agreement"], row["target"]))


def words(cat: Cat, label: str) -> int:
    """Words a reader sees: the filled sentence, or the context and the continuation."""
    sentence = len(cat.candidates[label].text.split())
    return sentence if cat.task == "intrasentence" else sentence + len(cat.context.split())


def agreement_of(cat: Cat, label: str) -> float | None:
    """The share of validators who gave the gold label."""
    votes = cat.candidates[label].votes
    return votes.count(label) / len(votes) if votes else None


SOURCE = Source("stereoset", read, {"cat": CAT_MEASURES})
