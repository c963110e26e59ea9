"""Parts of a run on machines that do not know each other: each keeps its answers in a file, and the
files are merged into the cache.

A part is made of blocks of neighbouring items: the candidates of an item share work, and blocks
from everywhere make parts of equal size.
"""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import read_json, write_json
from stereometer.core.options import verb
from stereometer.core.runs.cache import VERSION, Cache, Stored, checksum_of
from stereometer.core.runs.execute import Engines
from stereometer.core.runs.progress import watch
from stereometer.core.runs.runner import Tally, computed
from stereometer.core.types import Asking, Item, Job, digest_of
from stereometer.core.types.document import Document
from stereometer.core.types.results import Results
from stereometer.core.types.shown import Told

SCHEMA = "shard@1"
HOME = Path("stereometer-shards")
LARGEST_BLOCK = 32
ROWS_AT_ONCE = 2_000
UNBOUNDED = 2**62


@dataclass(frozen=True)
class Part:
    """The `number`th of `of` parts, counted from 1."""

    number: int
    of: int

    @property
    def name(self) -> str:
        return f"shard-{self.number}-of-{self.of}"

    def items(self, items: Sequence[Item]) -> Sequence[Item]:
        """What this part asks about; all parts together ask about every item once."""
        block = max(1, min(LARGEST_BLOCK, len(items) // (4 * self.of)))
        return [item for at, item in enumerate(items) if (at // block) % self.of == self.number - 1]

    def ask(self, jobs: Iterable[Job], out: Path | None, engines: Engines) -> AskedPart:
        """Asks this part of every job; what was answered before is not asked again."""
        shard = Shard((out or HOME) / f"{self.name}.json", self)
        asked, plans = AskedPart(shard), list[dict[str, Any]]()
        with Cache(shard.answers, cap=UNBOUNDED, alone=True) as cache:
            for job in jobs:
                plans.append(dict(job.plan))
                if isinstance(job.source, Asking):
                    asking = replace(job.source, items=self.items(job.source.items))
                    engine = engines(asking.backend)
                    with watch(f"{job.title}, {self.name}") as progress:
                        deque(computed(asking, engine, cache, asked.tally, progress), maxlen=0)
        record = {"schema": SCHEMA, "shard": self.number, "of": self.of, "plans": plans}
        write_json(shard.path, record | {"asked": asdict(asked.tally)})
        return asked


def part_of(text: str) -> Part:
    """`3/16`, as a user writes it."""
    read = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    number, of = map(int, read.groups()) if read else (0, 0)
    if not 1 <= number <= of:
        raise UsageError(
            f"--shard {text} is not a part of a whole. It is K/N, with K from 1 to N. "
            "For instance --shard 3/16."
        )
    return Part(number, of)


@dataclass(frozen=True)
class Shard:
    """What one part left: where its answers are, and to which plans."""

    path: Path
    part: Part
    plans: tuple[dict[str, Any], ...] = ()

    @property
    def answers(self) -> Path:
        return self.path.with_suffix(".sqlite")


class AskedPart(Results):
    """What one part of many gives: no result, but answers for `cache merge`."""

    def __init__(self, shard: Shard) -> None:
        super().__init__()
        self.shard, self.tally = shard, Tally()

    @property
    def remarks(self) -> list[str]:
        part, tally = self.shard.part, self.tally
        return [
            f"Part {part.number} of {part.of}: {tally.items} items, {tally.distinct} requests. "
            f"Stored in {self.shard.answers}. When all parts are there: stereometer cache merge "
            f"{self.shard.path.parent}"
        ]

    def as_json(self) -> dict[str, Any]:
        counts = {name: asdict(self.tally)[name] for name in ("items", "distinct", "from_cache")}
        part = {"shard": self.shard.part.number, "of": self.shard.part.of}
        return {"schema": "asked-shard@1", **part, **counts, "path": str(self.shard.answers)}


@dataclass(frozen=True)
class Merged(Document):
    """What came of merging."""

    shards: int
    of: int
    missing: tuple[int, ...]
    answers: int
    new: int
    damaged: int
    schema: str = "merged@1"

    @property
    def remarks(self) -> list[str]:
        there = f"{self.shards} of {self.of} parts"
        said = [f"{there}, {self.answers} answers, {self.new} of them new."]
        if self.damaged:
            said.append(
                f"{self.damaged} answers were damaged and left out. They will be asked again."
            )
        if self.missing:
            absent = ", ".join(map(str, self.missing))
            said.append(f"Missing: {absent}. What they hold will be asked again.")
        return [*said, "Run the same command without --shard for the results."]


@verb
def merge(*shards: Annotated[str | Path, "Folders or files that `run --shard K/N` wrote."]) -> Told:
    """Take in the answers of the parts of a run, made with --shard."""
    with Cache() as cache:
        merged = merge_into(cache, [Path(shard) for shard in shards])
    return Told(*merged.remarks, **merged.as_json())


def merge_into(cache: Cache, paths: Sequence[Path]) -> Merged:
    """Answers of parts of one run into the cache; nothing is written unless all belong together."""
    shards = [load(file) for path in paths for file in _records(path)]
    _check_together(shards)
    answers = new = damaged = 0
    for shard in shards:
        for rows in _rows(shard):
            sound = [row for row in rows if row[4] == checksum_of(row[0], row[1], row[2])]
            answers += len(sound)
            damaged += len(rows) - len(sound)
            new += cache.add(sound)
    of = shards[0].part.of
    there = {shard.part.number for shard in shards}
    missing = tuple(number for number in range(1, of + 1) if number not in there)
    return Merged(len(there), of, missing, answers, new, damaged)


def _records(path: Path) -> list[Path]:
    if path.is_file():
        return [path.with_suffix(".json")]
    records = sorted(path.glob("shard-*-of-*.json"))
    if records:
        return records
    unfinished = sorted(path.glob("shard-*-of-*.sqlite"))
    if unfinished:
        raise DataError(
            f"{unfinished[0]} is of a part that has not ended. Its record is not there yet. Wait "
            "for it, or run that part again."
        )
    raise DataError(
        f"{path} holds no shards. They are what `run --shard K/N` writes. Check the path."
    )


def load(record: Path) -> Shard:
    value = read_json(record) if record.exists() else None
    try:
        if not isinstance(value, dict) or value["schema"] != SCHEMA:
            raise ValueError("it is not the record of a shard")
        part = part_of(f"{value['shard']}/{value['of']}")
        plans = tuple(dict(plan) for plan in value["plans"])
    except (KeyError, TypeError, ValueError, UsageError):
        raise DataError(
            f"{record} is not the record of a shard. `run --shard K/N` writes one when it is done. "
            "Run that part again."
        ) from None
    shard = Shard(record, part, plans)
    if not shard.answers.exists():
        raise DataError(
            f"{shard.answers} is not there. The answers of a shard stand beside its record. "
            "Copy both."
        )
    return shard


def _check_together(shards: Sequence[Shard]) -> None:
    first = shards[0]
    for other in shards[1:]:
        if other.part.of != first.part.of:
            raise UsageError(
                f"{other.path.name} is one of {other.part.of} parts, {first.path.name} one of "
                f"{first.part.of}. They are parts of different runs. Merge each run by itself."
            )
        if digest_of(other.plans) != digest_of(first.plans):
            raise UsageError(_why_apart(first, other))


def _why_apart(first: Shard, other: Shard) -> str:
    """Which of the plans' facts differ; another model is said to be one."""
    pairs = list(zip(first.plans, other.plans, strict=False))
    changed = sorted({key for a, b in pairs for key in {*a, *b} if a.get(key) != b.get(key)})
    if "identity" in changed:
        names = ", ".join(dict.fromkeys(str(plan.get("model")) for plan in other.plans))
        return (
            f"{other.path} was answered by another model than {first.path} ({names}: weights, "
            "tokenizer or settings differ). Answers of different models do not mix. Merge each "
            "model's shards by themselves."
        )
    what = ", ".join(changed) or f"{len(other.plans)} plans instead of {len(first.plans)}"
    return (
        f"{other.path} does not belong to the same plan as {first.path} ({what}). Parts of a run "
        "have one plan. Run that part again with the same options."
    )


def _rows(shard: Shard) -> Iterator[list[Stored]]:
    try:
        with closing(sqlite3.connect(shard.answers)) as connection:
            connection.text_factory = bytes
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise sqlite3.DatabaseError(f"version {version} instead of {VERSION}")
            rows = connection.execute("SELECT key, layout, numbers, written, checksum FROM answers")
            while batch := rows.fetchmany(ROWS_AT_ONCE):
                yield batch
    except sqlite3.DatabaseError as error:
        raise DataError(
            f"{shard.answers} cannot be read: {error}. It is damaged or of another version. "
            "Run that part again."
        ) from None
