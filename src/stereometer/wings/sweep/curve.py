"""All readings of one question together: the joint test, and what the choices between them do,
other questions beside it, and two models under the readings of both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from stereometer.core import catalog
from stereometer.core.runs.stored import Run
from stereometer.core.shapes.shape import Contrast
from stereometer.core.shapes.verdicts import ALL_ALIKE, NULL_VALUE, PREFERENCE, SAME, within_family
from stereometer.core.stats.intervals import Floats, generator, wilson_percent
from stereometer.core.stats.joint import Joint, joint_test
from stereometer.core.stats.means import PerUnit, StudentMean, together
from stereometer.core.stats.tests import corrected, holm
from stereometer.core.types import Estimate, Result, Settings
from stereometer.wings.sweep.reading import (
    ALL_ITEMS,
    PERCENT,
    PartQuestion,
    SweptPart,
    WayReading,
    counted,
    parts_of,
)
from stereometer.wings.sweep.shape import (
    AGREEMENT,
    CHANGES,
    CHOICES,
    DIFFERENCE,
    JOINT,
    OVER,
    READING,
    SHARE,
    SHIFT,
    SPREAD,
    conclusion,
    named,
    said_together,
    within,
)
from stereometer.wings.sweep.way import Way, way_id
from stereometer.wings.sweep.wordings import Cells, over_wordings

LARGEST = "largest t over readings"
QUESTIONS = "Holm over questions"
OF_MEDIAN = "the median t of all readings, labels of whole units swapped"
OF_SHARE = "the share of significant readings, labels of whole units swapped"


def curve(asked: PartQuestion) -> list[Estimate]:
    """Of every reading, of all of them together, and of what each choice does."""
    readings = asked.readings
    rows = [counted(asked, reading) for reading in readings]
    known = [at for at, row in enumerate(rows) if row.value is not None]
    # Counts readings instead of items; it has no interval but their range.
    empty = Estimate(JOINT, asked.slice, None, None, None, len(known), len(rows), 0, None)
    if not known:
        return [*rows, replace(empty, why="no reading has a score")]
    joint = _joint(asked, [readings[at] for at in known])
    for place, at in enumerate(known):
        p = float(joint.p_adjusted[place])
        tested = replace(rows[at], p_adjusted=p, tests=joint.t.size, correction=LARGEST)
        tested = within_family(tested, asked.settings.level)
        says, beyond = PREFERENCE.of(tested, p, asked.settings.level, asked.settings.delta)
        rows[at] = replace(tested, verdict=says, beyond_noise=beyond)
    scored = [rows[at] for at in known]
    by_unit, weights = together([asked.clusters(readings[at], PERCENT) for at in known])
    values = [row.value for row in scored if row.value is not None]
    middle = replace(empty, value=float(np.median(values)), p=joint.p_median, test=OF_MEDIAN)
    middle = replace(middle, ideal=NULL_VALUE, least=min(values), most=max(values))
    share = replace(empty, name=SHARE, value=100 * joint.share, p=joint.p_share, test=OF_SHARE)
    if asked.is_worded:
        cells = Cells(asked, rows, dict(zip(known, by_unit, strict=True)), weights)
        return [*rows, over_wordings(middle, cells), share, *cells.rows]
    return [*rows, middle, share, *_moves(asked, scored, by_unit, weights)]


def _joint(asked: PartQuestion, readings: Sequence[WayReading]) -> Joint:
    settings, tables = asked.settings, [asked.clusters(reading) for reading in readings]
    sums, sizes = (np.stack(columns, axis=1) for columns in zip(*tables, strict=True))
    there = (sizes > 0).any(axis=1)
    rng = generator(settings.seed, asked.slice, "joint")
    return joint_test(sums[there], sizes[there], settings.resamples, rng, settings.level)


# ---------------------------------------------------------------------------------------- choices


def _moves(
    asked: PartQuestion, scored: Sequence[Estimate], by_unit: Sequence[Floats], weights: Floats
) -> Iterator[Estimate]:
    """For each choice between two values the readings that differ in nothing else: how far the
    second is from the first, and how often they say something else."""
    matched: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for first, second in combinations(range(len(scored)), 2):
        slices = scored[first].slice, scored[second].slice
        differing = [name for name in CHOICES if slices[0].get(name) != slices[1].get(name)]
        if len(differing) == 1:
            (name,) = differing
            key = name, slices[0].get(name, ""), slices[1].get(name, "")
            matched.setdefault(key, []).append((first, second))
    for (name, before, after), pairs in matched.items():
        place = {**asked.slice, "choice": name, "from": before, "to": after}
        empty = Estimate(SHIFT, place, None, None, None, len(pairs), len(pairs), 0, None)
        moved = [by_unit[second] - by_unit[first] for first, second in pairs]
        yield _shift(empty, moved, weights, asked.settings.level)
        changed = sum(conclusion(scored[a]) != conclusion(scored[b]) for a, b in pairs)
        yield replace(empty, name=CHANGES, value=100 * changed / len(pairs))


def _shift(empty: Estimate, moved: Sequence[Floats], weights: Floats, level: float) -> Estimate:
    """The mean of the pairs, with its interval over units and the range of the pairs."""
    mean, ends = StudentMean.of(np.mean(moved, axis=0), weights), [weights @ each for each in moved]
    low, high = mean.interval(level) if mean.has_spread else (None, None)
    how = "paired t over units" if mean.has_spread else ALL_ALIKE
    known = replace(empty, value=mean.value, low=low, high=high, interval=how)
    beyond = mean.p() < 1 - level
    return replace(known, least=float(min(ends)), most=float(max(ends)), beyond_noise=beyond)


# ------------------------------------------------------------------------------------- every curve


def concluded(rows: Sequence[Estimate], settings: Settings) -> list[Estimate]:
    """With what each question's readings say together, corrected over the questions."""
    adjusted = corrected(
        rows,
        lambda row, p: (None, p < 1 - settings.level),
        lambda row: JOINT if row.name == JOINT else None,
    )
    beside = [row for row in adjusted if row.name in (READING, CHANGES, SHIFT, OVER, SPREAD)]

    def told(row: Estimate) -> Estimate:
        if row.name != JOINT or row.value is None:
            return row
        of_question = [each for each in beside if row.slice.items() <= each.slice.items()]
        return replace(row, verdict=said_together(row, of_question), correction=QUESTIONS)

    return list(map(told, adjusted))


def across(asked: Sequence[PartQuestion]) -> Iterator[Estimate]:
    """Every two questions of a part by their first ways that have a score."""
    first: list[tuple[PartQuestion, Way]] = []
    for each in asked:
        readings = (WayReading(way, each.part.averagings[0], ALL_ITEMS) for way in each.ways)
        scored = (one.way for one in readings if counted(each, one).value is not None)
        first += [(each, way) for way in islice(scored, 1)]
    for (one, left), (other, right) in combinations(first, 2):
        if one.part is other.part:
            yield from _contrast(one, left, other, right)


def _contrast(one: PartQuestion, left: Way, other: PartQuestion, right: Way) -> Iterator[Estimate]:
    part, level = one.part, one.settings.level
    first, second = part.sides[left.id], part.sides[right.id]
    both = ~np.isnan(first) & ~np.isnan(second)
    place = {**one.slice, "other": other.question.id}
    n, asked = int(both.sum()), len(first)
    empty = Estimate(DIFFERENCE, place, None, None, None, n, asked, 0, 0.0)
    if n < 2:
        why = "hardly any item was answered both ways"
        yield from (replace(empty, name=name, why=why) for name in (DIFFERENCE, AGREEMENT))
        return
    moved = np.full(len(first), np.nan)
    moved[both] = 50 * (second[both] - first[both])
    mean, over = part.averaged(moved), "target terms" if part.has_terms else "items"
    known = replace(empty, value=mean.value, interval=ALL_ALIKE)
    if mean.has_spread:
        low, high = mean.interval(level)
        known = replace(known, low=low, high=high, interval=f"paired t over {over}")
    yield known
    same = int((first[both] == second[both]).sum())
    low, high = wilson_percent(100 * same / n, n, level)
    share = replace(empty, name=AGREEMENT, ideal=None, value=100 * same / n, interval="Wilson")
    yield replace(share, low=low, high=high)


def beside(
    results: Mapping[str, Result], asked: Sequence[PartQuestion], metrics: Sequence[str]
) -> Iterator[Estimate]:
    """What else the runs say of a part: lms and icat of CATs, as their own results have them."""
    for each in (one for one in asked if not one.is_worded):
        for way in each.ways:
            for row in results[way.id].estimates:
                here = row.slice == {"task": each.part.name}
                if here and row.name in metrics:
                    place = {**each.slice, "measure": way.measure, **way.choices}
                    yield replace(row, slice=place, published=None)


@dataclass(frozen=True)
class ModelOrder:
    """Two models under the readings of one question."""

    first: str
    second: str
    task: str
    question: str
    readings: int
    """That both have."""
    first_nearer: int
    """Readings in which the first is nearer to 50."""
    second_nearer: int
    first_surely: int
    """Those beyond noise, after Holm over the readings."""
    second_surely: int
    first_higher: int
    """Readings in which the first prefers stereotypes more."""
    second_higher: int

    @property
    def changes(self) -> int:
        """Readings that contradict the more frequent order."""
        return min(self.first_nearer, self.second_nearer)

    @property
    def where(self) -> str:
        return self.question if self.task == "pair" else f"{self.task}, {self.question}"


def orders(sweeps: Sequence[Run], settings: Settings) -> Iterator[ModelOrder]:
    """Every two models that were swept on the same items."""
    for one, other in combinations(sweeps, 2):
        first, second = one.result, other.result
        if first.settings["shape"] == second.settings["shape"]:
            shape = catalog.shape(str(first.settings["shape"]))
            if isinstance(shape, Contrast):
                yield from _ordered(shape, one, other, settings.level)


def _ordered(shape: Contrast, one: Run, other: Run, level: float) -> Iterator[ModelOrder]:
    parts = [{part.name: part for part in parts_of(shape, run.scores)} for run in (one, other)]
    theirs = {_key(row): row for row in named(other.result, READING) if row.value is not None}
    for joint in named(one.result, JOINT):
        mine = (row for row in within(one.result, joint, READING) if row.value is not None)
        both = [(row, theirs[_key(row)]) for row in mine if _key(row) in theirs]
        if both:
            names = one.result.model, other.result.model
            task, question = joint.slice["task"], joint.slice["question"]
            ps = holm([_p(parts[0][task], parts[1][task], row) for row, _ in both])
            yield ModelOrder(*names, task, question, len(both), *_counts(both, ps, level))


def _key(row: Estimate) -> frozenset[tuple[str, str]]:
    return frozenset(row.slice.items())


def _p(first: SweptPart, second: SweptPart, row: Estimate) -> float:
    """That one is nearer to 50: the larger p of the difference and of the sum, unit by unit."""
    way = way_id(row.slice)
    how = row.slice["averaging"], row.slice["items"]
    columns = [part.clusters(way, *how) for part in (first, second)]
    both = (columns[0].sizes > 0) & (columns[1].sizes > 0)
    values, weights = together([PerUnit(sums[both], sizes[both]) for sums, sizes in columns])
    means = [StudentMean.of(combine(*values), weights) for combine in (np.subtract, np.add)]
    return max(mean.p() if mean.error > SAME else 1.0 for mean in means)


def _counts(
    both: Sequence[tuple[Estimate, Estimate]], ps: Sequence[float], level: float
) -> tuple[int, ...]:
    """Nearer, surely nearer and higher, of the first and of the second."""
    first, second = np.array([[row.value for row in pair] for pair in both], dtype=float).T
    away = abs(first - NULL_VALUE), abs(second - NULL_VALUE)
    nearer, sure = (away[0] < away[1], away[1] < away[0]), np.array(ps) < 1 - level
    told = (*nearer, *(each & sure for each in nearer), first > second, second > first)
    return tuple(int(each.sum()) for each in told)
