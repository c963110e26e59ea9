"""People's ratings of groups on traits, and the scale they answered on.

JSON: {"participant": {"group": {"trait": number}}}. Table or JSONL: participant, group, trait,
rating; or one row per participant and one column per question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import finite, parse_json, read_json, read_text
from stereometer.core.runs.store import SCORES, run_folder
from stereometer.core.runs.stored import run_of
from stereometer.core.shapes.sentences import plain_name
from stereometer.core.stats.agreement import polarised
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import StudentMean
from stereometer.core.tables import PLAIN, Layout, read_rows
from stereometer.core.types import digest_of
from stereometer.kinds.traits.align.names import PERSON, UNWANTED, Names, Row, wide_rows
from stereometer.kinds.traits.shape import SurveyShape

BOUNDS = re.compile(r"\s*(-?[\d.]*\d)\s*(?:-|–|to)\s*(-?[\d.]*\d)\s*")
MISSING = ("", "NA", "N/A", ".", "-99")
"""What survey and statistics programs write for an answer that was not given."""
SHORT = 10.0
"""Ratings from 0 to 100 that never go beyond this were given on another scale."""


@dataclass(frozen=True)
class AnswerScale:
    """From the answer at the left pole to the one at the right, in equal steps."""

    low: float = 0.0
    high: float = 100.0
    labels: tuple[str, ...] = ()
    """Answers in words, which count from 1."""

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def answer(self, value: object, where: str) -> float | None:
        """The number that was given, or None."""
        text = "" if value is None else str(value).strip()
        if text in MISSING:
            return None
        if plain_name(text) in self.labels:
            return self.labels.index(plain_name(text)) + 1.0
        number = finite(
            value,
            where,
            f"Ratings are from {self}. Export numbers instead of the texts of answers, or give all "
            "answers in their order: --scale 'strongly disagree,...,strongly agree'.",
        )
        if not min(self.low, self.high) <= number <= max(self.low, self.high):
            raise DataError(
                f"{where}: a rating of {number:g}. Ratings are from {self}. Fix that cell, empty "
                "it if the answer is missing, or give the right scale with --scale."
            )
        return number

    def percent(self, number: float) -> float:
        """0 at the left pole, 100 at the right one."""
        return (number - self.low) * (100 / (self.high - self.low))

    def note(self, least: float, most: float, file: object) -> str:
        """How answers became 0 to 100; refuses those that cannot be meant as such."""
        if self == AnswerScale() and most <= SHORT:
            raise DataError(
                f"{file}: no rating is above {most:g}. Ratings are from 0 to 100, and 50 is the "
                f"middle. If people answered on another scale, say so: --scale 1-{most:g}."
            )
        if self == AnswerScale():
            return ""
        used = {least, most} == {self.low, self.high}
        unused = "" if used else f" No answer is below {least:g} or above {most:g}."
        ends = f"{self.low:g} is 0, {(self.low + self.high) / 2:g} is 50, {self.high:g} is 100"
        return f"Ratings from {self} became 0 to 100: {ends}.{unused}"


def scale_of(text: str) -> AnswerScale:
    """From `1-7`, or from all answers in words with commas between them."""
    labels = tuple(map(plain_name, text.split(",")))
    if (bounds := BOUNDS.fullmatch(text)) and bounds[1] != bounds[2]:
        return AnswerScale(float(bounds[1]), float(bounds[2]))
    if bounds or len(labels) < 2 or len(set(labels)) < len(labels):
        raise UsageError(
            f"--scale {text} is not a scale. It is the lowest and the highest answer, or all "
            "answers in words, in their order. Write, for example, 1-7."
        )
    return AnswerScale(1.0, float(len(labels)), labels)


COLUMNS = ("participant", "group", "trait", "rating")
MIDDLE = 50.0
RELEASED = "b531611cf2bf4c22df047286d0831e7d5756108c12c3cc10d35ba7f8816a7514"
"""The ratings that the published means are of (Cao et al. 2022), by their content."""
RENAME = "Name yours with --column, such as --column group=NAME."


@dataclass(frozen=True)
class RatingsFormat:
    """How a file of ratings is written."""

    layout: Layout = PLAIN
    scale: AnswerScale = field(default_factory=AnswerScale)
    questions: Path | None = None
    """A table of what the columns of a wide file ask."""

    def __post_init__(self) -> None:
        self.layout.check(COLUMNS, "A table of ratings")


AS_IT_IS = RatingsFormat()


@dataclass(frozen=True)
class Mean:
    """What raters say of a group on a trait."""

    value: float
    low: float
    high: float
    raters: int
    spread: float
    """Standard deviation."""
    polarised: bool
    """Whether answers lie at both ends, more than one peak allows."""

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out the middle of the scale; that all raters said the same
        proves nothing."""
        return self.spread > 0 and not self.low <= MIDDLE <= self.high


@dataclass(frozen=True)
class Ratings:
    """One table raters x traits per group, NaN where a rater gave none."""

    traits: tuple[str, ...]
    tables: Mapping[str, Floats]
    raters: Mapping[str, tuple[str, ...]]
    """Who gave each row of a table: most people rate several groups."""
    notes: tuple[str, ...] = ()
    digest: str = ""
    """Of all answers and notes."""
    are_released: bool = False
    """Whether they are those that the published means are of."""

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(self.tables)

    def means(self, level: float = 0.95) -> dict[tuple[str, str], Mean]:
        """Of every rated cell; a Mean says whether answers are polarised, too."""
        means = {}
        for group, table in self.tables.items():
            for trait, column in zip(self.traits, table.T, strict=True):
                rated = column[~np.isnan(column)]
                low, high = StudentMean.of(rated).interval(level)
                value, spread = float(rated.mean()), float(rated.std(ddof=1))
                means[group, trait] = Mean(value, low, high, rated.size, spread, polarised(rated))
        return means

    def of(self, groups: Iterable[str]) -> Ratings:
        return self.rows({group: range(len(self.raters[group])) for group in groups})

    def rows(self, kept: Mapping[str, Sequence[int] | Ints]) -> Ratings:
        """Some groups, and of each some of its raters."""
        raters = {
            group: tuple(self.raters[group][at] for at in places) for group, places in kept.items()
        }
        tables = {group: self.tables[group][places] for group, places in kept.items()}
        return replace(self, tables=tables, raters=raters)


Rated = dict[str, dict[str, dict[str, float]]]
"""By group, participant and trait."""


def read_ratings(path: Path, names: Names, reading: RatingsFormat = AS_IT_IS) -> Ratings:
    """Ratings under the names that runs use, from 0 to 100."""
    rated: Rated = {}
    again, turned, scale = 0, 0, reading.scale
    answers: list[tuple[str, str, str, float]] = []
    rows, notes, are_released = _rows(path, names, reading)
    for where, participant, group, trait, value in rows:
        answer = scale.answer(value, where)
        if answer is None:
            continue
        answers.append((participant, group, trait, answer))
        cells = rated.setdefault(names.group(group, where), {}).setdefault(participant, {})
        name, other_way = names.trait(trait, where)
        rating = scale.percent(answer)
        again += name in cells
        turned += other_way
        cells.setdefault(name, 100 - rating if other_way else rating)
    if not rated:
        raise DataError(
            f"{path} holds no ratings. There is nothing to compare with. "
            f"{' '.join(notes)} Check that it is the right file."
        )
    given = [answer for *_, answer in answers]
    spread = scale.note(min(given), max(given), path)
    tables = _tables(path, rated)
    twice = (
        f"{again} ratings are of a group and trait that the same person had rated before, as the "
        "survey's repeated page is; the first counts."
    )
    poles = (
        f"{turned} ratings are on scales whose poles the file names the other way round; they were "
        "turned (100 - rating)."
    )
    told = ((spread, spread), (again, twice), (turned, poles))
    said = (*notes, *tables.notes, *(note for some, note in told if some))
    digest = digest_of([said, answers])
    return replace(tables, notes=said, digest=digest, are_released=are_released)


def _tables(path: Path, rated: Rated) -> Ratings:
    people = [cells for raters in rated.values() for cells in raters.values()]
    traits, tables = tuple(dict.fromkeys(chain.from_iterable(people))), {}
    for group, raters in rated.items():
        rows = [[cells.get(trait, np.nan) for trait in traits] for cells in raters.values()]
        tables[group] = np.array(rows)
        counts = np.count_nonzero(~np.isnan(tables[group]), axis=0)
        for trait, count in zip(traits, counts, strict=True):
            if count < 2:
                who = "one person" if count else "nobody"
                raise DataError(
                    f"{path}: {group!r} is rated on {trait!r} by {who}. "
                    "An interval needs two people. Leave the group or trait out, or add ratings."
                )
    missing = sum(int(np.isnan(table).sum()) for table in tables.values())
    gone = "1 rating is" if missing == 1 else f"{missing:,} ratings are"
    gaps = (f"{gone} missing from the file.",) if missing else ()
    return Ratings(traits, tables, {group: tuple(rows) for group, rows in rated.items()}, gaps)


def _rows(
    path: Path, names: Names, reading: RatingsFormat
) -> tuple[Iterable[Row], Sequence[str], bool]:
    """The ratings one by one, notes on how they were found, and whether they are the released
    ones."""
    is_json = path.name.removesuffix(".gz").endswith(".json")
    if is_json or path.name == SCORES:
        if reading.layout != PLAIN or reading.questions:
            raise UsageError(
                f"{path} has no columns. --column, --encoding and --questions are for tables of "
                "ratings. Leave them out."
            )
        if not is_json:
            return _of_model(path), (), False
        text = read_text(path)
        is_released = sha256(text.encode()).hexdigest() == RELEASED
        return _nested(path, text), (), is_released
    table = list(read_rows(path, (), "", reading.layout, (*COLUMNS, PERSON, *UNWANTED)))
    if not table or "rating" in table[0][1]:
        if not table or not set(COLUMNS) <= table[0][1].keys():  # which says what is missing
            table = list(read_rows(path, COLUMNS, RENAME, reading.layout))
        return _flat(path, table), (), False
    return *wide_rows(path, table, names, reading.questions), False


def ratings_file(path: Path) -> Path:
    """A file of ratings; of the folder of a survey that was put to a model, its scores."""
    return run_folder(path) / SCORES if path.is_dir() else path


def _of_model(path: Path) -> Iterator[Row]:
    """The ratings of a model that was asked: its repeats are the participants."""
    run = run_of(path.parent)
    if not isinstance(run.shape, SurveyShape):
        raise UsageError(
            f"{path.parent} is not a survey. Ratings are a file, or the folder of a survey that "
            "was put to a model. Name one of those."
        )
    for score in run.read():
        slices, where = score.slices, f"{path}, {score.item}"
        if score.skipped is None:
            rating = score.derived.get("rating")
            yield where, slices["template"], slices["group"], slices["trait"], rating


def _nested(path: Path, text: str) -> Iterator[Row]:
    for participant, groups in _entries(path, parse_json(text, str(path))):
        for group, traits in _entries(path, groups):
            _not_a_mean(path, traits)
            for trait, value in _entries(path, traits):
                yield f"{path}, {participant}, {group}, {trait}", participant, group, trait, value


def _entries(path: Path, value: Any) -> Any:
    if not isinstance(value, dict):
        raise DataError(
            f"{path} does not hold ratings. They are participant, group, trait and number inside "
            f"each other, or a table with the columns {', '.join(COLUMNS)}. Check that it is the "
            "right file."
        )
    return value.items()


def _not_a_mean(path: Path, value: object) -> None:
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", str(value)):
        raise DataError(
            f"{path} holds one number per group and trait: means. Intervals and halves of the "
            "raters need what each person said. Give the raw ratings; the released ones are in "
            "data_full.json."
        )


def _flat(path: Path, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[Row]:
    for line, row in rows:
        where = f"{path}, line {line}"
        missing = [name for name in COLUMNS[:-1] if row[name] in (None, "")]
        if missing:
            raise DataError(
                f"{where}: {missing[0]} is empty. A rating has all of {', '.join(COLUMNS)}. "
                "Fix the row."
            )
        yield where, str(row["participant"]), str(row["group"]), str(row["trait"]), row["rating"]


# ------------------------------------------------------------------------------ the published means


def differing(
    path: Path, ratings: Ratings, names: Names, tolerance: float = 0.006
) -> tuple[int, list[str]]:
    """Whether the released ratings give the released means: how many cells the table has, and those
    that differ. The table is {"group": {"trait": mean}}."""
    count, wrong = 0, []
    means = ratings.means()
    for group, traits in _entries(path, read_json(path)):
        for trait, value in _entries(path, traits):
            name, turned = names.trait(trait, f"{path}, {group}")
            known = names.group(group, f"{path}, {group}"), name
            printed = finite(value, f"{path}, {group}, {trait}")
            printed = 100 - printed if turned else printed
            count += 1
            ours = means[known].value if known in means else None
            if ours is None or abs(printed - ours) > tolerance:
                beside = "not rated" if ours is None else f"{ours:.4g} from the ratings"
                wrong.append(f"{group}, {trait}: {printed:g} printed, {beside}")
    return count, wrong
