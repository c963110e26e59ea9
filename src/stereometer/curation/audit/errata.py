"""A list of corrections that people keep by hand: TOML, with a version, so that a number can name what it rests on.

schema = "errata@1"
benchmark = "starter"
version = "2026-11-16"
digest = "e82b07aa8b97"      # optional: the start of the content digest it was made for

[[item]]
id = "starter-intra-001"
action = "drop"              # or "keep" (flags do not count), or "correct" (with texts)
reason = "Not about librarians."
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from stereometer.benchmarks.benchmark import Benchmark
from stereometer.benchmarks.stereoset import BLANK, Cat
from stereometer.curation.analyze.items import Kind
from stereometer.errors import DataError
from stereometer.files import read_text
from stereometer.shapes.pair.items import Pair

SCHEMA = "errata@1"
ACTIONS = ("drop", "keep", "correct")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Erratum(_Strict):
    """What a person says of one item."""

    id: str
    action: str
    reason: str
    texts: dict[str, str] = {}


class Errata(_Strict):
    schema_: str
    benchmark: str
    version: str
    digest: str = ""
    note: str = ""
    item: list[Erratum] = []

    def ids(self, action: str) -> set[str]:
        return {one.id for one in self.item if one.action == action}


def read_errata(path: Path) -> Errata:
    try:
        value: dict[str, Any] = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(
            f"{path} is not valid TOML: {error}. An errata file is. See docs/hygiene.md."
        ) from None
    if value.get("schema") != SCHEMA:
        raise DataError(
            f"{path} has the schema {value.get('schema')!r}. An errata file says {SCHEMA!r}. See docs/hygiene.md."
        )
    try:
        found = Errata.model_validate(
            {"schema_" if key == "schema" else key: one for key, one in value.items()}
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: {where}: {first['msg']}. The file does not follow {SCHEMA}. See docs/hygiene.md."
        ) from None
    _sensible(found, path)
    return found


def _sensible(found: Errata, path: Path) -> None:
    seen: set[str] = set()
    for one in found.item:
        if one.action not in ACTIONS:
            raise DataError(
                f"{path}: {one.id} has the action {one.action!r}. There are {', '.join(ACTIONS)}. Repair the entry."
            )
        if (one.action == "correct") != bool(one.texts):
            raise DataError(
                f"{path}: {one.id} is to {one.action}. Texts go with `correct` and with nothing else. Repair the entry."
            )
        if not one.reason.strip() or one.id in seen:
            raise DataError(
                f"{path}: {one.id} has no reason or stands twice. Every entry has one, and every item one entry. Repair it."
            )
        seen.add(one.id)


def check_against(found: Errata, benchmark: Benchmark, path: Path) -> None:
    """The errata are of this benchmark, of this version of it, and of items that it has."""
    if found.benchmark != benchmark.name:
        raise DataError(
            f"{path} is for {found.benchmark}, not for {benchmark.name}. Ids would not mean the same. Name its own benchmark."
        )
    if not benchmark.digest.startswith(found.digest):
        raise DataError(
            f"{path} was made for content {found.digest[:12]}, these items have {benchmark.digest[:12]}. They may have been repaired since. Check the entries and update `digest`."
        )
    known = {item.id for shape in benchmark.sentence_shapes() for item in benchmark.items(shape)}
    foreign = [one.id for one in found.item if one.id not in known]
    if foreign:
        raise DataError(
            f"{path} names {foreign[0]!r}, which {benchmark.name} does not have. Entries are joined by id. Repair or leave it out."
        )


def corrected(items: Sequence[Kind], found: Errata) -> list[Kind]:
    texts = {one.id: one.texts for one in found.item if one.action == "correct"}
    return [_corrected(item, texts[item.id]) if item.id in texts else item for item in items]


def _corrected(item: Kind, texts: Mapping[str, str]) -> Kind:
    foreign = [name for name in texts if name not in item.texts]
    if foreign:
        raise DataError(
            f"The errata correct {foreign[0]!r} of {item.id}. Its texts are {', '.join(item.texts)}. Repair the entry."
        )
    if isinstance(item, Pair):
        return replace(item, **dict(texts))  # type: ignore[arg-type]
    return _corrected_cat(item, texts)


def _corrected_cat(item: Cat, texts: Mapping[str, str]) -> Cat:
    """Candidates of an intrasentence item that are not corrected themselves are the corrected context with their fillers."""
    given = {
        label: replace(one, text=texts.get(label, one.text))
        for label, one in item.candidates.items()
    }
    found = replace(item, context=texts.get("context", item.context), candidates=given)
    if item.task != "intrasentence":
        return found
    if "context" in texts:
        refilled = {
            label: one
            if label in texts
            else replace(one, text=_refilled(item, label, found.context))
            for label, one in given.items()
        }
        found = replace(found, candidates=refilled)
    for label in texts:
        if label != "context" and found.filler(label) is None:
            raise DataError(
                f"The errata correct {label!r} of {item.id} to a text that is not its context with BLANK replaced. An intrasentence candidate is. Give the whole sentence, or correct the context too."
            )
    return found


def _refilled(item: Cat, label: str, context: str) -> str:
    filler = item.filler(label)
    if BLANK not in context or filler is None:
        why = (
            f"it has no {BLANK}"
            if BLANK not in context
            else f"what filled the blank of {label!r} cannot be told"
        )
        raise DataError(
            f"The errata correct the context of {item.id}, and {why}. Its candidates are to be filled in anew. Repair the entry."
        )
    return context.replace(BLANK, filler)
