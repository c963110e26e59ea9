"""Every metric of a stored run on some of its items, and how far that moves it.

Both values come from the same scores, so the interval of the shift draws target terms (or items) once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.errors import DataError
from stereometer.files import read_json
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.coverage import Asked
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.stats.intervals import (
    Floats,
    Ints,
    generator,
    percentile,
    resampled_clusters,
    student,
)
from stereometer.types import Estimate, Result, Score, Settings, Slice, Variant

WITHIN = "within noise"
AUDIT, AUDIT_SCHEMA = "audit.json", "audit-of-run@1"
"""Beside a run: what an audit of its items says of its numbers."""


@dataclass(frozen=True)
class Shift:
    """A metric on all answered items and on those kept; the shift is kept minus all."""

    name: str
    slice: Slice
    ideal: float
    value: float | None
    n: int
    kept: float | None
    n_kept: int
    low: float | None = None
    high: float | None = None
    interval: str | None = None
    verdict: str | None = None
    why: str | None = None

    @property
    def difference(self) -> float | None:
        return None if self.kept is None or self.value is None else self.kept - self.value

    def as_json(self) -> dict[str, Any]:
        return dict(vars(self)) | {"difference": self.difference}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Shift:
        return cls(**{key: one for key, one in value.items() if key != "difference"})


def restricted(
    scores: Iterable[Score], keep: Collection[str], settings: Settings
) -> list[Estimate]:
    """Every estimate of the items kept."""
    kept = [score for score in scores if score.item in keep]
    if not kept:
        return []
    return (
        cat_metrics.summarize(kept, settings)
        if "task" in kept[0].slices
        else pair_metrics.summarize(kept, settings)
    )


def shifts(
    scores: Iterable[Score], keep: Collection[str], settings: Settings, overall: bool = False
) -> list[Shift]:
    """For every headline slice (or overall alone) each metric on all items, on those kept, and the shift."""
    scores = list(scores)
    found = [score for score in scores if score.skipped is None]
    if not found:
        return []
    by = _cat_shifts if "task" in found[0].slices else _pair_shifts
    return [_covered(one, scores, keep, settings) for one in by(found, keep, settings, overall)]


def _covered(
    one: Shift, scores: Sequence[Score], keep: Collection[str], settings: Settings
) -> Shift:
    """No value where a run of these items would have none, and no shift then."""
    whole, kept = Asked(), Asked()
    for score in scores:
        if all(score.slices.get(key) == value for key, value in one.slice.items()):
            for asked in (whole, kept) if score.item in keep else (whole,):
                asked.add(score)
    if why := whole.shortfall(settings):
        return Shift(one.name, one.slice, one.ideal, None, one.n, None, one.n_kept, why=why)
    if one.kept is not None and (why := kept.shortfall(settings)):
        return Shift(one.name, one.slice, one.ideal, one.value, one.n, None, one.n_kept, why=why)
    return one


# ---------------------------------------------------------------------------------------------- CATs

KINDS = len(cat_metrics.OUTCOMES)


def _cat_shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Outcomes by target term, those of kept items in the second half of a row."""
    tallies: dict[tuple[str, str, str], Ints] = {}
    for score in scores:
        place = score.slices["domain"], score.slices["target"], score.slices["task"]
        row = tallies.setdefault(place, np.zeros(2 * KINDS, dtype=np.int64))
        row[
            cat_metrics.outcome(score.values, settings.variant).index + KINDS * (score.item in keep)
        ] += 1
    slices = [{}] if overall else cat_metrics.headline_slices(tallies)
    for slice_ in slices:
        terms: dict[tuple[str, str], Ints] = {}
        for (domain, target, task), row in sorted(tallies.items()):
            named = {"domain": domain, "target": target, "task": task}
            if all(named[key] == value for key, value in slice_.items()):
                terms[domain, target] = terms.get((domain, target), 0) + row
        if terms:
            yield from _cat_slice(slice_, np.array(list(terms.values())), settings)


def _cat_slice(slice_: Slice, rows: Ints, settings: Settings) -> Iterator[Shift]:
    whole, kept = rows[:, :KINDS] + rows[:, KINDS:], rows[:, KINDS:]
    names = [
        name
        for name in cat_metrics.HEADLINE
        if name.startswith("ss") or not whole[:, cat_metrics.NO_LMS].any()
    ]
    values = _averaged(whole, np.ones(len(rows)))
    if not kept.any():
        yield from (_without(name, slice_, float(values[name]), int(whole.sum())) for name in names)
        return
    left = _averaged(kept, np.ones(len(rows)))
    few = len(rows) < cat_metrics.FEW_TERMS
    draws = (
        _items_drawn(rows, slice_, settings) if few else _terms_drawn(whole, kept, slice_, settings)
    )
    how = (
        "percentile bootstrap over items, terms held fixed"
        if few
        else "percentile bootstrap over target terms"
    )
    for name in names:
        plain = Shift(
            name,
            slice_,
            cat_metrics.IDEALS[name],
            float(values[name]),
            int(whole.sum()),
            float(left[name]),
            int(kept.sum()),
        )
        yield _spanned(plain, draws[name], how, settings.level)


def _averaged(outcomes: Ints, weights: Floats | Ints) -> dict[str, Floats]:
    """Averages over the terms that have items, the last but one axis."""
    n = outcomes.sum(axis=-1)
    there = n > 0
    lms, ss = cat_metrics.rates(np.where(there[..., None], outcomes, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return cat_metrics.averages(lms, ss, n, weights * there)


def _terms_drawn(whole: Ints, kept: Ints, slice_: Slice, settings: Settings) -> dict[str, Floats]:
    weights = resampled_clusters(
        len(whole), settings.resamples, generator(settings.seed, slice_, "shift")
    )
    both = _averaged(whole, weights), _averaged(kept, weights)
    return {name: both[1][name] - both[0][name] for name in cat_metrics.HEADLINE}


def _items_drawn(rows: Ints, slice_: Slice, settings: Settings) -> dict[str, Floats]:
    """Items drawn within each term; deviations widened as in decision 6, by the mean number of items of a term."""
    rng = generator(settings.seed, slice_, "shift")
    drawn = np.stack(
        [rng.multinomial(int(row.sum()), row / row.sum(), size=settings.resamples) for row in rows],
        axis=1,
    )
    parts = drawn[..., :KINDS] + drawn[..., KINDS:], drawn[..., KINDS:]
    point = rows[:, :KINDS] + rows[:, KINDS:], rows[:, KINDS:]
    n = rows.sum() / len(rows)
    wider, ones = (
        student(rows.sum(axis=1), settings.level) * sqrt(n / max(1.0, n - 1)),
        np.ones(len(rows)),
    )
    made, true = (
        [_averaged(part, ones) for part in parts],
        [_averaged(part, ones) for part in point],
    )
    found = {}
    for name in cat_metrics.HEADLINE:
        middle = true[1][name] - true[0][name]
        found[name] = middle + wider * (made[1][name] - made[0][name] - middle)
    return found


# --------------------------------------------------------------------------------------------- pairs


def _pair_shifts(
    scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
) -> Iterator[Shift]:
    """Counts of pairs lost, tied and won, those of kept pairs in the second half of a row."""
    tables: dict[tuple[tuple[str, str], ...], Ints] = {}
    for score in scores:
        at = int(2 * pair_metrics.decision(score.values, settings.variant)) + 3 * (
            score.item in keep
        )
        for slice_ in pair_metrics.slices_of(score):
            if not overall or not slice_:
                tables.setdefault(tuple(slice_.items()), np.zeros(6, dtype=np.int64))[at] += 1
    for key, table in sorted(
        tables.items(),
        key=lambda one: (len(one[0]), one[0][:1] != () and one[0][0][0] != "direction", one[0]),
    ):
        yield from _pair_slice(dict(key), table, settings)


def _pair_slice(slice_: Slice, table: Ints, settings: Settings) -> Iterator[Shift]:
    preference = _preference(settings.variant, "direction" in slice_)
    value, kept = float(preference(table[:3] + table[3:])), float(preference(table[3:]))
    if np.isnan(value):
        return
    if np.isnan(kept):
        yield _without("pair_preference", slice_, value, int(table.sum()))
        return
    rng = generator(settings.seed, slice_, "shift")
    drawn = rng.multinomial(int(table.sum()), table / table.sum(), size=settings.resamples)
    draws = preference(drawn[:, 3:]) - preference(drawn[:, :3] + drawn[:, 3:])
    plain = Shift(
        "pair_preference", slice_, 50.0, value, int(table.sum()), kept, int(table[3:].sum())
    )
    yield _spanned(plain, draws, "percentile bootstrap over pairs", settings.level)


def _preference(variant: Variant, direction: bool) -> Callable[[Ints], Floats]:
    """Preference in percent from counts lost, tied, won, as `pair_metrics.Sample.preference`."""
    points = np.array([0.0, 0.5 if variant == "sound" else 0.0, 1.0])
    counted = np.array([1, 0 if variant == "paper" and direction else 1, 1])

    def value(counts: Ints) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = 100 * (counts @ points) / (counts @ counted)
        return found

    return value


# ------------------------------------------------------------------------------------------- both


def _without(name: str, slice_: Slice, value: float, n: int) -> Shift:
    return Shift(
        name, slice_, cat_metrics.IDEALS.get(name, 50.0), value, n, None, 0, why="no item is left"
    )


def _spanned(one: Shift, draws: Floats, how: str, level: float) -> Shift:
    known = draws[~np.isnan(draws)]
    low, high = percentile(known, level) if known.size else (0.0, 0.0)
    verdict = WITHIN if low <= 0 <= high else "up" if low > 0 else "down"
    return Shift(
        one.name,
        one.slice,
        one.ideal,
        one.value,
        one.n,
        one.kept,
        one.n_kept,
        low,
        high,
        how,
        verdict,
    )


# --------------------------------------------------------------------------------- kept beside a run


@dataclass(frozen=True)
class Audited:
    """What `audit.json` beside a run holds."""

    items: int
    clean: int
    counting: Sequence[str]
    """The flags that make an item unclean."""
    errata: str | None
    flags: Mapping[str, Mapping[str, Any]]
    estimates: Sequence[Estimate]
    """Of the clean items."""
    shifts: Sequence[Shift]
    by_flag: Mapping[str, Sequence[Shift]]


def load_audit(folder: Path, result: Result) -> Audited | None:
    """The audit of a run, where there is one; raises where it is of other items or damaged."""
    file = folder / AUDIT
    if not file.exists():
        return None
    value = read_json(file)
    if (
        not isinstance(value, dict)
        or value.get("schema") != AUDIT_SCHEMA
        or value.get("digest") != result.data.get("digest")
    ):
        raise DataError(
            f"{file} is no audit of this run. It is of other items or another version. Run `stereometer audit` again."
        )
    try:
        return Audited(
            value["items"], value["clean"], value["counting"], value["errata"], value["flags"],
            [Estimate.from_json(one) for one in value["estimates"]],
            [Shift.from_json(one) for one in value["shifts"]],
            {name: [Shift.from_json(one) for one in found] for name, found in value["by_flag"].items()},
        )  # fmt: skip
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is damaged: {error}. It was edited or cut off. Run `stereometer audit` again."
        ) from None
