"""Raters by what they say of themselves: some of them, or one group beside the other, with tau and
means of each (Cao et al. 2022, Tables A14 to A18).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from stereometer.core.errors import DataError, UsageError, did_you_mean
from stereometer.core.shapes.points import Coverage
from stereometer.core.stats.intervals import generator
from stereometer.core.tables import read_table
from stereometer.core.types import Estimate, Settings
from stereometer.kinds.traits.align.agreement import RatedCells, split_half
from stereometer.kinds.traits.align.estimates import group_tau, human_means, people_alone, taus
from stereometer.kinds.traits.align.ratings import Ratings

BESIDE = "demographics.csv"
SMALLEST_CELL = 5
"""People below which nothing is shown."""
WITHHELD = "(fewer than five)"
"""What a study's export puts in place of a value that fewer share."""
PERSON = "participant"

Said = Mapping[str, Mapping[str, str]]
"""What each person says: question to answer."""


@dataclass(frozen=True)
class Raters:
    """Which raters are asked for."""

    only: tuple[tuple[str, str], ...] = ()
    """Question and answer, all of which must hold: `race=white`, `gender=man`."""
    by: tuple[str, ...] = ()
    """Questions whose answers are set beside each other."""
    table: Path | None = None
    """Where people say it; by default beside the ratings."""

    @property
    def asked_for(self) -> bool:
        return bool(self.only or self.by)

    @property
    def questions(self) -> set[str]:
        return {question for question, _ in self.only} | set(self.by)


def conditions(written: Iterable[str]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in written]
    for question, sign, answer in pairs:
        if not (question.strip() and sign and answer.strip()):
            raise UsageError(
                f"--raters {question}{sign}{answer} does not say which raters. It takes a question "
                "and an answer. Write, for example, gender=woman."
            )
    return tuple((question.strip(), answer.strip()) for question, _, answer in pairs)


def read_said(ratings_file: Path, raters: Raters, ratings: Ratings) -> Said:
    """What the raters say of themselves, joined by id."""
    path = raters.table or ratings_file.with_name(BESIDE)
    if not path.is_file():
        raise DataError(
            f"{path} does not exist. It would say who the raters are, by the ids of the ratings. "
            "Name it with --demographics, or leave out --raters and --by."
        )
    rows = [row for _, row in read_table(path, [PERSON])]
    _check_questions(path, rows, raters)
    people = {name for names in ratings.raters.values() for name in names}
    said = {row[PERSON]: row for row in rows if row[PERSON] in people}
    if not said:
        raise DataError(
            f"No id of {path} is an id of the ratings. Studies make them disjoint on purpose, "
            "unless the consent text allows joining. Only a study with `join_demographics = true` "
            "can be looked at by raters."
        )
    return said


def _check_questions(path: Path, rows: Sequence[Mapping[str, str]], raters: Raters) -> None:
    known = set(rows[0]) - {PERSON} if rows else set()
    for question in sorted(raters.questions - known):
        hint = did_you_mean(question, {name: name for name in known})
        raise UsageError(
            f"{path} has no column '{question}'. {hint} "
            f"It has {', '.join(sorted(known)) or 'none'}. Choose one of those."
        )
    for question, answer in raters.only:
        answers = {row[question] for row in rows} - {"", WITHHELD}
        if answer not in answers:
            raise UsageError(
                f"Nobody in {path} says {question}={answer}, or fewer than {SMALLEST_CELL} do. "
                f"The answers are {', '.join(sorted(answers)) or 'withheld'}. Choose one of those."
            )


def is_of(answers: Mapping[str, str], wanted: Sequence[tuple[str, str]]) -> bool:
    return all(answers[question] == answer for question, answer in wanted)


def some(ratings: Ratings, said: Said, wanted: Sequence[tuple[str, str]]) -> Ratings:
    """The ratings of those of whom all of it holds; what fewer than five rated is withheld."""
    people = {name for name, answers in said.items() if is_of(answers, wanted)}
    kept, withheld = {}, []
    for group, names in ratings.raters.items():
        rows = [at for at, name in enumerate(names) if name in people]
        rated = np.count_nonzero(~np.isnan(ratings.tables[group][rows]), axis=0)
        if (rated < SMALLEST_CELL).any():
            withheld.append(group)
        else:
            kept[group] = rows
    notes, label = ratings.notes, label_of(wanted)
    if withheld:
        notes += (f"Withheld, fewer than {SMALLEST_CELL} raters ({label}): {', '.join(withheld)}.",)
    return replace(ratings.rows(kept), notes=notes)


def label_of(wanted: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{question}={answer}" for question, answer in wanted)


def parts_of(ratings: Ratings, said: Said, raters: Raters) -> Iterator[tuple[str, Ratings]]:
    """The ratings of each group of raters that `by` asks for, under its name."""
    answers = [
        [(question, answer) for answer in sorted({row[question] for row in said.values()})]
        for question in raters.by
    ]
    for wanted in product(*answers) if raters.by else ():
        if not {"", WITHHELD} & set(dict(wanted).values()):
            yield label_of(wanted), some(replace(ratings, notes=()), said, wanted)


TOO_FEW = f"withheld: fewer than {SMALLEST_CELL} raters"


def by_raters(
    ratings: Ratings, path: Path, raters: Raters
) -> tuple[Ratings, Sequence[tuple[str, Ratings]], Said]:
    """The ratings that count, those of each group of raters, and what these say of themselves."""
    if not raters.asked_for:
        return ratings, (), {}
    if raters.table is None and ratings.are_released:
        raise DataError(
            "The released ABC ratings cannot be looked at by raters. Their ids and those of the "
            "demographics were made disjoint on purpose, to protect the participants. Use the "
            "ratings of a study whose consent text allows joining."
        )
    said = read_said(path, raters, ratings)
    if raters.only:
        ratings = some(ratings, said, raters.only)
        said = {name: row for name, row in said.items() if is_of(row, raters.only)}
    if not ratings.tables:
        raise DataError(
            f"Nothing was rated by {SMALLEST_CELL} of these raters. Fewer are not shown. "
            "Choose a larger group of raters."
        )
    return ratings, list(parts_of(ratings, said, raters)), said


def estimates_by_raters(
    compared: Mapping[str, RatedCells], ratings: Mapping[str, Ratings], settings: Settings
) -> Iterator[Estimate]:
    """As in the paper's Tables A14 to A18: tau, and means of each cell, by group of raters."""
    for label, cells in compared.items():
        of = {"raters": label}
        whole = cells.among(of=of)
        if not cells.groups:
            yield Coverage().estimate("tau", of, None, why=TOO_FEW)
            continue
        yield from taus(whole, settings)
        halves = split_half(cells, generator(settings.seed, of, "split-half"))
        yield from people_alone(whole, halves, settings)
        for group in cells.groups:
            yield group_tau(cells.among([group], of={**of, "group": group}), settings)
        means = ratings[label].of(cells.groups).means(settings.level)
        yield from human_means(means, cells, of)
