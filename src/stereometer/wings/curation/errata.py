"""A list of corrections that people keep by hand: TOML, with a version, so that a number can name
what it rests on. docs/howto/audit.md shows one.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataError
from stereometer.core.files import read_text
from stereometer.core.shapes.sentences import SentenceItem, unique
from stereometer.wings.curation.runs import curated_shapes

SCHEMA = "errata@1"
Action = Literal["drop", "keep", "correct"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Erratum(_Strict):
    """What a person says of one item."""

    id: str
    action: Action
    reason: str = Field(pattern=r"\S")
    texts: dict[str, str] = {}

    @model_validator(mode="after")
    def _texts_are_corrections(self) -> Self:
        if (self.action == "correct") != bool(self.texts):
            raise ValueError("texts go with `correct`, and with nothing else")
        return self


class Errata(_Strict):
    schema_: Literal["errata@1"] = Field(alias="schema")
    benchmark: str
    version: str
    digest: str = ""
    note: str = ""
    item: list[Erratum] = []

    def ids(self, action: str) -> set[str]:
        return {entry.id for entry in self.item if entry.action == action}


def read_errata(path: Path) -> Errata:
    try:
        errata = Errata.model_validate(tomllib.loads(read_text(path)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(
            f"{path} is not valid TOML: {error}. An errata file must be. See docs/howto/audit.md."
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{path}: {where}: {first['msg']}. The file does not follow {SCHEMA}. See "
            "docs/howto/audit.md."
        ) from None
    unique((entry.id for entry in errata.item), f"{path}: item")
    return errata


def check_against(errata: Errata, benchmark: Benchmark, path: Path) -> None:
    """The errata are of this benchmark, of this version of it, and of items that it has."""
    if errata.benchmark != benchmark.name:
        raise DataError(
            f"{path} is for {errata.benchmark}, not for {benchmark.name}. The same id would mean "
            "another item. Use it with its own benchmark."
        )
    if not benchmark.digest.startswith(errata.digest):
        raise DataError(
            f"{path} was made for content {errata.digest[:12]}, these items have "
            f"{benchmark.digest[:12]}. They may have been repaired since. Check the entries and "
            "update `digest`."
        )
    shapes = curated_shapes(benchmark)
    known = {item.id for shape in shapes for item in benchmark.items(shape.name)}
    foreign = [entry.id for entry in errata.item if entry.id not in known]
    if foreign:
        raise DataError(
            f"{path} names {foreign[0]!r}, which {benchmark.name} does not have. Entries are "
            "joined by id. Fix or leave it out."
        )


def corrected(items: Sequence[SentenceItem], errata: Errata) -> list[SentenceItem]:
    texts = {entry.id: entry.texts for entry in errata.item if entry.action == "correct"}
    for item in items:
        foreign = [name for name in texts.get(item.id, ()) if name not in item.texts]
        if foreign:
            raise DataError(
                f"The errata correct {foreign[0]!r} of {item.id}. Its texts are "
                f"{', '.join(item.texts)}. Fix the entry."
            )
    return [item.corrected(texts[item.id]) if item.id in texts else item for item in items]
