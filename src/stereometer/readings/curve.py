"""All readings of one question together: the joint test, and what the choices between them do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from stereometer.readings.reading import Asked, Reading, counted
from stereometer.readings.sides import PERCENT
from stereometer.shapes.sweep import (
    CHANGES,
    CHOICES,
    JOINT,
    READING,
    SHARE,
    SHIFT,
    conclusion,
    said_together,
)
from stereometer.shapes.verdicts import ALL_ALIKE, NULL_VALUE, PREFERENCE, within_family
from stereometer.stats.families import corrected
from stereometer.stats.intervals import Floats, generator
from stereometer.stats.joint import Joint, joint_test
from stereometer.stats.means import StudentMean, together
from stereometer.types import Estimate, Settings

LARGEST = "largest t over readings"
QUESTIONS = "Holm over questions"
TESTS = {
    JOINT: "the median t of all readings, labels of whole units swapped",
    SHARE: "the share of significant readings, labels of whole units swapped",
}


def curve(asked: Asked) -> list[Estimate]:
    """Of every reading, of all of them together, and of what each choice does."""
    readings = asked.readings
    rows = [counted(asked, reading) for reading in readings]
    known = [at for at, row in enumerate(rows) if row.value is not None]
    if not known:
        return [*rows, _together(asked, JOINT, rows, [], why="no reading has a score")]
    joint = _joint(asked, [readings[at] for at in known])
    for place, at in enumerate(known):
        p = float(joint.p_adjusted[place])
        tested = replace(rows[at], p_adjusted=p, tests=joint.t.size, correction=LARGEST)
        tested = within_family(tested, asked.settings.level)
        says, beyond = PREFERENCE.of(tested, p, asked.settings.level, asked.settings.delta)
        rows[at] = replace(tested, verdict=says, beyond_noise=beyond)
    scored = [rows[at] for at in known]
    columns = [asked.clusters(readings[at], PERCENT) for at in known]
    median = float(np.median([row.value for row in scored if row.value is not None]))
    return [
        *rows,
        _together(asked, JOINT, rows, scored, value=median, p=joint.p_median, ideal=NULL_VALUE),
        _together(asked, SHARE, rows, scored, value=100 * joint.share, p=joint.p_share),
        *_moves(asked, scored, *together(columns)),
    ]


def _joint(asked: Asked, readings: Sequence[Reading]) -> Joint:
    settings, tables = asked.settings, [asked.clusters(reading) for reading in readings]
    sums, sizes = (np.stack(columns, axis=1) for columns in zip(*tables, strict=True))
    there = (sizes > 0).any(axis=1)
    rng = generator(settings.seed, asked.slice, "joint")
    return joint_test(sums[there], sizes[there], settings.resamples, rng, settings.level)


def _together(
    asked: Asked,
    name: str,
    rows: Sequence[Estimate],
    scored: Sequence[Estimate],
    value: float | None = None,
    p: float | None = None,
    ideal: float | None = None,
    why: str | None = None,
) -> Estimate:
    """An estimate that counts readings instead of items; it has no interval but their range."""
    values = [row.value for row in scored if row.value is not None]
    ends = (min(values), max(values)) if values and name == JOINT else (None, None)
    empty = Estimate(name, asked.slice, value, None, None, len(scored), len(rows), 0, ideal)
    test = None if p is None else TESTS[name]
    return replace(empty, p=p, test=test, why=why, least=ends[0], most=ends[1])


# ---------------------------------------------------------------------------------------- choices


def _moves(
    asked: Asked, scored: Sequence[Estimate], by_unit: Sequence[Floats], weights: Floats
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
    mean = StudentMean.of(np.mean(moved, axis=0), weights)
    low, high = mean.interval(level) if mean.has_spread else (None, None)
    ends = [float(weights @ each) for each in moved]
    return replace(
        empty,
        value=mean.value,
        low=low,
        high=high,
        least=min(ends),
        most=max(ends),
        interval="paired t over units" if mean.has_spread else ALL_ALIKE,
        beyond_noise=mean.p() < 1 - level,
    )


# ------------------------------------------------------------------------------------- every curve


def concluded(rows: Sequence[Estimate], settings: Settings) -> list[Estimate]:
    """With what each question's readings say together, corrected over the questions."""
    adjusted = corrected(
        rows,
        lambda row, p: (None, p < 1 - settings.level),
        lambda row: JOINT if row.name == JOINT else None,
    )
    return [
        replace(row, verdict=said_together(row, _beside(row, adjusted)), correction=QUESTIONS)
        if row.name == JOINT and row.value is not None
        else row
        for row in adjusted
    ]


def _beside(row: Estimate, rows: Sequence[Estimate]) -> list[Estimate]:
    """The readings and changes of the same question."""
    names = (READING, CHANGES, SHIFT)
    return [each for each in rows if each.name in names and row.slice.items() <= each.slice.items()]
