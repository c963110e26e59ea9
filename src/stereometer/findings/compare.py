"""Two or more systems on the same items: paired differences, what flipped, and what could have been seen.

A difference is always second minus first. Everything is computed on the items that both systems answered, with the
same resamples for both, so that what the items have in common cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.api import settings_for
from stereometer.errors import UsageError
from stereometer.runs import store as runs
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.stats.intervals import (
    Floats,
    Ints,
    generator,
    percentile,
    resampled_clusters,
    resampled_means,
    resampled_tallies,
)
from stereometer.stats.tests import bootstrap_p, detectable, holm, mcnemar, sign_flip, t_test
from stereometer.types import Result, Score, Settings, Slice, Variant

POWER = 0.80
NO_DIFFERENCE = "not beyond noise"


@dataclass(frozen=True)
class Difference:
    """Second minus first in one metric and slice."""

    name: str
    slice: Slice
    first: float
    second: float
    n: int
    """Items both answered."""
    asked: int
    terms: int | None
    ideal: float
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    test: str = ""
    detectable: float = 0.0
    """The smallest true difference that one test on this set, before correction, finds with 80 % power."""
    p_adjusted: float = 1.0
    tests: int = 1
    verdict: str = NO_DIFFERENCE

    @property
    def difference(self) -> float:
        return self.second - self.first

    @property
    def closer(self) -> str:
        """Which of the two is nearer to the ideal."""
        first, second = abs(self.first - self.ideal), abs(self.second - self.ideal)
        return "neither" if first == second else "first" if first < second else "second"


@dataclass(frozen=True)
class Flip:
    """An item on which the two systems prefer different candidates."""

    item: str
    slices: Slice
    first: str
    second: str
    toward_stereotype: bool
    """Whether the second system is nearer to the stereotype than the first."""


@dataclass(frozen=True)
class Withheld:
    """A slice that too few items were answered in by both to be compared."""

    slice: Slice
    n: int
    asked: int
    why: str


@dataclass(frozen=True)
class Compared:
    """Two systems."""

    first: str
    second: str
    items: int
    """Items both answered."""
    asked: int
    differences: tuple[Difference, ...]
    withheld: tuple[Withheld, ...]
    flips: tuple[Flip, ...]
    toward_stereotype: int
    """Items on which the second system gained a preference for the stereotype over the first."""
    toward_anti: int


@dataclass(frozen=True)
class Comparison:
    """Everything `stereometer compare` shows."""

    benchmark: str
    measure: str
    variant: Variant
    systems: tuple[str, ...]
    pairs: tuple[Compared, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    schema: str = field(default="compare@1")

    def as_json(self) -> dict[str, Any]:
        found = {"schema": self.schema} | asdict(self)
        for pair, stored in zip(self.pairs, found["pairs"], strict=True):
            for one, row in zip(pair.differences, stored["differences"], strict=True):
                row |= {"difference": one.difference, "closer_to_ideal": one.closer}
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one a difference: `pandas.DataFrame(comparison.rows())`."""
        return [
            {
                "from": pair.first,
                "to": pair.second,
                **one.slice,
                **{key: value for key, value in vars(one).items() if key != "slice"},
                "difference": one.difference,
            }
            for pair in self.pairs
            for one in pair.differences
        ]


# ----------------------------------------------------------------------------------------- comparing


def compare(
    *paths: str | Path, all_pairs: bool = False, seed: int = 0, resamples: int = 10_000
) -> Comparison:
    """Compare stored runs on the same items; the first is the baseline unless all pairs are asked for."""
    if len(paths) < 2:
        raise UsageError(
            "compare needs at least two runs. The first is the baseline. Name their folders."
        )
    folders = runs.folders_of(paths)
    results = runs.load_alike(folders)
    labels = runs.labels(results)
    floor = min(float(result.settings["coverage"]) for result in results)
    settings = settings_for(results[0].variant, seed, resamples, floor)
    pairs = compared(labels, [runs.load_scores(folder) for folder in folders], settings, all_pairs)
    return Comparison(
        results[0].benchmark, results[0].measure, results[0].variant, tuple(labels), pairs,
        {"seed": seed, "resamples": resamples, "level": settings.level, "power": POWER}, tuple(filter(None, [results[0].data.get("notice"), *kinds(results)])),
    )  # fmt: skip


LIKELIHOOD_FAMILIES = ("masked", "causal", "permuted")


def kinds(results: Sequence[Result]) -> list[str]:
    """A note where one measure was computed in more than one way."""
    found = sorted(
        {str(result.model_card.get("family")) for result in results} & set(LIKELIHOOD_FAMILIES)
    )
    if len(found) < 2:
        return []
    return [
        f"These are models of different kinds ({', '.join(found)}). The measure is computed from what each can answer (docs/methods.md): part of a difference may be the way of scoring."
    ]


def compared(
    labels: Sequence[str], scores: Sequence[Iterable[Score]], settings: Settings, all_pairs: bool
) -> tuple[Compared, ...]:
    """Every pair of systems, or each with the first, their p adjusted over all that is shown."""
    by_item = [{score.item: score for score in some} for some in scores]
    chosen = (
        combinations(range(len(labels)), 2)
        if all_pairs
        else ((0, index) for index in range(1, len(labels)))
    )
    pairs = [_compared(labels[a], labels[b], by_item[a], by_item[b], settings) for a, b in chosen]
    return tuple(_adjusted(pairs, settings.level))


Scores = Mapping[str, Score]


def _compared(first: str, second: str, left: Scores, right: Scores, settings: Settings) -> Compared:
    if left.keys() != right.keys():
        raise UsageError(
            f"{first} and {second} were not scored on the same items. One of the runs is damaged. Run it again."
        )
    both = [
        (left[item], right[item])
        for item in left
        if left[item].skipped is None and right[item].skipped is None
    ]
    if not both:
        raise UsageError(
            f"{first} and {second} have no item that both answered. There is nothing to compare. See why in their results."
        )
    is_cat = "task" in both[0][0].slices
    if not is_cat and "sent_more" not in both[0][0].values:
        raise UsageError(
            f"{first} and {second} have no preferences to compare. Comparison knows stereotypes and their opposites. `stereometer align` and `report` read runs on groups and traits."
        )
    every = [score.slices for score in left.values()]
    found = list(
        _cat_differences(both, every, settings)
        if is_cat
        else _pair_differences(both, every, settings)
    )
    differences = [one for one in found if isinstance(one, Difference)]
    withheld = [one for one in found if isinstance(one, Withheld)]
    flips = [flip for a, b in both if (flip := _flip(a, b, is_cat, settings.variant))]
    toward = sum(flip.toward_stereotype for flip in flips)
    return Compared(
        first,
        second,
        len(both),
        len(left),
        tuple(differences),
        tuple(withheld),
        tuple(flips),
        toward,
        len(flips) - toward,
    )


def _withheld(slice_: Slice, n: int, every: Sequence[Slice], settings: Settings) -> Withheld | int:
    """How many items of a slice were asked, or why it is not compared."""
    asked = sum(all(one.get(key) == value for key, value in slice_.items()) for one in every)
    if n / asked >= settings.coverage:
        return asked
    return Withheld(
        slice_,
        n,
        asked,
        f"only {n} of {asked} items were answered by both, below the coverage floor of {settings.coverage:.0%}",
    )


def _points(score: Score, is_cat: bool, variant: Variant) -> float:
    return (
        cat_metrics.outcome(score.values, variant).ss / 2
        if is_cat
        else pair_metrics.decision(score.values, variant)
    )


def _flip(first: Score, second: Score, is_cat: bool, variant: Variant) -> Flip | None:
    words = (
        {1.0: "stereotype", 0.5: "tie", 0.0: "anti-stereotype"}
        if is_cat
        else {1.0: "sent_more", 0.5: "tie", 0.0: "sent_less"}
    )
    a, b = _points(first, is_cat, variant), _points(second, is_cat, variant)
    return Flip(first.item, first.slices, words[a], words[b], b > a) if a != b else None


# ---------------------------------------------------------------------------------------------- CATs

Pair = tuple[Score, Score]
OUTCOMES = len(cat_metrics.OUTCOMES)


def _cat_differences(
    both: Sequence[Pair], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    """Joint outcomes of both systems, tallied by term and task, then sliced."""
    tallies: dict[tuple[str, str, str], Ints] = {}
    for left, right in both:
        place = left.slices["domain"], left.slices["target"], left.slices["task"]
        table = tallies.setdefault(place, np.zeros((OUTCOMES, OUTCOMES), dtype=np.int64))
        table[
            cat_metrics.outcome(left.values, settings.variant).index,
            cat_metrics.outcome(right.values, settings.variant).index,
        ] += 1
    for slice_ in cat_metrics.headline_slices(tallies):
        terms: dict[tuple[str, str], Ints] = {}
        for (domain, target, task), table in sorted(tallies.items()):
            named = {"domain": domain, "target": target, "task": task}
            if all(named[key] == value for key, value in slice_.items()):
                terms[domain, target] = terms.get((domain, target), 0) + table
        if not terms:
            continue  # a domain that this task has no items of
        tables = np.array(list(terms.values()))
        asked = _withheld(slice_, int(tables.sum()), every, settings)
        if isinstance(asked, Withheld):
            yield asked
        else:
            yield from _cat_slice(slice_, tables, asked, settings)


def _cat_slice(slice_: Slice, tables: Ints, asked: int, settings: Settings) -> Iterator[Difference]:
    """`tables` is terms x outcomes of the first x outcomes of the second."""
    if (
        tables.sum(axis=(0, 2))[cat_metrics.NO_LMS].any()
        or tables.sum(axis=(0, 1))[cat_metrics.NO_LMS].any()
    ):
        names: tuple[str, ...] = ("ss",)
    else:
        names = cat_metrics.HEADLINE
    n, few = tables.sum(axis=(1, 2)), len(tables) < cat_metrics.FEW_TERMS
    ones = np.ones(len(tables))
    first, second = (
        cat_metrics.averages(*cat_metrics.rates(tables.sum(axis=axis)), n, ones) for axis in (2, 1)
    )
    draws = _cat_draws(slice_, tables, n, few, settings)
    for name in names:
        p, test = _cat_p(name, tables, few, draws[name])
        place = Difference(
            name,
            slice_,
            float(first[name]),
            float(second[name]),
            n=int(n.sum()),
            asked=asked,
            terms=len(tables),
            ideal=cat_metrics.IDEALS[name],
        )
        yield _measured(place, draws[name], p, test, settings)


def _cat_draws(
    slice_: Slice, tables: Ints, n: Ints, few: bool, settings: Settings
) -> dict[str, Floats]:
    turned = np.ascontiguousarray(tables.transpose(0, 2, 1))
    if turned.tobytes() < tables.tobytes():
        # Either order of the two systems draws the same resamples: the differences only change sign.
        return {
            name: -draws for name, draws in _cat_draws(slice_, turned, n, few, settings).items()
        }
    rng = generator(settings.seed, slice_, "compare")
    if few:
        sides = [np.divmod(np.arange(OUTCOMES**2), OUTCOMES)[side] for side in (0, 1)]
        values = [of[side] for side in sides for of in (cat_metrics.LMS_OF, cat_metrics.SS_OF)]
        drawn = resampled_means(
            tables.reshape(len(tables), -1), values, settings.resamples, rng, settings.level
        )
        parts = [
            cat_metrics.averages(100 * drawn[at], 100 * drawn[at + 1], n, np.ones(len(tables)))
            for at in (0, 2)
        ]
    else:
        weights = resampled_clusters(len(tables), settings.resamples, rng)
        parts = [
            cat_metrics.averages(*cat_metrics.rates(tables.sum(axis=axis)), n, weights)
            for axis in (2, 1)
        ]
    return {name: parts[1][name] - parts[0][name] for name in cat_metrics.HEADLINE}


def _cat_p(name: str, tables: Ints, few: bool, draws: Floats) -> tuple[float, str]:
    if name == "icat":
        return bootstrap_p(draws), "bootstrap"
    of = cat_metrics.SS_OF if name == "ss" else cat_metrics.LMS_OF
    change = of[None, :] - of[:, None]
    groups = [np.repeat(change.ravel(), table.ravel()) for table in tables]
    if few:
        return sign_flip(groups), "sign flips of items, terms held fixed"
    return t_test(np.array([group.mean() for group in groups])), "paired t over terms"


# --------------------------------------------------------------------------------------------- pairs


def _pair_differences(
    both: Sequence[Pair], every: Sequence[Slice], settings: Settings
) -> Iterator[Difference | Withheld]:
    tables: dict[tuple[tuple[str, str], ...], Ints] = {}
    for left, right in both:
        a, b = (
            int(2 * pair_metrics.decision(one.values, settings.variant)) for one in (left, right)
        )
        for slice_ in pair_metrics.slices_of(left):
            tables.setdefault(tuple(slice_.items()), np.zeros((3, 3), dtype=np.int64))[a, b] += 1
    for key, table in sorted(
        tables.items(),
        key=lambda one: (len(one[0]), one[0][:1] != () and one[0][0][0] != "direction", one[0]),
    ):
        slice_ = dict(key)
        asked = _withheld(slice_, int(table.sum()), every, settings)
        if isinstance(asked, Withheld):
            yield asked
            continue
        rng = generator(settings.seed, slice_, "compare")
        turned = table.T.tobytes() < table.tobytes()
        kinds, drawn = resampled_tallies(
            (table.T if turned else table).ravel(), settings.resamples, rng
        )
        value = _preference(settings.variant, "direction" in slice_)
        if (
            settings.variant == "paper"
            and "direction" in slice_
            and not all(table.sum(axis=axis)[[0, 2]].any() for axis in (0, 1))
        ):
            continue  # every pair is neutral for one of them: `paper` then has no preference to compare
        draws = (value(drawn, kinds % 3) - value(drawn, kinds // 3)) * (-1 if turned else 1)
        gained, lost = int(np.triu(table, 1).sum()), int(np.tril(table, -1).sum())
        first, second = float(value(table.sum(axis=1), ALL)), float(value(table.sum(axis=0), ALL))
        place = Difference(
            "pair_preference",
            slice_,
            first,
            second,
            n=int(table.sum()),
            asked=asked,
            terms=None,
            ideal=50.0,
        )
        yield _measured(place, draws, mcnemar(gained, lost), "McNemar", settings)


ALL = np.arange(3)


def _preference(variant: Variant, direction: bool) -> Callable[[Ints, Ints], Floats]:
    """Preference in percent from counts whose kinds are lost, tied, won (0, 1, 2), as `pair_metrics.Sample.preference`."""
    tie_points = 0.5 if variant == "sound" else 0.0
    tie_counts = 0.0 if variant == "paper" and direction else 1.0
    points, out_of = np.array([0.0, tie_points, 1.0]), np.array([1.0, tie_counts, 1.0])
    return lambda counts, kinds: (
        100 * (counts @ points[kinds]) / np.maximum(counts @ out_of[kinds], 1e-300)
    )


# --------------------------------------------------------------------------------------------- shared


def _measured(
    place: Difference, draws: Floats, p: float, test: str, settings: Settings
) -> Difference:
    """The difference with its interval, its test and what this set could have seen."""
    low, high = percentile(draws, settings.level)
    seen = detectable(float(draws.std()), settings.level, POWER)
    return replace(place, low=low, high=high, p=p, test=test, detectable=seen)


def _adjusted(pairs: Sequence[Compared], level: float) -> Iterator[Compared]:
    """Holm over every difference of one metric whose slices fix the same things, across all pairs shown."""
    families: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for i, pair in enumerate(pairs):
        for j, one in enumerate(pair.differences):
            families.setdefault((one.name, *sorted(one.slice)), []).append((i, j))
    found = [list(pair.differences) for pair in pairs]
    for family in families.values():
        for (i, j), p in zip(family, holm([found[i][j].p for i, j in family]), strict=True):
            one = found[i][j]
            verdict = (
                NO_DIFFERENCE
                if p >= 1 - level or one.difference == 0
                else "higher"
                if one.difference > 0
                else "lower"
            )
            found[i][j] = replace(one, p_adjusted=p, tests=len(family), verdict=verdict)
    yield from (
        replace(pair, differences=tuple(differences))
        for pair, differences in zip(pairs, found, strict=True)
    )
